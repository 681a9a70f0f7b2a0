/* SPDX-License-Identifier: MIT */
#include "shared.h"

#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "clock.h"
#include "place.h"
#include "primitives.h"
#include "reads.h"
#include "team.h"

#define PLACE(what) emu_place_text((what)->place).text

void emu_shared_begin(unsigned bytes) {
  emu_cells_begin(bytes);
  emu_reads_begin();
}

void emu_shared_meet(void) { emu_reads_begin(); }

void emu_shared_check(unsigned offset, unsigned bytes, unsigned alignment, const char *what) {
  const unsigned end = emu.launch->shared_bytes;
  if (bytes % alignment != 0 || (alignment & (alignment - 1)) != 0)
    emu_hazard("%s of %u bytes: there are accesses of 1, 2, 4, 8 and 16", what, bytes);
  if (offset > end || bytes > end - offset)
    emu_hazard("%s of %u bytes at shared offset 0x%x, past the block's %u bytes", what, bytes,
               offset, end);
  if (offset % alignment != 0)
    emu_hazard("%s of %u bytes at shared offset 0x%x, which is no multiple of %u", what, bytes,
               offset, alignment);
}

static int by_engine(const struct emu_cell *cell) { return cell->writer >= emu_clock_engine(0); }

/* Hazard unless the cell holds data whose write is ordered before what the thread does now. */
static void check_data(const struct emu_cell *cell, unsigned thread, unsigned at,
                       const char *what) {
  if (cell->kind == EMU_EMPTY) emu_hazard("%s of shared byte 0x%x, which nobody wrote", what, at);
  if (cell->kind == EMU_BARRIER) emu_hazard("%s of shared byte 0x%x of a barrier", what, at);
  if (cell->kind == EMU_LANDING)
    emu_hazard("%s of shared byte 0x%x before %s (%s) %s", what, at,
               by_engine(cell) ? "the barrier of its load" : "its copy", PLACE(cell),
               by_engine(cell) ? "completed" : "was waited for");
  if (emu_clock_ordered(thread, cell->writer, cell->count)) return;
  if (by_engine(cell))
    emu_hazard(
        "%s of shared byte 0x%x, loaded by the copy engine (%s), without a wait on its "
        "barrier",
        what, at, PLACE(cell));
  emu_hazard(
      "%s of shared byte 0x%x, which thread %u wrote (%s), with nothing between that orders "
      "the two",
      what, at, cell->writer, PLACE(cell));
}

/* Hazard unless everything that was done with the cell is ordered before a write of it now. */
static void check_overwrite(const struct emu_cell *cell, unsigned thread, unsigned at,
                            const char *what) {
  if (cell->kind == EMU_BARRIER) emu_hazard("%s over the barrier at 0x%x", what, at & ~7u);
  if (cell->kind == EMU_LANDING)
    emu_hazard("%s over shared byte 0x%x, to which a load (%s) is on its way", what, at,
               PLACE(cell));
  if (cell->sources)
    emu_hazard(
        "%s over shared byte 0x%x before its bulk store has read it: no wait for reading "
        "covers that store yet",
        what, at);
  if (cell->kind == EMU_DATA && !emu_clock_ordered(thread, cell->writer, cell->count))
    emu_hazard(
        "%s over shared byte 0x%x, which %s wrote (%s), with nothing between that orders "
        "the two",
        what, at, by_engine(cell) ? "the copy engine" : "another thread", PLACE(cell));
  const struct emu_read *read = emu_reads_unordered(cell, thread);
  if (read)
    emu_hazard(
        "%s over shared byte 0x%x, which thread %u reads (%s), with nothing between that "
        "orders the two",
        what, at, read->thread, PLACE(read));
}

/* Hazard unless the writer fenced after its write, and then synchronized with the thread. */
static void check_fenced(const struct emu_cell *cell, unsigned thread, unsigned at,
                         const char *what) {
  int fenced;
  if (cell->kind == EMU_EMPTY || by_engine(cell)) return;
  if (emu_clock_fenced(thread, cell->writer, cell->count, &fenced)) return;
  emu_hazard("%s of shared byte 0x%x, which thread %u wrote (%s) and %s", what, at, cell->writer,
             PLACE(cell),
             fenced ? "fenced too late: nothing orders that fence before the copy engine"
                    : "did not fence: the copy engine may not see it");
}

static void note_load(unsigned thread, unsigned offset, unsigned bytes, uint16_t place) {
  EMU_EACH_CELL(cell, at, offset, offset + bytes) {
    check_data(cell, thread, at, "shared_load");
    emu_reads_add(cell, thread, place);
  }
}

