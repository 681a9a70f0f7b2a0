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
  unsigned holders; /* of one that was kept */
  unsigned joined;  /* the meeting that took it up */
};

struct emu_clock {
  unsigned threads;
  uint32_t base[EMU_PARTIES_MAX];            /* what everybody knows since the last meeting */
  uint32_t now[EMU_THREADS_MAX];             /* each thread's own count */
  struct emu_known *beyond[EMU_THREADS_MAX]; /* what a thread knows beyond that; NULL: nothing */
};
extern struct emu_clock emu_clock;

/* Begins a block. */
void emu_clock_begin(unsigned threads);

/* The party of the loads that complete on a barrier. */
static inline unsigned emu_clock_engine(unsigned barrier) { return emu_clock.threads + barrier; }

static inline uint32_t emu_clock_now(unsigned thread) { return emu_clock.now[thread]; }

/* Whether what `party` did at `count` is ordered before what `thread` does now. */
static inline int emu_clock_ordered(unsigned thread, unsigned party, uint32_t count) {
  if (party == thread || emu_clock.base[party] >= count) return 1;
  return emu_clock.beyond[thread] && emu_clock.beyond[thread]->count[party] >= count;
}

/* All threads of the block meet. */
void emu_clock_meet(void);
/* Adds what the thread knows beyond what all knew at the last meeting to `known`, and lets its next
 * accesses be later ones. */
void emu_clock_release(unsigned thread, struct emu_known *known);

/* A copy that stays as it is while somebody holds it, at first the caller. Threads that acquire it
 * share it: a barrier's phase may tell the same to a thousand. */
struct emu_known *emu_clock_keep(const struct emu_known *known);
void emu_clock_drop(struct emu_known *kept); /* takes NULL */
void emu_clock_acquire(unsigned thread, struct emu_known *kept);

/* A proxy fence: what the thread did before it may be ordered before the copy engine. */
void emu_clock_fence(unsigned thread);
/* Whether `writer` fenced after what it did at `count`, and the fence is ordered before what
 * `thread` does now. Sets *fenced to whether there was any such fence at all. */
int emu_clock_fenced(unsigned thread, unsigned writer, uint32_t count, int *fenced);

#endif
