/* SPDX-License-Identifier: MIT
 *
 * What happens before what in a block. Every thread counts its own releases and fences; what it
 * knows of another thread is the count up to which that thread's accesses are ordered before its
 * own. The copy engine's loads count as one more party for each barrier that they complete on.
 *
 * Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", 1978; Fidge and
 * Mattern for one count for each.
 */
#ifndef EMU_CLOCK_H
#define EMU_CLOCK_H

#include <stdint.h>

#include "machine.h"

enum { EMU_PARTIES_MAX = EMU_THREADS_MAX + EMU_BARRIERS_MAX };

/* What somebody knows, by party. */
struct emu_known {
  uint32_t count[EMU_PARTIES_MAX];
};

/* Begins a block. */
void emu_clock_begin(unsigned threads);

/* The party of the loads that complete on a barrier. */
unsigned emu_clock_engine(unsigned barrier);

uint32_t emu_clock_now(unsigned thread);
/* Whether what `party` did at `count` is ordered before what `thread` does now. */
int emu_clock_ordered(unsigned thread, unsigned party, uint32_t count);

/* All threads of the block meet. */
void emu_clock_meet(void);
/* Adds what the thread knows beyond what all knew at the last meeting to `known`, and lets its next
 * accesses be later ones. */
void emu_clock_release(unsigned thread, struct emu_known *known);
void emu_clock_acquire(unsigned thread, const struct emu_known *known);

/* A proxy fence: what the thread did before it may be ordered before the copy engine. */
void emu_clock_fence(unsigned thread);
/* Whether `writer` fenced after what it did at `count`, and the fence is ordered before what
 * `thread` does now. Sets *fenced to whether there was any such fence at all. */
int emu_clock_fenced(unsigned thread, unsigned writer, uint32_t count, int *fenced);

#endif
