/* SPDX-License-Identifier: MIT */
#include "cases.h"

#include "axes.h"

/* Lengths in tiles, and in the steps that the copy engine takes beyond them: sixteen bytes. */
static const struct {
  int64_t e;
  int64_t tiles_n, steps_n;
  int64_t tiles_k, steps_k;
  int64_t gap_n, gap_e; /* steps between rows and between matrices */
  unsigned grid;
} rows[] = {
    /* One matrix, ragged both ways, three times as many tiles as blocks and more. */
    {1, 2, 3, 2, 1, 0, 0, 2},
    /* Three matrices with gaps, all by one block. */
    {3, 1, 1, 1, -1, 1, 3, 1},
    /* Many matrices, each less than a tile. */
    {257, 0, 3, 0, 1, 0, 0, 7},
    /* Whole tiles, each by a block of its own. */
    {2, 1, 0, 1, 0, 0, 0, 0},
};

int emu_case_at(const struct mxq_kernel_id *kernel, size_t index, struct emu_case *out) {
  if (index >= sizeof rows / sizeof rows[0]) return 0;
  /* Outputs of one byte an element or less make the longest steps. */
  const int64_t step = 16 * 8 / (mxq_type_facts(kernel->variant.out)->bits < 8 ? 4 : 8);
  const int64_t n = rows[index].tiles_n * kernel->tile_n + rows[index].steps_n * step;
  const int64_t k = rows[index].tiles_k * kernel->tile_k + rows[index].steps_k * step;
  out->shape = mxq_shape_dense(rows[index].e, n, k);
  out->shape.stride_n += rows[index].gap_n * step;
  out->shape.stride_e = n * out->shape.stride_n + rows[index].gap_e * step;
  out->grid = rows[index].grid;
  return 1;
}
