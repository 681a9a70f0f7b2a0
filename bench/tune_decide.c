/* SPDX-License-Identifier: MIT */
#include "tuning.h"

/* How much faster another kernel must be, of the current one's time. Times of launches repeat to
 * half a percent within a run, short ones to two; a choice made inside of that would be another one
 * on another day. */
static const double margins[MXQ_SIZE_CLASSES] = {
    [MXQ_SIZE_TINY] = 0.02, [MXQ_SIZE_CACHED] = 0.02, [MXQ_SIZE_LARGE] = 0.005};

/* Rounds in which `a` was the faster one of two that took turns. */
static unsigned wins(const struct bench_series *a, const struct bench_series *b) {
  unsigned won = 0;
  for (unsigned i = 0; i < a->count && i < b->count; i++) won += a->us[i] < b->us[i];
  return won;
}

static int is_faster(const struct bench_series *a, const struct bench_series *than, double margin) {
  if (bench_median(a) >= bench_median(than) * (1 - margin)) return 0;
  return wins(a, than) * 8 >= a->count * 7; /* in seven of eight rounds */
}

void tune_decide(struct tune_case *one) {
  const double margin = margins[one->size];
  one->best = one->now;
  for (size_t i = 0; i < one->count; i++) {
    const struct bench_series *mine = &one->candidates[i].us;
    const struct bench_series *best = &one->candidates[one->best].us;
    /* Against the current one by the margin, against other newcomers by their medians. */
    if (!is_faster(mine, &one->candidates[one->now].us, margin)) continue;
    if (one->best == one->now || bench_median(mine) < bench_median(best)) one->best = i;
  }
}
