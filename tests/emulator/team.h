/* SPDX-License-Identifier: MIT
 *
 * The threads of one block: fibers, or threads of the system under the thread sanitizer.
 */
#ifndef EMU_TEAM_H
#define EMU_TEAM_H

#include "sanitizers.h"

/* Runs body(0) to body(count - 1). 0 if emu_team_abort ended them. The threads are in an order that
 * the machine's random numbers give. */
int emu_team_run(unsigned count, void (*body)(unsigned thread));

#if EMU_THREADS
unsigned emu_team_self(void);
#else
extern unsigned emu_team_current;
static inline unsigned emu_team_self(void) { return emu_team_current; }
#endif
/* For somebody else: a thread that neither waits nor has ended. */
unsigned emu_team_running(void);

/* Lets another thread go on, perhaps. Fibers change places nowhere but here and in
 * emu_team_wait. */
void emu_team_pause(void);

/* The state of the machine belongs to one thread at a time, between these two. */
void emu_team_lock(void);
void emu_team_unlock(void);

/* With the lock: waits until ready(context) is true, which it finds out when another thread wakes
 * all. If no thread can go on, the launch ends as stuck. */
void emu_team_wait(int (*ready)(void *context), void *context);
void emu_team_wake(void);
void emu_team_wake_some(unsigned first, unsigned count); /* at least these */

/* With the lock: ends all threads of the block. */
_Noreturn void emu_team_abort(void);

#endif
