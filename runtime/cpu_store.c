/* SPDX-License-Identifier: MIT */
#include "cpu_store.h"

#include <string.h>

#include "cpu_transpose.h"

/* `out_pitch`: bytes from one column to the next. */
static void store_columns(unsigned char *out, uint64_t out_pitch, const struct mxq_cpu_tile *tile) {
  enum { COLUMNS = 64 };
  uint8_t lines[COLUMNS][MXQ_CPU_LINE];
  for (size_t k = 0; k < tile->columns; k += COLUMNS) {
    const size_t columns = tile->columns - k < COLUMNS ? tile->columns - k : COLUMNS;
    for (size_t n = 0; n < tile->rows; n += MXQ_CPU_TRANSPOSED)
      mxq_cpu_transpose(tile->codes + n * tile->pitch + k, tile->pitch, columns, &lines[0][n],
                        MXQ_CPU_LINE);
    for (size_t j = 0; j < columns; ++j) memcpy(out + (k + j) * out_pitch, lines[j], tile->rows);
  }
}

/* Two codes of four bits that are neighbours along K to a byte, the first one in the low bits. */
static void pack_row(const uint8_t *codes, size_t bytes, uint8_t *restrict out) {
  for (size_t i = 0; i < bytes; ++i) {
    uint16_t pair;
    memcpy(&pair, codes + 2 * i, sizeof pair);
    out[i] = (uint8_t)(pair | pair >> 4);
  }
}

/* Two that are neighbours along N: in place. */
static struct mxq_cpu_tile pack_along_n(const struct mxq_cpu_tile *tile) {
  for (size_t n = 0; n < tile->rows / 2; ++n) {
    uint8_t *to = tile->codes + n * tile->pitch;
    const uint8_t *low = tile->codes + 2 * n * tile->pitch, *high = low + tile->pitch;
    for (size_t k = 0; k < tile->columns; ++k) to[k] = (uint8_t)(low[k] | high[k] << 4);
  }
  return (struct mxq_cpu_tile){tile->codes, tile->rows / 2, tile->columns, tile->pitch};
}

static int is_column_major(const struct mxq_cpu_output *output) {
  return (mxq_layout_part(output->variant->layout, output->part) & MXQ_PART_COLUMN_MAJOR) != 0;
}

static uint64_t offset_of(const struct mxq_cpu_output *output, const struct mxq_cpu_place *place) {
  return mxq_data_offset(output->variant, output->shape, output->part, place->e, place->n,
                         place->k);
}

struct mxq_cpu_tile mxq_cpu_tile_at(const struct mxq_cpu_output *output,
                                    const struct mxq_cpu_place *place, size_t rows, size_t columns,
                                    uint8_t *buffer, size_t pitch) {
  struct mxq_cpu_tile tile = {buffer, rows, columns, pitch};
  if (output->code_bits == 8 && !is_column_major(output)) {
    tile.codes = output->codes + offset_of(output, place);
    tile.pitch = (size_t)output->shape->k;
  }
  return tile;
}

void mxq_cpu_store_codes(const struct mxq_cpu_output *output, const struct mxq_cpu_place *place,
                         const struct mxq_cpu_tile *tile) {
  const unsigned codes_per_byte = 8 / output->code_bits;
  unsigned char *out = output->codes + offset_of(output, place) / codes_per_byte;
  if (is_column_major(output)) {
    const struct mxq_cpu_tile bytes = codes_per_byte == 2 ? pack_along_n(tile) : *tile;
    store_columns(out, (uint64_t)output->shape->n / codes_per_byte, &bytes);
  } else if (tile->codes != out) { /* not in place already */
    for (size_t n = 0; n < tile->rows; ++n)
      pack_row(tile->codes + n * tile->pitch, tile->columns / 2,
               out + n * ((uint64_t)output->shape->k / 2));
  }
}
