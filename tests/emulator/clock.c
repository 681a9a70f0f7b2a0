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

static struct emu_known base; /* what everybody knows since the last meeting */
static struct emu_known *extra[EMU_THREADS_MAX];
static unsigned char has_extra[EMU_THREADS_MAX];
static uint32_t now[EMU_THREADS_MAX];
static struct fences fences[EMU_THREADS_MAX];
static unsigned threads, parties;

void emu_clock_begin(unsigned count) {
  threads = count;
  parties = count + EMU_BARRIERS_MAX;
  memset(&base, 0, sizeof base);
  memset(has_extra, 0, sizeof has_extra);
  for (unsigned t = 0; t < count; t++) {
    now[t] = 1;
    fences[t].used = 0;
    fences[t].met = 0;
  }
}

unsigned emu_clock_engine(unsigned barrier) { return threads + barrier; }

uint32_t emu_clock_now(unsigned thread) { return now[thread]; }

int emu_clock_ordered(unsigned thread, unsigned party, uint32_t count) {
  if (party == thread || base.count[party] >= count) return 1;
  return has_extra[thread] && extra[thread]->count[party] >= count;
}

static void join(struct emu_known *to, const struct emu_known *from) {
  for (unsigned a = 0; a < parties; a++)
    if (from->count[a] > to->count[a]) to->count[a] = from->count[a];
}

void emu_clock_meet(void) {
  for (unsigned t = 0; t < threads; t++) {
    if (has_extra[t]) join(&base, extra[t]);
    has_extra[t] = 0;
    if (fences[t].used) fences[t].met = fences[t].count[fences[t].used - 1];
    fences[t].used = 0;
  }
  for (unsigned t = 0; t < threads; t++) base.count[t] = now[t]++;
}

void emu_clock_release(unsigned thread, struct emu_known *known) {
  if (has_extra[thread]) join(known, extra[thread]);
  known->count[thread] = now[thread]++;
}

void emu_clock_acquire(unsigned thread, const struct emu_known *known) {
  if (!extra[thread]) extra[thread] = malloc(sizeof *extra[thread]);
  if (!extra[thread]) abort();
  if (has_extra[thread])
    join(extra[thread], known);
  else
    memcpy(extra[thread], known, parties * sizeof known->count[0]);
  has_extra[thread] = 1;
}

void emu_clock_fence(unsigned thread) {
  struct fences *list = &fences[thread];
  if (list->used == list->room) {
    list->room = list->room ? 2 * list->room : 8;
    list->count = realloc(list->count, list->room * sizeof *list->count);
    if (!list->count) abort();
  }
  list->count[list->used++] = ++now[thread];
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
