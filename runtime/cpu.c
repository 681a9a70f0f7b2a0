/* SPDX-License-Identifier: MIT */
#include "cpu.h"

#include <fenv.h>

#include "cpu_dequantize.h"
#include "cpu_quantize.h"
#include "cpu_scales.h"
#include "shape.h"

void mxq_cpu_run(const struct mxq_variant *variant, const struct mxq_shape *shape,
                 const struct mxq_pointers *pointers) {
  fenv_t callers;
  if (mxq_shape_empty(shape)) return; /* not after stepping through ever so many empty matrices */
  /* A caller may round another way or flush subnormals; the contract does neither. */
  fegetenv(&callers);
  fesetenv(FE_DFL_ENV);
  if (variant->op == MXQ_OP_DEQUANTIZE)
    mxq_cpu_dequantize(variant, shape, pointers);
  else
    mxq_cpu_quantize(variant, shape, pointers);
  fesetenv(&callers);
}

void mxq_cpu_relayout(const struct mxq_relayout_args *args) {
  struct mxq_variant from = args->variant, to = args->variant;
  struct mxq_cpu_scales src, dst;
  if (mxq_shape_empty(&args->shape)) return;
  from.scales = (uint8_t)args->from;
  to.scales = (uint8_t)args->to;
  mxq_cpu_scales_of(&from, &args->shape, args->part, (void *)(uintptr_t)args->src, &src);
  mxq_cpu_scales_of(&to, &args->shape, args->part, args->dst, &dst);
  mxq_cpu_scales_copy(&src, &dst);
}
