/* SPDX-License-Identifier: MIT
 *
 * mxq-bench --tune: measures the schedules of representative variants and prints the table of
 * choices, gen/tune.def.
 */
#ifndef MXQ_BENCH_TUNE_H
#define MXQ_BENCH_TUNE_H

#include "bench.h"
#include "tune.h"

enum { TUNE_SCHEDULES_MAX = 32, TUNE_ROWS_MAX = 4096 };

/* The times of one kernel, of every round in order. */
struct tune_candidate {
  struct mxq_kernel_id id;
  struct bench_series us;
};

/* One variant at one size: its candidates, which of them is chosen now, and which is to be. */
struct tune_case {
  struct mxq_variant variant;
  enum mxq_size_class size;
  struct bench_shape shape;
  struct tune_candidate candidates[TUNE_SCHEDULES_MAX];
  size_t count, now, best;
};

/* Measures all candidates in turns. Those that cannot take the shape are dropped. */
enum mxq_status tune_measure(const struct bench *bench, struct tune_case *one);

/* Chooses: the current kernel stays unless another one is faster by more than the noise. */
void tune_decide(struct tune_case *one);

/* Everything; an exit code. The table goes to standard output. */
int bench_tune(const struct bench_options *options);

/* The text of the table, with the rows of other archs as they were compiled in. */
void tune_print(const struct bench *bench, const struct tune_case *cases, size_t count);

#endif
