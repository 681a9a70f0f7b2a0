/* SPDX-License-Identifier: MIT */
#ifndef MXQ_OVERLAP_H
#define MXQ_OVERLAP_H

#include <mxq/mxq.h>

/* Whether two elements of a tensor of this shape share a place. Exact for any strides. The shape
 * was checked (lengths and strides that matter are not negative, the last offset is below 2^63) and
 * is not empty. */
int mxq_overlap(const struct mxq_shape *shape);

#endif
