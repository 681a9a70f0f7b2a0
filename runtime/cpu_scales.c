/* SPDX-License-Identifier: MIT */
#include "cpu_scales.h"

#include <string.h>

#include "checked.h"
#include "shape.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "storing scales takes the first byte as the lowest");

enum { TILE_ROWS = 128, TILE_COLUMNS = 4, TILE_BYTES = TILE_ROWS * TILE_COLUMNS };

/* Contract, section 4: the place of the scale at row r and column c of matrix e, in scales. For
 * `lin` r and c are those of blocks along N and K. */
static uint64_t place_lin(const struct mxq_cpu_scales *s, uint64_t e, uint64_t r, uint64_t c) {
  return (e * s->grid.blocks_n + r) * s->grid.blocks_k + c;
}

/* Tiles of 128 rows and 4 columns; in a tile four bytes a row, rows 0, 32, 64, 96 first. */
static uint64_t place_blk(const struct mxq_cpu_scales *s, uint64_t e, uint64_t r, uint64_t c) {
  const uint64_t tile = (e * (s->tall / TILE_ROWS) + r / TILE_ROWS) * s->quads + c / TILE_COLUMNS;
  return tile * TILE_BYTES + r % 32 * 16 + r % TILE_ROWS / 32 * 4 + c % 4;
}

/* Words of four columns, the words of one row after the other. */
static uint64_t place_words(const struct mxq_cpu_scales *s, uint64_t e, uint64_t r, uint64_t c) {
  return ((e * s->quads + c / 4) * s->tall + r) * 4 + c % 4;
}

static uint64_t place_floats(const struct mxq_cpu_scales *s, uint64_t e, uint64_t r, uint64_t c) {
  return (e * s->grid.columns + c) * s->tall + r;
}

/* Square blocks: a row of blocks, its columns contiguous; r is the first row of its block. */
static uint64_t place_squares(const struct mxq_cpu_scales *s, uint64_t e, uint64_t r, uint64_t c) {
  return (e * s->tall + r / s->grid.block_n) * s->quads * 4 + c;
}

static uint64_t place_of(const struct mxq_cpu_scales *s, uint64_t e, uint64_t block_n,
                         uint64_t block_k) {
  if (s->place == place_lin) return place_lin(s, e, block_n, block_k);
  if (s->grid.rows_along_k) return s->place(s, e, block_k * s->grid.block_k, block_n);
  return s->place(s, e, block_n * s->grid.block_n, block_k);
}

static void put(const struct mxq_cpu_scales *s, uint64_t place, uint32_t value) {
  memcpy(s->bytes + place * s->scale_bytes, &value, s->scale_bytes);
}

/* Scales one after the other. */
static void put_line(const struct mxq_cpu_scales *s, uint64_t place, size_t count,
                     const uint32_t *restrict values) {
  if (s->scale_bytes == sizeof *values) {
    memcpy(s->bytes + place * sizeof *values, values, count * sizeof *values);
    return;
  }
  for (size_t i = 0; i < count; ++i) s->bytes[place + i] = (unsigned char)values[i];
}

static void get_line(const struct mxq_cpu_scales *s, uint64_t place, size_t count,
                     uint32_t *restrict values) {
  if (s->scale_bytes == sizeof *values) {
    memcpy(values, s->bytes + place * sizeof *values, count * sizeof *values);
    return;
  }
  for (size_t i = 0; i < count; ++i) values[i] = s->bytes[place + i];
}

/* A scale into each of the rows that it covers. */
static void put_copies(const struct mxq_cpu_scales *s, uint64_t e, uint64_t block_n,
                       uint64_t block_k, uint32_t value) {
  const uint64_t first = (s->grid.rows_along_k ? block_k : block_n) * s->copies;
  const uint64_t column = s->grid.rows_along_k ? block_n : block_k;
  for (uint64_t r = first; r < first + s->copies && r < s->grid.rows; ++r)
    put(s, s->place(s, e, r, column), value);
}

void mxq_cpu_scales_of(const struct mxq_variant *variant, const struct mxq_shape *shape,
                       unsigned part, void *bytes, struct mxq_cpu_scales *scales) {
  const int floats = mxq_mode_scale_bits(variant->mode) == 32;
  const struct mxq_scale_grid grid = mxq_scale_grid_of(variant, shape, part);
  const int square = grid.block_n > 1 && grid.block_k > 1;
  *scales = (struct mxq_cpu_scales){.bytes = bytes,
                                    .grid = grid,
                                    .scale_bytes = floats ? 4 : 1,
                                    .e = (uint64_t)shape->e,
                                    .place = place_lin,
                                    .tall = mxq_round_up(grid.rows, 4),
                                    .quads = mxq_round_up(grid.columns, 4) / 4,
                                    .copies = 1};
  scales->count = scales->e * mxq_shape_scales(variant, shape, part);
  if (variant->scales == MXQ_SCALES_LIN) return;
  if (square && !floats) scales->copies = grid.block_n;
  if (variant->scales == MXQ_SCALES_BLK) {
    scales->place = place_blk;
    scales->tall = mxq_round_up(grid.rows, TILE_ROWS);
    return;
  }
  scales->place = floats ? place_floats : place_words;
  if (!square || !floats) return;
  scales->place = place_squares;
  scales->tall = grid.rows_along_k ? grid.blocks_k : grid.blocks_n;
}

void mxq_cpu_scales_pad(const struct mxq_cpu_scales *scales) {
  if (scales->place != place_lin) memset(scales->bytes, 0, scales->count * scales->scale_bytes);
}

void mxq_cpu_scales_store(const struct mxq_cpu_scales *scales, uint64_t e, uint64_t block_n,
                          uint64_t block_k, size_t count, const uint32_t *values) {
  if (scales->place == place_lin) {
    put_line(scales, place_lin(scales, e, block_n, block_k), count, values);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    if (scales->copies > 1)
      put_copies(scales, e, block_n, block_k + i, values[i]);
    else
      put(scales, place_of(scales, e, block_n, block_k + i), values[i]);
  }
}

void mxq_cpu_scales_load(const struct mxq_cpu_scales *scales, uint64_t e, uint64_t block_n,
                         uint64_t block_k, size_t count, uint32_t *values) {
  if (scales->place == place_lin) {
    get_line(scales, place_lin(scales, e, block_n, block_k), count, values);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    const uint64_t place = place_of(scales, e, block_n, block_k + i);
    values[i] = 0;
    memcpy(&values[i], scales->bytes + place * scales->scale_bytes, scales->scale_bytes);
  }
}

void mxq_cpu_scales_copy(const struct mxq_cpu_scales *from, const struct mxq_cpu_scales *to) {
  mxq_cpu_scales_pad(to);
  for (uint64_t e = 0; e < from->e; ++e)
    for (uint64_t n = 0; n < from->grid.blocks_n; ++n)
      for (uint64_t k = 0; k < from->grid.blocks_k; ++k) {
        uint32_t value;
        mxq_cpu_scales_load(from, e, n, k, 1, &value);
        mxq_cpu_scales_store(to, e, n, k, 1, &value);
      }
}
