/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "plan_as.h"
#include "status.h"
#include "tuning.h"

enum { warm_replays = 2 };

/* One candidate's launches, on every set of buffers in turn. */
struct launcher {
  const struct bench_buffers *buffers;
  struct mxq_plan *plans[BENCH_SETS_MAX];
  struct mxq_graph *graph;
};

static enum mxq_status enqueue(void *user, unsigned index, mxq_stream stream) {
  const struct launcher *launcher = user;
  return mxq_plan_launch(launcher->plans[index % launcher->buffers->sets], stream);
}

/* About two milliseconds of launches, the same number on every set. */
static unsigned launches_of(const struct bench_buffers *buffers) {
  const double guess_us = (double)(buffers->read + buffers->written) / 4e6 + 1.5;
  unsigned launches = (unsigned)(2000 / guess_us);
  if (launches < 10) launches = 10;
  return (launches + buffers->sets - 1) / buffers->sets * buffers->sets;
}

static void close_launcher(struct launcher *launcher) {
  mxq_graph_destroy(launcher->graph);
  for (unsigned set = 0; set < BENCH_SETS_MAX; set++) mxq_plan_destroy(launcher->plans[set]);
  memset(launcher->plans, 0, sizeof launcher->plans);
  launcher->graph = NULL;
}

static enum mxq_status open_launcher(struct mxq_kernel *kernel, const struct mxq_kernel_id *id,
                                     const struct mxq_shape *shape, unsigned launches,
                                     struct launcher *launcher) {
  const struct bench_buffers *buffers = launcher->buffers;
  for (unsigned set = 0; set < buffers->sets; set++)
    MXQ_TRY(mxq_plan_create_as(kernel, id, shape, &buffers->pointers[set], &launcher->plans[set]));
  MXQ_TRY(mxq_graph_create(buffers->device, enqueue, launcher, launches, &launcher->graph));
  for (int i = 0; i < warm_replays; i++) MXQ_TRY(mxq_graph_replay(launcher->graph, NULL));
  return MXQ_OK;
}

/* The index of the kernel that is chosen now moves with those before it. */
static void drop(struct tune_case *one, size_t index) {
  one->count--;
  memmove(&one->candidates[index], &one->candidates[index + 1],
          (one->count - index) * sizeof one->candidates[0]);
  if (one->now > index) one->now--;
}

static enum mxq_status open_all(struct mxq_kernel *kernel, const struct mxq_shape *shape,
                                const struct bench_buffers *buffers, struct tune_case *one,
                                struct launcher *launchers) {
  const unsigned launches = launches_of(buffers);
  for (size_t i = 0; i < one->count;) {
    launchers[i].buffers = buffers;
    const enum mxq_status status =
        open_launcher(kernel, &one->candidates[i].id, shape, launches, &launchers[i]);
    if (status == MXQ_OK) {
      i++;
      continue;
    }
    close_launcher(&launchers[i]);
    if (status != MXQ_UNSUPPORTED) return status;
    drop(one, i);
  }
  return MXQ_OK;
}

static enum mxq_status time_all(const struct bench *bench, struct tune_case *one,
                                struct launcher *launchers) {
  const unsigned launches = launches_of(launchers[0].buffers);
  for (unsigned rep = 0; rep < bench->options->reps; rep++)
    for (size_t i = 0; i < one->count; i++) {
      struct bench_series *series = &one->candidates[i].us;
      double us = 0;
      MXQ_TRY(mxq_graph_replay(launchers[i].graph, &us));
      series->us[series->count++] = us / launches;
    }
  return MXQ_OK;
}

static enum mxq_status with_buffers(const struct bench *bench, const struct mxq_shape *shape,
                                    const struct bench_buffers *buffers, struct tune_case *one) {
  static struct launcher launchers[TUNE_SCHEDULES_MAX];
  struct mxq_kernel *kernel = NULL;
  memset(launchers, 0, sizeof launchers);
  MXQ_TRY(mxq_kernel_get(bench->context, &one->variant, bench->info.ordinal, &kernel));
  enum mxq_status status = open_all(kernel, shape, buffers, one, launchers);
  if (status == MXQ_OK && one->count) status = time_all(bench, one, launchers);
  for (size_t i = 0; i < TUNE_SCHEDULES_MAX; i++) close_launcher(&launchers[i]);
  mxq_kernel_release(kernel);
  return status;
}

enum mxq_status tune_measure(const struct bench *bench, struct tune_case *one) {
  const struct mxq_shape shape = mxq_shape_dense(one->shape.e, one->shape.n, one->shape.k);
  struct bench_buffers buffers;
  MXQ_TRY(bench_buffers_make(&bench->info, &one->variant, &shape, &buffers));
  const enum mxq_status status = with_buffers(bench, &shape, &buffers, one);
  bench_buffers_free(&buffers);
  return status;
}
