/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "plan_as.h"
#include "status.h"

enum { warm_replays = 2, try_replays = 3 };

/* What a captured launch of one kind needs; the kinds share it. */
struct runner {
  const struct bench_buffers *buffers;
  struct mxq_plan *plans[BENCH_SETS_MAX];
  const struct bench_straight *straight;
};

static enum mxq_status enqueue_kernel(void *user, unsigned index, mxq_stream stream) {
  const struct runner *runner = user;
  return mxq_plan_launch(runner->plans[index % runner->buffers->sets], stream);
}

static enum mxq_status enqueue_straight(void *user, unsigned index, mxq_stream stream) {
  const struct runner *runner = user;
  return bench_straight_launch(runner->straight, runner->buffers, index % runner->buffers->sets,
                               stream);
}

/* Copies half of the bytes that the kernel reads and writes, in pieces that its input and its
 * output both hold. */
static enum mxq_status enqueue_copies(void *user, unsigned index, mxq_stream stream) {
  const struct bench_buffers *buffers = ((const struct runner *)user)->buffers;
  const struct mxq_pointers *pointers = &buffers->pointers[index % buffers->sets];
  const uint64_t in = buffers->bytes.in, out = buffers->bytes.out[0];
  const uint64_t total = (buffers->read + buffers->written) / 2, piece = in < out ? in : out;
  for (uint64_t done = 0; done < total; done += piece) {
    const uint64_t left = total - done, bytes = left < piece ? left : piece;
    const uint64_t from = done + bytes <= in ? done : 0, to = done + bytes <= out ? done : 0;
    MXQ_TRY(mxq_device_copy_async(buffers->device, (unsigned char *)pointers->out[0] + to,
                                  (const unsigned char *)pointers->in + from, bytes, stream));
  }
  return MXQ_OK;
}

/* Some milliseconds of launches, the same number on every set. */
static unsigned launches_of(const struct bench_buffers *buffers) {
  const double guess_us = (double)(buffers->read + buffers->written) / 4e6 + 2;
  unsigned launches = (unsigned)(6000 / guess_us);
  if (launches < 10) launches = 10;
  return (launches + buffers->sets - 1) / buffers->sets * buffers->sets;
}

static enum mxq_status time_graph(struct mxq_graph *graph, unsigned launches,
                                  struct bench_series *series) {
  double us = 0;
  MXQ_TRY(mxq_graph_replay(graph, &us));
  series->us[series->count++] = us / launches;
  return MXQ_OK;
}

static enum mxq_status warm(struct mxq_graph *graph) {
  for (int i = 0; i < warm_replays; i++) MXQ_TRY(mxq_graph_replay(graph, NULL));
  return MXQ_OK;
}

/* One straight kernel's median over a few replays; its graph. */
static enum mxq_status try_straight(struct runner *runner, unsigned launches,
                                    struct mxq_graph **graph, double *us) {
  struct bench_series series = {0};
  MXQ_TRY(mxq_graph_create(runner->buffers->device, enqueue_straight, runner, launches, graph));
  MXQ_TRY(warm(*graph));
  for (int i = 0; i < try_replays; i++) MXQ_TRY(time_graph(*graph, launches, &series));
  *us = bench_median(&series);
  return MXQ_OK;
}

/* The fastest straight kernel is the limit; which it is depends on the traffic alone. */
static enum mxq_status choose_straight(const struct bench *bench, struct runner *runner,
                                       struct bench_row *row, struct mxq_graph **best) {
  const size_t known = bench_straight_known(bench->straights, runner->buffers);
  size_t best_index = known;
  double best_us = 0;
  for (size_t i = known == SIZE_MAX ? 0 : known;; i++) {
    struct mxq_graph *graph = NULL;
    double us = 0;
    MXQ_TRY(bench_straight_at(bench->straights, runner->buffers, i, &runner->straight));
    if (!runner->straight || (known != SIZE_MAX && i > known)) break;
    const enum mxq_status status = try_straight(runner, row->launches, &graph, &us);
    if (status == MXQ_OK && (!*best || us < best_us)) {
      mxq_graph_destroy(*best);
      *best = graph;
      best_us = us;
      best_index = i;
      row->straight = *runner->straight;
    } else {
      mxq_graph_destroy(graph);
    }
    MXQ_TRY(status);
  }
  if (known == SIZE_MAX) bench_straight_learn(bench->straights, runner->buffers, best_index);
  return MXQ_OK;
}

