/* SPDX-License-Identifier: MIT */
#ifndef MXQ_PLAN_H
#define MXQ_PLAN_H

#include <mxq/mxq.h>

#include "kernel.h"
#include "kernel_args.h"
#include "plan_as.h"
#include "tensor_plan.h"

/* Immutable. On MXQ_DEVICE_CPU only the kernel, shape, bytes and pointers are set. */
struct mxq_plan {
  union mxq_kernel_args args;
  void *memory; /* what the allocator gave: the plan lies inside, aligned for its tensor maps */
  struct mxq_kernel *kernel;
  struct mxq_shape shape;
  struct mxq_byte_counts bytes;
  struct mxq_pointers pointers;
  struct mxq_tensor_plan tensor;
  CUdevice device;
  CUfunction function;
};

/* What a planned kernel needs of addresses beyond mxq_pointers_check. */
enum mxq_status mxq_plan_check_pointers(const struct mxq_tensor_plan *tensor,
                                        const struct mxq_pointers *pointers);

#endif
