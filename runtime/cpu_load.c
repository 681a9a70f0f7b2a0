/* SPDX-License-Identifier: MIT */
#include "cpu_load.h"

#include <string.h>

#include "cpu_transpose.h"

/* `pitch`: bytes from one column to the next. Nothing beyond the tile is read. */
static void load_columns(const unsigned char *in, uint64_t pitch, const struct mxq_cpu_tile *tile) {
  size_t k = 0;
  for (; tile->columns - k >= MXQ_CPU_TRANSPOSED; k += MXQ_CPU_TRANSPOSED)
    mxq_cpu_transpose(in + k * pitch, pitch, tile->rows, tile->codes + k, tile->pitch);
  if (k == tile->columns) return;
  uint8_t lines[MXQ_CPU_TRANSPOSED][MXQ_CPU_LINE] = {{0}};
  for (size_t j = 0; k + j < tile->columns; ++j) memcpy(lines[j], in + (k + j) * pitch, tile->rows);
  mxq_cpu_transpose(lines[0], MXQ_CPU_LINE, tile->rows, tile->codes + k, tile->pitch);
}

static void load_rows(const unsigned char *in, uint64_t pitch, const struct mxq_cpu_tile *tile) {
  for (size_t n = 0; n < tile->rows; ++n)
    memcpy(tile->codes + n * tile->pitch, in + n * pitch, tile->columns);
}

/* A byte to two codes that are neighbours along K, the low bits first. */
static void unpack_row(const unsigned char *in, size_t bytes, uint8_t *restrict codes) {
  for (size_t i = 0; i < bytes; ++i) {
    codes[2 * i] = in[i] & 15;
    codes[2 * i + 1] = in[i] >> 4;
  }
}

static void unpack_rows(const unsigned char *in, uint64_t pitch, const struct mxq_cpu_tile *tile) {
  for (size_t n = 0; n < tile->rows; ++n)
    unpack_row(in + n * pitch, tile->columns / 2, tile->codes + n * tile->pitch);
}

/* To two that are neighbours along N: in place, so from the last to the first. */
static void unpack_along_n(const struct mxq_cpu_tile *tile) {
  for (size_t n = tile->rows / 2; n-- > 0;) {
    const uint8_t *from = tile->codes + n * tile->pitch;
    uint8_t *low = tile->codes + 2 * n * tile->pitch, *high = low + tile->pitch;
    for (size_t k = 0; k < tile->columns; ++k) {
      const uint8_t pair = from[k];
      high[k] = pair >> 4;
      low[k] = pair & 15;
    }
  }
}

void mxq_cpu_load_codes(const struct mxq_variant *variant, const struct mxq_shape *shape,
                        const unsigned char *codes, unsigned code_bits,
                        const struct mxq_cpu_place *place, const struct mxq_cpu_tile *tile) {
  const int column_major = (mxq_layout_part(variant->layout, 0) & MXQ_PART_COLUMN_MAJOR) != 0;
  const unsigned codes_per_byte = 8 / code_bits;
  const unsigned char *in =
      codes + mxq_data_offset(variant, shape, 0, place->e, place->n, place->k) / codes_per_byte;
  const uint64_t pitch = (uint64_t)(column_major ? shape->n : shape->k) / codes_per_byte;
  if (column_major) {
    struct mxq_cpu_tile bytes = *tile;
    bytes.rows /= codes_per_byte;
    load_columns(in, pitch, &bytes);
    if (codes_per_byte == 2) unpack_along_n(tile);
  } else {
    (codes_per_byte == 2 ? unpack_rows : load_rows)(in, pitch, tile);
  }
}
