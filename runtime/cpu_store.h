/* SPDX-License-Identifier: MIT
 *
 * Reference path, the layouts: where codes and scales go.
 */
#ifndef MXQ_CPU_STORE_H
#define MXQ_CPU_STORE_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/mxq.h>

/* Length of a tile's side: a multiple of every block. */
#define MXQ_CPU_TILE 128

/* One output of a variant at a shape. */
struct mxq_cpu_output {
  const struct mxq_variant *variant;
  const struct mxq_shape *shape;
  unsigned part; /* of the layout */
  unsigned char *codes;
  unsigned char *scales;
  size_t scale_bytes;
};

/* A place in the tensor. */
struct mxq_cpu_place {
  uint64_t e, n, k;
};

/* Stores the first rows and columns of a tile of codes, [n][k], whose first element is at
 * `place`. */
void mxq_cpu_store_codes(const struct mxq_cpu_output *output, const struct mxq_cpu_place *place,
                         size_t rows, size_t columns,
                         const uint8_t codes[MXQ_CPU_TILE][MXQ_CPU_TILE]);

/* Stores the scales of `count` blocks that are neighbours along K, the first of which holds the
 * element at `place`. */
void mxq_cpu_store_scales(const struct mxq_cpu_output *output, const struct mxq_cpu_place *place,
                          size_t count, const uint32_t *scales);

#endif
