/* SPDX-License-Identifier: MIT
 *
 * The one-call form, and the question whether it would work.
 */
#include <mxq/mxq.h>

#include "device.h"
#include "kernel.h"
#include "plan.h"
#include "pointers.h"
#include "shape.h"
#include "status.h"
#include "stream.h"

static enum mxq_status check_ordinal(int device) {
  MXQ_FAIL_IF(device < 0 && device != MXQ_DEVICE_CPU, MXQ_INVALID_ARGUMENT,
              "device %d; give the ordinal of a CUDA device or MXQ_DEVICE_CPU (%d)%s", device,
              MXQ_DEVICE_CPU,
              device == MXQ_DEVICE_AUTO ? "; MXQ_DEVICE_AUTO is for mxq_run alone" : "");
  return MXQ_OK;
}

/* MXQ_DEVICE_AUTO: the device of the pointers. Without bytes any device does. */
static enum mxq_status resolve_device(const struct mxq_byte_counts *bytes,
                                      const struct mxq_pointers *pointers, int *device) {
  const struct mxq_driver *driver = NULL;
  if (*device != MXQ_DEVICE_AUTO) return MXQ_OK;
  MXQ_TRY(mxq_driver_get(&driver));
  return mxq_pointers_device(driver, bytes, pointers, device);
}

/* Loading is not allowed while a stream captures. */
static enum mxq_status check_ready(struct mxq_kernel *kernel, const struct mxq_byte_counts *bytes,
                                   const struct mxq_shape *shape,
                                   const struct mxq_pointers *pointers, mxq_stream stream) {
  struct mxq_tensor_plan tensor;
  char name[MXQ_VARIANT_NAME_SIZE];
  int capturing = 0;
  if (kernel->device == MXQ_DEVICE_CPU) return MXQ_OK;
  MXQ_TRY(mxq_stream_is_capturing(kernel, stream, &capturing));
  if (!capturing) return MXQ_OK;
  MXQ_TRY(mxq_plan_select_of(kernel, bytes, shape, pointers, &tensor));
  if (mxq_kernel_is_loaded(kernel, &tensor.kernel)) return MXQ_OK;
  MXQ_TRY(mxq_variant_name(&kernel->variant, name, sizeof name));
  MXQ_FAIL(MXQ_NOT_READY,
           "the stream captures, and the kernel of %s is not loaded on cuda:%d; make a plan or run "
           "it once before the capture",
           name, kernel->device);
}

static enum mxq_status run_kernel(struct mxq_kernel *kernel, const struct mxq_byte_counts *bytes,
                                  const struct mxq_shape *shape,
                                  const struct mxq_pointers *pointers, mxq_stream stream) {
  struct mxq_plan *plan = NULL;
  MXQ_TRY(check_ready(kernel, bytes, shape, pointers, stream));
  MXQ_TRY(mxq_plan_create(kernel, shape, pointers, &plan));
  const enum mxq_status status = mxq_plan_launch(plan, stream);
  mxq_plan_destroy(plan);
  return status;
}

enum mxq_status mxq_supported(struct mxq_context *context, const struct mxq_variant *variant,
                              const struct mxq_shape *shape, int device) {
  struct mxq_device_info info;
  const struct mxq_arch *arch = NULL;
  struct mxq_tensor_plan tensor;
  /* A shape that the copy engine takes, for the question about any shape. */
  const struct mxq_shape any = mxq_shape_dense(1, 32, 32);
  MXQ_FAIL_IF(!context || !variant, MXQ_INVALID_ARGUMENT, "%s is NULL; mxq_supported needs it",
              context ? "variant" : "context");
  MXQ_TRY(mxq_variant_check(variant));
  MXQ_TRY(check_ordinal(device));
  if (shape) MXQ_TRY(mxq_shape_check(variant, shape));
  if (device == MXQ_DEVICE_CPU) return MXQ_OK;
  MXQ_TRY(mxq_device_describe(device, &info));
  const enum mxq_status status = mxq_arch_of_device(info.major, info.minor, &arch);
  MXQ_FAIL_IF(status != MXQ_OK, MXQ_UNSUPPORTED, "cuda:%d (%s): %s", device, info.name,
              mxq_last_error());
  const struct mxq_capacity capacity = {info.l2_bytes, info.multiprocessors};
  return mxq_plan_select(variant, arch, &capacity, shape ? shape : &any, NULL, &tensor);
}

enum mxq_status mxq_run(struct mxq_context *context, const struct mxq_variant *variant,
                        const struct mxq_shape *shape, const struct mxq_pointers *pointers,
                        int device, mxq_stream stream) {
  struct mxq_byte_counts bytes;
  struct mxq_kernel *kernel = NULL;
  MXQ_FAIL_IF(!context || !variant, MXQ_INVALID_ARGUMENT, "%s is NULL; mxq_run needs it",
              context ? "variant" : "context");
  MXQ_TRY(mxq_sizes(variant, shape, &bytes));
  MXQ_TRY(mxq_pointers_check(variant, &bytes, pointers));
  if (device == MXQ_DEVICE_AUTO && mxq_shape_empty(shape)) return MXQ_OK;
  MXQ_TRY(resolve_device(&bytes, pointers, &device));
  MXQ_TRY(mxq_kernel_get(context, variant, device, &kernel));
  const enum mxq_status status = run_kernel(kernel, &bytes, shape, pointers, stream);
  mxq_kernel_release(kernel);
  return status;
}
