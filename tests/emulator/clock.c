/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <stdlib.h>
#include <string.h>

/* Fences of a thread since the last meeting, as its count after each. */
struct fences {
  uint32_t met; /* the last one before the meeting */
  uint32_t *count;
  unsigned used, room;
};

struct emu_clock emu_clock;

static struct fences fences[EMU_THREADS_MAX];
static unsigned parties, meetings;

void emu_clock_begin(unsigned threads) {
  for (unsigned t = 0; t < emu_clock.threads; t++) emu_clock_drop(emu_clock.beyond[t]);
  memset(&emu_clock, 0, sizeof emu_clock);
  emu_clock.threads = threads;
  parties = threads + EMU_BARRIERS_MAX;
  for (unsigned t = 0; t < threads; t++) {
    emu_clock.now[t] = 1;
    fences[t].used = 0;
    fences[t].met = 0;
  }
}

static void join(uint32_t *to, const struct emu_known *from) {
  for (unsigned a = 0; a < parties; a++)
    if (from->count[a] > to[a]) to[a] = from->count[a];
}

void emu_clock_meet(void) {
  meetings++;
  for (unsigned t = 0; t < emu_clock.threads; t++) {
    struct emu_known *beyond = emu_clock.beyond[t];
    emu_clock.beyond[t] = NULL;
    if (beyond && beyond->joined != meetings) join(emu_clock.base, beyond);
    if (beyond) beyond->joined = meetings;
    emu_clock_drop(beyond);
    if (fences[t].used) fences[t].met = fences[t].count[fences[t].used - 1];
    fences[t].used = 0;
  }
  for (unsigned t = 0; t < emu_clock.threads; t++) emu_clock.base[t] = emu_clock.now[t]++;
}

void emu_clock_release(unsigned thread, struct emu_known *known) {
  if (emu_clock.beyond[thread]) join(known->count, emu_clock.beyond[thread]);
  known->count[thread] = emu_clock.now[thread]++;
}

struct emu_known *emu_clock_keep(const struct emu_known *known) {
  struct emu_known *kept = malloc(sizeof *kept);
  if (!kept) abort();
  memcpy(kept->count, known->count, parties * sizeof known->count[0]);
  kept->holders = 1;
  kept->joined = meetings;
  return kept;
}

void emu_clock_drop(struct emu_known *kept) {
  if (kept && --kept->holders == 0) free(kept);
}

void emu_clock_acquire(unsigned thread, struct emu_known *kept) {
  struct emu_known **beyond = &emu_clock.beyond[thread];
  if (*beyond == kept) return;
  if (!*beyond) {
    kept->holders++;
    *beyond = kept;
    return;
  }
  if ((*beyond)->holders > 1) {
    struct emu_known *own = emu_clock_keep(*beyond);
    emu_clock_drop(*beyond);
    *beyond = own;
  }
  join((*beyond)->count, kept);
}

void emu_clock_fence(unsigned thread) {
  struct fences *list = &fences[thread];
  if (list->used == list->room) {
    list->room = list->room ? 2 * list->room : 8;
    list->count = realloc(list->count, list->room * sizeof *list->count);
    if (!list->count) abort();
  }
  list->count[list->used++] = ++emu_clock.now[thread];
}

int emu_clock_fenced(unsigned thread, unsigned writer, uint32_t count, int *fenced) {
  const struct fences *list = &fences[writer];
  *fenced = list->met > count;
  if (*fenced) return 1;
  for (unsigned i = 0; i < list->used; i++) {
    if (list->count[i] <= count) continue;
    *fenced = 1;
    return emu_clock_ordered(thread, writer, list->count[i]);
  }
  return 0;
}
