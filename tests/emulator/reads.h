/* SPDX-License-Identifier: MIT
 *
 * The reads of shared memory since the block last met, as lists that cells begin. A list grows by
 * one entry a read; the next write goes through it once. Cells may share an end of theirs.
 */
#ifndef EMU_READS_H
#define EMU_READS_H

#include <stdint.h>

#include "cells.h"

struct emu_read {
  uint32_t count; /* of the thread */
  uint32_t next;  /* an older one, an index; 0: none */
  uint16_t thread;
  uint16_t place;
};

/* Begins a block; forgets all lists, as does a meeting. */
void emu_reads_begin(void);

void emu_reads_add(struct emu_cell *cell, unsigned thread, uint16_t place);

/* A read of the cell that nothing orders before what `thread` does now; NULL: none. */
const struct emu_read *emu_reads_unordered(const struct emu_cell *cell, unsigned thread);

#endif