static enum mxq_status interleave(const struct bench *bench, struct mxq_graph *const graphs[3],
                                  struct bench_row *row) {
  struct bench_series *series[3] = {&row->straight_us, &row->kernel_us, &row->memcpy_us};
  for (int i = 0; i < 3; i++) MXQ_TRY(warm(graphs[i]));
  for (unsigned rep = 0; rep < bench->options->reps; rep++)
    for (int i = 0; i < 3; i++) MXQ_TRY(time_graph(graphs[i], row->launches, series[i]));
  return MXQ_OK;
}

static enum mxq_status measure(const struct bench *bench, struct runner *runner,
                               struct bench_row *row) {
  struct mxq_graph *graphs[3] = {NULL, NULL, NULL};
  const int device = bench->info.ordinal;
  enum mxq_status status = choose_straight(bench, runner, row, &graphs[0]);
  if (status == MXQ_OK)
    status = mxq_graph_create(device, enqueue_kernel, runner, row->launches, &graphs[1]);
  if (status == MXQ_OK)
    status = mxq_graph_create(device, enqueue_copies, runner, row->launches, &graphs[2]);
  if (status == MXQ_OK) status = interleave(bench, graphs, row);
  for (int i = 0; i < 3; i++) mxq_graph_destroy(graphs[i]);
  return status;
}

static enum mxq_status with_plans(const struct bench *bench, struct mxq_kernel *kernel,
                                  const struct mxq_shape *shape,
                                  const struct bench_buffers *buffers, struct bench_row *row) {
  struct runner runner = {.buffers = buffers};
  enum mxq_status status = MXQ_OK;
  for (unsigned set = 0; status == MXQ_OK && set < buffers->sets; set++)
    status =
        mxq_plan_create_as(kernel, &row->id, shape, &buffers->pointers[set], &runner.plans[set]);
  if (status == MXQ_OK) status = measure(bench, &runner, row);
  for (unsigned set = 0; set < buffers->sets; set++) mxq_plan_destroy(runner.plans[set]);
  return status;
}

static enum mxq_status with_buffers(const struct bench *bench, const struct mxq_shape *shape,
                                    struct bench_row *row) {
  struct bench_buffers buffers;
  struct mxq_kernel *kernel = NULL;
  MXQ_TRY(bench_buffers_make(&bench->info, &row->id.variant, shape, &buffers));
  row->read = buffers.read;
  row->written = buffers.written;
  bench_straight_bytes(&buffers, &row->straight_read, &row->straight_written);
  row->in_l2 = buffers.in_l2;
  row->sets = buffers.sets;
  row->launches = launches_of(&buffers);
  enum mxq_status status =
      mxq_kernel_get(bench->context, &row->id.variant, bench->info.ordinal, &kernel);
  if (status == MXQ_OK) status = with_plans(bench, kernel, shape, &buffers, row);
  mxq_kernel_release(kernel);
  bench_buffers_free(&buffers);
  return status;
}

enum mxq_status bench_measure_row(const struct bench *bench, const struct mxq_kernel_id *id,
                                  const struct bench_shape *shape, struct bench_row *row) {
  const struct mxq_shape dense = mxq_shape_dense(shape->e, shape->n, shape->k);
  memset(row, 0, sizeof *row);
  row->id = *id;
  row->shape = *shape;
  MXQ_TRY(mxq_kernel_id_name(id, row->name, sizeof row->name));
  row->status = mxq_supported(bench->context, &id->variant, &dense, bench->info.ordinal);
  if (row->status == MXQ_OK) row->status = with_buffers(bench, &dense, row);
  if (row->status == MXQ_OK) return MXQ_OK;
  snprintf(row->why, sizeof row->why, "%s", mxq_last_error());
  return row->status == MXQ_UNSUPPORTED ? MXQ_OK : row->status;
}
