/* SPDX-License-Identifier: MIT
 *
 * Barriers in shared memory, with the loads of the copy engine that complete on them.
 */
#ifndef EMU_BARRIER_H
#define EMU_BARRIER_H

#include "map.h"

void emu_barrier_begin(void);

/* Puts a load on its way whose bytes count on the barrier at `offset`. */
void emu_barrier_load(unsigned thread, unsigned offset, const struct emu_box *box);

/* What each barrier waits for. */
void emu_barrier_describe(char *text, size_t size);

/* After a block: records a load that nobody waited for. */
int emu_barrier_complete(void);

#endif
