/* SPDX-License-Identifier: MIT */
#include "cpu_store.h"

#include <string.h>

#include "cpu_transpose.h"

/* `out_pitch`: bytes from one column to the next. */
static void store_columns(unsigned char *out, uint64_t out_pitch, const struct mxq_cpu_tile *tile) {
  uint8_t lines[8][MXQ_CPU_LINE];
  for (size_t k = 0; k < tile->columns; k += 8) {
    for (size_t n = 0; n < tile->rows; n += 8)
      mxq_cpu_transpose8(tile->codes + n * tile->pitch + k, tile->pitch, &lines[0][n],
                         MXQ_CPU_LINE);
    for (size_t j = 0; j < 8 && k + j < tile->columns; ++j)
      memcpy(out + (k + j) * out_pitch, lines[j], tile->rows);
  }
}

static void store_rows(unsigned char *out, uint64_t out_pitch, const struct mxq_cpu_tile *tile) {
  for (size_t n = 0; n < tile->rows; ++n)
    memcpy(out + n * out_pitch, tile->codes + n * tile->pitch, tile->columns);
}

/* Two codes of four bits that are neighbours along K to a byte, the first one in the low bits. */
static struct mxq_cpu_tile pack_along_k(const struct mxq_cpu_tile *tile) {
  for (size_t n = 0; n < tile->rows; ++n) {
    uint8_t *row = tile->codes + n * tile->pitch;
    for (size_t k = 0; k < tile->columns / 2; ++k) {
      uint16_t pair;
      memcpy(&pair, row + 2 * k, sizeof pair);
      row[k] = (uint8_t)(pair | pair >> 4);
    }
  }
  return (struct mxq_cpu_tile){tile->codes, tile->rows, tile->columns / 2, tile->pitch};
}

static struct mxq_cpu_tile pack_along_n(const struct mxq_cpu_tile *tile) {
  for (size_t n = 0; n < tile->rows / 2; ++n) {
    uint8_t *to = tile->codes + n * tile->pitch;
    const uint8_t *low = tile->codes + 2 * n * tile->pitch, *high = low + tile->pitch;
    for (size_t k = 0; k < tile->columns; ++k) to[k] = (uint8_t)(low[k] | high[k] << 4);
  }
  return (struct mxq_cpu_tile){tile->codes, tile->rows / 2, tile->columns, tile->pitch};
}

void mxq_cpu_store_codes(const struct mxq_cpu_output *output, const struct mxq_cpu_place *place,
                         const struct mxq_cpu_tile *tile) {
  const struct mxq_shape *shape = output->shape;
  const unsigned kind = mxq_layout_part(output->variant->layout, output->part);
  const int column_major = (kind & MXQ_PART_COLUMN_MAJOR) != 0;
  uint64_t offset =
      mxq_data_offset(output->variant, shape, output->part, place->e, place->n, place->k);
  uint64_t pitch = (uint64_t)(column_major ? shape->n : shape->k);
  struct mxq_cpu_tile bytes = *tile;
  if (output->code_bits == 4) {
    bytes = column_major ? pack_along_n(tile) : pack_along_k(tile);
    offset /= 2;
    pitch /= 2;
  }
  (column_major ? store_columns : store_rows)(output->codes + offset, pitch, &bytes);
}
