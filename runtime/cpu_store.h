/* SPDX-License-Identifier: MIT
 *
 * Reference path, the layouts: where codes go.
 */
#ifndef MXQ_CPU_STORE_H
#define MXQ_CPU_STORE_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/mxq.h>

#include "cpu_scales.h"
#include "cpu_transpose.h"

/* A tile of codes, a byte for each: code (n, k) at codes[n * pitch + k]. The buffer goes on up to
 * whole groups of MXQ_CPU_TRANSPOSED rows and columns. */
struct mxq_cpu_tile {
  uint8_t *codes;
  size_t rows, columns, pitch;
};

/* One output of a variant at a shape. */
struct mxq_cpu_output {
  const struct mxq_variant *variant;
  const struct mxq_shape *shape;
  unsigned part; /* of the layout */
  unsigned char *codes;
  unsigned code_bits; /* 8, or 4 for two codes in a byte */
  struct mxq_cpu_scales scales;
};

/* A place in the tensor. */
struct mxq_cpu_place {
  uint64_t e, n, k;
};

/* The tile of `rows` and `columns` at `place`: in the output itself where codes stand there as they
 * do in a tile, else in `buffer`, rows of which are `pitch` codes apart. */
struct mxq_cpu_tile mxq_cpu_tile_at(const struct mxq_cpu_output *output,
                                    const struct mxq_cpu_place *place, size_t rows, size_t columns,
                                    uint8_t *buffer, size_t pitch);

/* Stores a tile of mxq_cpu_tile_at whose first code is that of the element at `place`, and packs
 * codes that are smaller than a byte: then the tile must start and end at whole bytes. */
void mxq_cpu_store_codes(const struct mxq_cpu_output *output, const struct mxq_cpu_place *place,
                         const struct mxq_cpu_tile *tile);

#endif
