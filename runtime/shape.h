/* SPDX-License-Identifier: MIT */
#ifndef MXQ_SHAPE_H
#define MXQ_SHAPE_H

#include <mxq/mxq.h>

/* mxq_shape_check and, where it succeeds, the bytes of every tensor. The variant was checked. */
enum mxq_status mxq_shape_measure(const struct mxq_variant *variant, const struct mxq_shape *shape,
                                  struct mxq_byte_counts *bytes);

/* From the scales of one matrix of a layout's part to those of the next: padding and copies
 * counted. For a shape that was checked and is not empty. */
uint64_t mxq_shape_scales(const struct mxq_variant *variant, const struct mxq_shape *shape,
                          unsigned part);

/* Bytes of the scales of a layout's part; its strides and the packing of codes do not matter. The
 * variant was checked. */
enum mxq_status mxq_shape_scale_bytes(const struct mxq_variant *variant,
                                      const struct mxq_shape *shape, unsigned part,
                                      uint64_t *bytes);

/* Whether there is nothing to do. */
static inline int mxq_shape_empty(const struct mxq_shape *shape) {
  return shape->e == 0 || shape->n == 0 || shape->k == 0;
}

#endif
