/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "args.h"
#include "axes.h"
#include "pointers.h"
#include "relayout.h"
#include "scale_plan.h"
#include "status.h"
#include "stream.h"

enum { grid_max = 0x7fffffff };

/* The layout that is not `lin`. */
static unsigned packed_layout(const struct mxq_relayout_args *args) {
  return args->from == MXQ_SCALES_LIN ? args->to : args->from;
}

static struct mxq_relayout_launch describe(const struct mxq_relayout_args *args) {
  struct mxq_variant packed = args->variant;
  packed.scales = (uint8_t)packed_layout(args);
  const struct mxq_scale_grid grid = mxq_scale_grid_of(&packed, &args->shape, args->part);
  const struct mxq_scale_plan plan =
      mxq_scale_plan_of(&packed, args->part, (uint64_t)args->shape.n, (uint64_t)args->shape.k);
  const int squares = grid.block_n > 1 && grid.block_k > 1;
  const unsigned floats = mxq_mode_scale_bits(packed.mode) == 32;
  struct mxq_relayout_launch launch = {
      .src = args->src,
      .dst = args->dst,
      .rows = grid.rows,
      .columns = grid.columns,
      .block = squares ? packed.block : 1,
      .stride_e = plan.stride_e,
      .pitch = plan.pitch,
      .columns_inner = !grid.rows_along_k,
      .squares = squares != 0,
      .to_lin = args->to == MXQ_SCALES_LIN,
  };
  launch.lines = mxq_ceil_div(launch.rows, launch.block);
  launch.places_e = launch.to_lin ? launch.lines * launch.columns
                    : floats      ? plan.stride_e
                                  : plan.stride_e / 4;
  launch.places = launch.places_e * (uint64_t)args->shape.e;
  return launch;
}

static enum mxq_status check_ready(const struct mxq_kernel *kernel, const struct mxq_kernel_id *id,
                                   mxq_stream stream) {
  int capturing = 0;
  MXQ_TRY(mxq_stream_is_capturing(kernel, stream, &capturing));
  MXQ_FAIL_IF(capturing && !mxq_kernel_is_loaded(kernel, id), MXQ_NOT_READY,
              "the stream captures, and the kernel that moves scales is not loaded on cuda:%d; run "
              "it once before the capture",
              kernel->device);
  return MXQ_OK;
}

static enum mxq_status load(struct mxq_kernel *kernel, const struct mxq_kernel_id *id,
                            CUdevice *device, CUfunction *function) {
  struct mxq_device_scope scope;
  MXQ_TRY(mxq_driver_device(kernel->driver, kernel->device, device));
  MXQ_TRY(mxq_device_enter(kernel->driver, kernel->device, &scope));
  const enum mxq_status status = mxq_kernel_function(kernel, id, function);
  mxq_device_leave(&scope);
  return status;
}

static enum mxq_status launch_on(struct mxq_kernel *kernel,
                                 const struct mxq_relayout_launch *launch, mxq_stream stream) {
  struct mxq_kernel_id id;
  struct mxq_geometry geometry;
  struct mxq_device_scope scope;
  CUdevice device = 0;
  CUfunction function = NULL;
  MXQ_TRY(mxq_kernel_id_choose(&kernel->variant, MXQ_FAMILY_RELAYOUT, kernel->arch, &id));
  mxq_geometry_of(&id, &geometry);
  MXQ_TRY(check_ready(kernel, &id, stream));
  MXQ_TRY(load(kernel, &id, &device, &function));
  MXQ_TRY(mxq_stream_enter(kernel, device, stream, "the scales", &scope));
  const uint64_t blocks = mxq_ceil_div(launch->places, geometry.threads);
  const enum mxq_status status =
      mxq_stream_launch(kernel->driver, function, geometry.threads, geometry.shared_bytes,
                        (uint32_t)(blocks > grid_max ? grid_max : blocks), launch, stream);
  mxq_device_leave(&scope);
  return status;
}

enum mxq_status mxq_relayout_on_device(struct mxq_context *context,
                                       const struct mxq_relayout_args *args,
                                       const struct mxq_relayout_sizes *sizes, int device,
                                       mxq_stream stream) {
  const struct mxq_byte_counts bytes = {.in = sizes->src, .out = {sizes->dst, 0}};
  const struct mxq_pointers pointers = {.in = args->src, .out = {args->dst, NULL}};
  const struct mxq_variant variant =
      mxq_relayout_variant(mxq_mode_scale_bits(args->variant.mode), packed_layout(args));
  const struct mxq_driver *driver = NULL;
  struct mxq_kernel *kernel = NULL;
  MXQ_TRY(mxq_driver_get(&driver));
  if (device == MXQ_DEVICE_AUTO) MXQ_TRY(mxq_pointers_device(driver, &bytes, &pointers, &device));
  MXQ_TRY(mxq_kernel_get(context, &variant, device, &kernel));
  enum mxq_status status = mxq_pointers_on_device(driver, &bytes, &pointers, device);
  if (status == MXQ_OK) {
    const struct mxq_relayout_launch launch = describe(args);
    status = launch_on(kernel, &launch, stream);
  }
  mxq_kernel_release(kernel);
  return status;
}
