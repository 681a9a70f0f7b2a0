/* SPDX-License-Identifier: MIT */
#ifndef MXQ_SCALE_PLAN_H
#define MXQ_SCALE_PLAN_H

#include "tensor_plan.h"

/* Strides of a part's scales for matrices of n x k elements: contract, section 4. */
struct mxq_scale_plan mxq_scale_plan_of(const struct mxq_variant *variant, unsigned part,
                                        uint64_t n, uint64_t k);

/* The elements along each axis whose blocks' scales are stored, padding included. */
struct mxq_scale_cover {
  uint64_t n, k;
};
struct mxq_scale_cover mxq_scale_cover(const struct mxq_variant *variant, uint64_t n, uint64_t k);

#endif
