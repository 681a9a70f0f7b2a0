/* SPDX-License-Identifier: MIT */
#include "cpu_load.h"

#include <string.h>

#include "cpu_transpose.h"

/* `pitch`: bytes from one column to the next. Nothing beyond the tile is read. */
static void load_columns(const unsigned char *in, uint64_t pitch, const struct mxq_cpu_tile *tile) {
  uint8_t lines[8][MXQ_CPU_LINE] = {{0}};
  for (size_t k = 0; k < tile->columns; k += 8) {
    for (size_t j = 0; j < 8 && k + j < tile->columns; ++j)
      memcpy(lines[j], in + (k + j) * pitch, tile->rows);
    for (size_t n = 0; n < tile->rows; n += 8)
      mxq_cpu_transpose8(&lines[0][n], MXQ_CPU_LINE, tile->codes + n * tile->pitch + k,
                         tile->pitch);
  }
}

static void load_rows(const unsigned char *in, uint64_t pitch, const struct mxq_cpu_tile *tile) {
  for (size_t n = 0; n < tile->rows; ++n)
    memcpy(tile->codes + n * tile->pitch, in + n * pitch, tile->columns);
}

/* A byte to two codes that are neighbours along K, the low bits first: in place, so from the last
 * to the first. */
static void unpack_along_k(const struct mxq_cpu_tile *tile) {
  for (size_t n = 0; n < tile->rows; ++n) {
    uint8_t *row = tile->codes + n * tile->pitch;
    for (size_t k = tile->columns / 2; k-- > 0;) {
      const uint8_t pair = row[k];
      row[2 * k] = pair & 15;
      row[2 * k + 1] = pair >> 4;
    }
  }
}

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
  uint64_t offset = mxq_data_offset(variant, shape, 0, place->e, place->n, place->k);
  uint64_t pitch = (uint64_t)(column_major ? shape->n : shape->k);
  struct mxq_cpu_tile bytes = *tile;
  if (code_bits == 4) {
    offset /= 2;
    pitch /= 2;
    *(column_major ? &bytes.rows : &bytes.columns) /= 2;
  }
  (column_major ? load_columns : load_rows)(codes + offset, pitch, &bytes);
  if (code_bits == 4) (column_major ? unpack_along_n : unpack_along_k)(tile);
}
