/* SPDX-License-Identifier: MIT */
#include "cpu_store.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "transposing words and storing scales take the first byte as the lowest");

/* One step of transposing 8 x 8 bytes, a word a row: exchanges the upper right and lower left
 * quarters of each square of 2 * `distance` rows; `low` has the left columns of each. */
static inline void exchange(uint64_t w[8], unsigned distance, uint64_t low) {
  for (unsigned i = 0; i < 8; ++i) {
    if (i & distance) continue;
    const uint64_t a = w[i], b = w[i + distance];
    w[i] = (a & low) | (b & low) << 8 * distance;
    w[i + distance] = (a >> 8 * distance & low) | (b & ~low);
  }
}

/* to[j][i] = from[i][j] */
static void transpose8(const uint8_t *from, uint8_t *to) {
  uint64_t w[8];
  for (size_t i = 0; i < 8; ++i) memcpy(&w[i], from + i * MXQ_CPU_TILE, 8);
  exchange(w, 4, UINT64_C(0x00000000FFFFFFFF));
  exchange(w, 2, UINT64_C(0x0000FFFF0000FFFF));
  exchange(w, 1, UINT64_C(0x00FF00FF00FF00FF));
  for (size_t j = 0; j < 8; ++j) memcpy(to + j * MXQ_CPU_TILE, &w[j], 8);
}

static void store_columns(unsigned char *out, uint64_t pitch, size_t rows, size_t columns,
                          const uint8_t codes[MXQ_CPU_TILE][MXQ_CPU_TILE]) {
  uint8_t lines[8][MXQ_CPU_TILE];
  for (size_t k = 0; k < columns; k += 8) {
    for (size_t n = 0; n < rows; n += 8) transpose8(&codes[n][k], &lines[0][n]);
    for (size_t j = 0; j < 8 && k + j < columns; ++j) memcpy(out + (k + j) * pitch, lines[j], rows);
  }
}

static void store_rows(unsigned char *out, uint64_t pitch, size_t rows, size_t columns,
                       const uint8_t codes[MXQ_CPU_TILE][MXQ_CPU_TILE]) {
  for (size_t n = 0; n < rows; ++n) memcpy(out + n * pitch, codes[n], columns);
}

void mxq_cpu_store_codes(const struct mxq_cpu_output *output, const struct mxq_cpu_place *place,
                         size_t rows, size_t columns,
                         const uint8_t codes[MXQ_CPU_TILE][MXQ_CPU_TILE]) {
  const struct mxq_shape *shape = output->shape;
  unsigned char *out = output->codes + mxq_data_offset(output->variant, shape, output->part,
                                                       place->e, place->n, place->k);
  if (mxq_layout_part(output->variant->layout, output->part) & MXQ_PART_COLUMN_MAJOR)
    store_columns(out, (uint64_t)shape->n, rows, columns, codes);
  else
    store_rows(out, (uint64_t)shape->k, rows, columns, codes);
}

void mxq_cpu_store_scales(const struct mxq_cpu_output *output, const struct mxq_cpu_place *place,
                          size_t count, const uint32_t *scales) {
  unsigned char *out =
      output->scales + output->scale_bytes * mxq_scale_offset(output->variant, output->shape,
                                                              output->part, place->e, place->n,
                                                              place->k);
  for (size_t i = 0; i < count; ++i)
    memcpy(out + i * output->scale_bytes, &scales[i], output->scale_bytes);
}
