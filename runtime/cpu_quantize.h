/* SPDX-License-Identifier: MIT */
#ifndef MXQ_CPU_QUANTIZE_H
#define MXQ_CPU_QUANTIZE_H

#include <mxq/mxq.h>

/* A tensor that is not empty, in the default floating-point environment. */
void mxq_cpu_quantize(const struct mxq_variant *variant, const struct mxq_shape *shape,
                      const struct mxq_pointers *pointers);

#endif
