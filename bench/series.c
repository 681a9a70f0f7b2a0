/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double bench_median(const struct bench_series *series) {
  double sorted[BENCH_REPS_MAX];
  const unsigned count = series->count;
  if (count == 0) return 0;
  memcpy(sorted, series->us, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, compare);
  return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

double bench_spread(const struct bench_series *series) {
  double least = series->us[0], most = series->us[0];
  for (unsigned i = 1; i < series->count; i++) {
    if (series->us[i] < least) least = series->us[i];
    if (series->us[i] > most) most = series->us[i];
  }
  return series->count ? (most - least) / bench_median(series) : 0;
}
