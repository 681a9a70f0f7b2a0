/* SPDX-License-Identifier: MIT
 *
 * mxq-bench --once: for profilers, which slow every launch down. For each item its straight kernel
 * is launched, then the kernel, and nothing else; bench/ncu.py relies on the order.
 */
#include "bench.h"
#include "plan_as.h"
#include "status.h"

/* The straight kernel that a saved result names, or the first to try. */
static enum mxq_status find_straight(const struct bench *bench, const struct bench_item *item,
                                     const struct bench_buffers *buffers,
                                     const struct bench_straight **straight) {
  const struct bench_straight *wanted = &item->straight;
  MXQ_TRY(bench_straight_at(bench->straights, buffers, 0, straight));
  for (size_t i = 0; wanted->threads; i++) {
    const struct bench_straight *found = NULL;
    MXQ_TRY(bench_straight_at(bench->straights, buffers, i, &found));
    if (!found) break;
    if (found->threads != wanted->threads || found->reads != wanted->reads ||
        found->writes != wanted->writes)
      continue;
    *straight = found;
    break;
  }
  return MXQ_OK;
}

static enum mxq_status launch_pair(const struct bench *bench, const struct bench_item *item,
                                   const struct bench_buffers *buffers, const struct mxq_plan *plan,
                                   mxq_stream stream) {
  const struct bench_straight *straight = NULL;
  const int device = bench->info.ordinal;
  MXQ_TRY(find_straight(bench, item, buffers, &straight));
  MXQ_TRY(bench_straight_launch(straight, buffers, 0, stream));
  MXQ_TRY(mxq_device_stream_synchronize(device, stream));
  MXQ_TRY(mxq_plan_launch(plan, stream));
  return mxq_device_stream_synchronize(device, stream);
}

static enum mxq_status with_buffers(const struct bench *bench, const struct bench_item *item,
                                    const struct mxq_shape *shape,
                                    const struct bench_buffers *buffers, mxq_stream stream) {
  struct mxq_kernel *kernel = NULL;
  struct mxq_plan *plan = NULL;
  enum mxq_status status =
      mxq_kernel_get(bench->context, &item->id.variant, bench->info.ordinal, &kernel);
  if (status == MXQ_OK)
    status = mxq_plan_create_as(kernel, &item->id, shape, &buffers->pointers[0], &plan);
  if (status == MXQ_OK) status = launch_pair(bench, item, buffers, plan, stream);
  mxq_plan_destroy(plan);
  mxq_kernel_release(kernel);
  return status;
}

static enum mxq_status launch_item(const struct bench *bench, const struct bench_item *item,
                                   mxq_stream stream) {
  const struct mxq_shape shape = mxq_shape_dense(item->shape.e, item->shape.n, item->shape.k);
  struct mxq_device_info info = bench->info;
  struct bench_buffers buffers;
  info.l2_bytes = 0; /* as few sets as there can be: nothing rotates here */
  MXQ_TRY(bench_buffers_make(&info, &item->id.variant, &shape, &buffers));
  const enum mxq_status status = with_buffers(bench, item, &shape, &buffers, stream);
  bench_buffers_free(&buffers);
  return status;
}

static enum mxq_status launch_all(const struct bench *bench, const struct bench_item *items,
                                  size_t count) {
  mxq_stream stream = NULL;
  MXQ_TRY(bench_prepare(bench, items, count));
  MXQ_TRY(mxq_device_stream_create(bench->info.ordinal, &stream));
  enum mxq_status status = MXQ_OK;
  for (size_t i = 0; status == MXQ_OK && i < count; i++) {
    bench_progress("%zu of %zu", i + 1, count);
    status = launch_item(bench, &items[i], stream);
  }
  bench_progress("%s", "");
  mxq_device_stream_destroy(bench->info.ordinal, stream);
  return status;
}

int bench_once(const struct bench *bench, const struct bench_item *items, size_t count) {
  const enum mxq_status status = launch_all(bench, items, count);
  return status == MXQ_OK ? BENCH_DONE : bench_exit(status);
}
