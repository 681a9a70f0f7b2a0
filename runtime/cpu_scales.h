/* SPDX-License-Identifier: MIT
 *
 * Reference path, the scale layouts: where the scale of a block goes and comes from.
 */
#ifndef MXQ_CPU_SCALES_H
#define MXQ_CPU_SCALES_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/mxq.h>

/* The scales of one part of a layout at a shape that is not empty. */
struct mxq_cpu_scales {
  unsigned char *bytes;
  struct mxq_scale_grid grid;
  size_t scale_bytes; /* 1 or 4 */
  uint64_t e, count;  /* matrices, and scales of all of them with their padding */
  uint64_t (*place)(const struct mxq_cpu_scales *scales, uint64_t e, uint64_t row, uint64_t column);
  uint64_t tall, quads; /* padded rows, and padded columns in fours, as the place needs them */
  uint32_t copies;      /* rows that have a copy of one scale */
};

void mxq_cpu_scales_of(const struct mxq_variant *variant, const struct mxq_shape *shape,
                       unsigned part, void *bytes, struct mxq_cpu_scales *scales);

/* Writes zeros where there may be padding; scales are stored afterwards. */
void mxq_cpu_scales_pad(const struct mxq_cpu_scales *scales);

/* Stores the scales of `count` blocks that are neighbours along K, from the block (block_n,
 * block_k) of matrix e on, each as often as its layout wants. */
void mxq_cpu_scales_store(const struct mxq_cpu_scales *scales, uint64_t e, uint64_t block_n,
                          uint64_t block_k, size_t count, const uint32_t *values);

/* Loads them: of several copies the first. */
void mxq_cpu_scales_load(const struct mxq_cpu_scales *scales, uint64_t e, uint64_t block_n,
                         uint64_t block_k, size_t count, uint32_t *values);

/* All scales of one layout into another, padding included. */
void mxq_cpu_scales_copy(const struct mxq_cpu_scales *from, const struct mxq_cpu_scales *to);

#endif