static void note_store(unsigned thread, unsigned offset, unsigned bytes, const char *what,
                       enum emu_cell_kind kind, uint16_t place) {
  const unsigned end = offset + bytes;
  const struct emu_cell written = {.count = emu_clock_now(thread),
                                   .writer = (uint16_t)thread,
                                   .place = place,
                                   .kind = (uint8_t)kind};
  EMU_EACH_CELL(cell, at, offset, end) check_overwrite(cell, thread, at, what);
  emu_cells_put(offset, end, &written);
}

static void copy(void *to, const void *from, unsigned bytes) {
  if (bytes == 1)
    memcpy(to, from, 1);
  else if (bytes == 4)
    memcpy(to, from, 4);
  else
    memcpy(to, from, bytes);
}

void emu_shared_load(unsigned offset, void *to, unsigned bytes, int line, const char *file) {
  const unsigned thread = emu_enter("shared_load", line, file);
  emu_shared_check(offset, bytes, bytes, "shared_load");
  if (!EMU_THREADS) note_load(thread, offset, bytes, emu_place_of(file, line));
  copy(to, emu.shared + offset, bytes);
}

void emu_shared_store(unsigned offset, const void *from, unsigned bytes, int line,
                      const char *file) {
  const unsigned thread = emu_enter("shared_store", line, file);
  emu_shared_check(offset, bytes, bytes, "shared_store");
  if (!EMU_THREADS)
    note_store(thread, offset, bytes, "shared_store", EMU_DATA, emu_place_of(file, line));
  copy(emu.shared + offset, from, bytes);
}

void emu_shared_barrier_init(unsigned thread, unsigned offset) {
  const struct emu_stand *stand = &emu.stand[thread];
  if (!EMU_THREADS)
    note_store(thread, offset, 8, "barrier_init", EMU_BARRIER,
               emu_place_of(stand->file, stand->line));
}

void emu_shared_barrier_use(unsigned thread, unsigned offset, int engine) {
  if (EMU_THREADS) return;
  const struct emu_cell *cell = emu_cell_of(offset);
  if (!emu_clock_ordered(thread, cell->writer, cell->count))
    emu_hazard(
        "%s on the barrier at 0x%x, which thread %u initialized (%s), with nothing between "
        "that orders the two",
        emu.stand[thread].what, offset, cell->writer, PLACE(cell));
  if (engine) check_fenced(cell, thread, offset, "use by the copy engine");
}

void emu_shared_load_begin(unsigned thread, unsigned offset, unsigned bytes,
                           const struct emu_arrival *arrival) {
  const unsigned end = offset + bytes;
  memset(emu.shared + offset, arrival->poison, bytes);
  if (EMU_THREADS) return;
  const struct emu_cell landing = {.count = arrival->count,
                                   .writer = (uint16_t)arrival->party,
                                   .place = arrival->place,
                                   .kind = EMU_LANDING};
  EMU_EACH_CELL(cell, at, offset, end) {
    check_overwrite(cell, thread, at, "map_load");
    check_fenced(cell, thread, at, "map_load over the bytes");
  }
  emu_cells_put(offset, end, &landing);
}

void emu_shared_load_end(unsigned offset, const unsigned char *from, unsigned bytes) {
  memcpy(emu.shared + offset, from, bytes);
  if (EMU_THREADS) return;
  EMU_EACH_CELL(cell, at, offset, offset + bytes) cell->kind = EMU_DATA;
}

/* Until it is waited for, a byte holds what nobody may take for the data. */
void emu_shared_copy_begin(unsigned thread, unsigned offset, unsigned bytes) {
  const struct emu_stand *stand = &emu.stand[thread];
  if (!EMU_THREADS)
    note_store(thread, offset, bytes, "copy_async", EMU_LANDING,
               emu_place_of(stand->file, stand->line));
  memset(emu.shared + offset, 0xA5, bytes);
}

void emu_shared_copy_end(unsigned thread, unsigned offset, const unsigned char *from,
                         unsigned bytes) {
  memcpy(emu.shared + offset, from, bytes);
  if (EMU_THREADS) return;
  EMU_EACH_CELL(cell, at, offset, offset + bytes) {
    cell->kind = EMU_DATA;
    cell->count = emu_clock_now(thread);
  }
}

void emu_shared_source_begin(unsigned thread, unsigned offset, unsigned bytes) {
  if (EMU_THREADS) return;
  EMU_EACH_CELL(cell, at, offset, offset + bytes) {
    check_data(cell, thread, at, "map_store");
    check_fenced(cell, thread, at, "map_store");
    if (cell->sources < UINT8_MAX) cell->sources++;
  }
}

void emu_shared_source_end(unsigned thread, unsigned offset, unsigned char *to, unsigned bytes) {
  const struct emu_stand *stand = &emu.stand[thread];
  memcpy(to, emu.shared + offset, bytes);
  if (EMU_THREADS) return;
  const uint16_t place = emu_place_of(stand->file, stand->line);
  EMU_EACH_CELL(cell, at, offset, offset + bytes) {
    cell->sources--;
    emu_reads_add(cell, thread, place);
  }
}
