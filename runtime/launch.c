/* SPDX-License-Identifier: MIT
 *
 * Launching: no allocation, no lock, no environment.
 */
#include <mxq/mxq.h>

#include "cpu.h"
#include "map_encode.h"
#include "plan.h"
#include "pointers.h"
#include "status.h"
#include "stream.h"

static enum mxq_status enter(const struct mxq_plan *plan, mxq_stream stream,
                             struct mxq_device_scope *scope) {
  return mxq_stream_enter(plan->kernel, plan->device, stream, "the plan", scope);
}

/* With the stream's context current. */
static enum mxq_status enqueue(const struct mxq_plan *plan, const union mxq_kernel_args *args,
                               mxq_stream stream) {
  return mxq_stream_launch(plan->kernel->driver, plan->function, plan->tensor.geometry.threads,
                           plan->tensor.shared_bytes, plan->tensor.grid, args, stream);
}

/* The plan's arguments at other addresses. cuTensorMapReplaceAddress needs a current context too.
 */
static enum mxq_status enqueue_at(const struct mxq_plan *plan, const struct mxq_pointers *pointers,
                                  mxq_stream stream) {
  const struct mxq_driver *driver = plan->kernel->driver;
  union mxq_kernel_args args = plan->args;
  if (plan->tensor.in.rank) {
    MXQ_TRY(mxq_map_move(driver, pointers->in, &args.tile.in));
    for (unsigned part = 0; part < 2; part++)
      if (plan->tensor.out[part].rank)
        MXQ_TRY(mxq_map_move(driver, pointers->out[part],
                             mxq_kernel_args_out_map(&plan->tensor, part, &args)));
  }
  mxq_kernel_args_point(&plan->tensor, pointers, &args);
  return enqueue(plan, &args, stream);
}

static enum mxq_status run_on_cpu(const struct mxq_plan *plan, const struct mxq_pointers *pointers,
                                  mxq_stream stream) {
  MXQ_FAIL_IF(stream, MXQ_INVALID_ARGUMENT,
              "the stream is not NULL, but the plan computes on the CPU; pass NULL");
  mxq_cpu_run(&plan->kernel->variant, &plan->shape, pointers);
  return MXQ_OK;
}

enum mxq_status mxq_plan_launch(const struct mxq_plan *plan, mxq_stream stream) {
  MXQ_FAIL_IF(!plan, MXQ_INVALID_ARGUMENT, "plan is NULL; mxq_plan_launch needs it");
  if (plan->kernel->device == MXQ_DEVICE_CPU) return run_on_cpu(plan, &plan->pointers, stream);
  if (plan->tensor.grid == 0) return MXQ_OK;
  struct mxq_device_scope scope;
  MXQ_TRY(enter(plan, stream, &scope));
  const enum mxq_status status = enqueue(plan, &plan->args, stream);
  mxq_device_leave(&scope);
  return status;
}

enum mxq_status mxq_plan_launch_at(const struct mxq_plan *plan, const struct mxq_pointers *pointers,
                                   mxq_stream stream) {
  MXQ_FAIL_IF(!plan, MXQ_INVALID_ARGUMENT, "plan is NULL; mxq_plan_launch_at needs it");
  const struct mxq_kernel *kernel = plan->kernel;
  MXQ_TRY(mxq_pointers_check(&kernel->variant, &plan->bytes, pointers));
  if (kernel->device == MXQ_DEVICE_CPU) return run_on_cpu(plan, pointers, stream);
  if (plan->tensor.grid == 0) return MXQ_OK;
  if (mxq_driver_is_forked()) return mxq_driver_forked();
  MXQ_TRY(mxq_plan_check_pointers(&plan->tensor, pointers));
  MXQ_TRY(mxq_pointers_on_device(kernel->driver, &plan->bytes, pointers, kernel->device));
  struct mxq_device_scope scope;
  MXQ_TRY(enter(plan, stream, &scope));
  const enum mxq_status status = enqueue_at(plan, pointers, stream);
  mxq_device_leave(&scope);
  return status;
}
