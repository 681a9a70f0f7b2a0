/* SPDX-License-Identifier: MIT
 *
 * What a launch of the library's kernels asks for, read back from maps and arguments.
 */
#ifndef MXQ_TESTS_FAKE_JOB_H
#define MXQ_TESTS_FAKE_JOB_H

#include <cuda.h>
#include <stdint.h>

#include <mxq/mxq.h>

#include "kernel_id.h"

/* What a map of the fake driver holds. */
struct fake_map {
  CUdeviceptr base;
  cuuint64_t dims[3], strides[2];
  cuuint32_t type, rank, swizzle;
};

struct fake_job {
  struct mxq_variant variant;
  struct mxq_shape shape;
  struct mxq_pointers pointers;
};

/* dequant.c: 0 if maps and arguments do not fit together. The job has its variant. */
int fake_job_of_dequantize(const struct mxq_kernel_id *id, const void *arguments, unsigned grid,
                           struct fake_job *job);
void fake_move_scales(const char *symbol, const struct mxq_kernel_id *id, const void *arguments);

#endif
