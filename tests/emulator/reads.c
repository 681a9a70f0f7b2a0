/* SPDX-License-Identifier: MIT */
#include "reads.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"

enum { room_first = 1 << 16 };

struct list {
  struct emu_read *at; /* 0 is no index */
  uint32_t used, room;
};
static struct list reads, kept;

void emu_reads_begin(void) { reads.used = 1; }

static uint32_t first_of(const struct emu_cell *cell) {
  return cell->syncs == emu.syncs ? cell->reads : 0;
}

static void grow(struct list *list) {
  list->room = list->room ? 2 * list->room : room_first;
  list->at = realloc(list->at, list->room * sizeof *list->at);
  if (!list->at) abort();
}

/* Leaves each thread's newest read in the cell's list: those before it say nothing more. */
static void keep_newest(struct emu_cell *cell) {
  unsigned char seen[EMU_THREADS_MAX];
  uint32_t last = 0, next = first_of(cell);
  if (!next) return;
  memset(seen, 0, sizeof seen);
  for (; next; next = reads.at[next].next) {
    struct emu_read read = reads.at[next];
    if (seen[read.thread]) continue;
    seen[read.thread] = 1;
    read.next = 0;
    if (kept.used >= kept.room) grow(&kept);
    kept.at[kept.used] = read;
    if (last)
      kept.at[last].next = kept.used;
    else
      cell->reads = kept.used;
    last = kept.used++;
  }
}

/* Loops that read until something changes fill the lists with nothing new. */
static void make_room(void) {
  const struct list full = reads;
  kept.used = 1;
  if (full.room) emu_cells_each(keep_newest);
  reads = kept;
  kept = full;
  while (reads.used >= reads.room / 2) grow(&reads);
}

void emu_reads_add(struct emu_cell *cell, unsigned thread, uint16_t place) {
  const uint32_t now = emu_clock_now(thread);
  uint32_t first = first_of(cell);
  if (first && reads.at[first].thread == thread && reads.at[first].count == now) return;
  if (reads.used >= reads.room) {
    make_room();
    first = first_of(cell);
  }
  reads.at[reads.used] = (struct emu_read){now, first, (uint16_t)thread, place};
  cell->reads = reads.used++;
  cell->syncs = emu.syncs;
}

const struct emu_read *emu_reads_unordered(const struct emu_cell *cell, unsigned thread) {
  for (uint32_t i = first_of(cell); i; i = reads.at[i].next)
    if (!emu_clock_ordered(thread, reads.at[i].thread, reads.at[i].count)) return &reads.at[i];
  return NULL;
}
