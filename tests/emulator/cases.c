/* SPDX-License-Identifier: MIT */
#include "cases.h"

#include "axes.h"
#include "schedule.h"

enum { same_e = -1 };

/* Lengths in tiles, and in the steps that a form takes beyond them. */
static const struct {
  int64_t e;
  int64_t tiles_n, steps_n;
  int64_t tiles_k, steps_k;
  int64_t gap_n, gap_e; /* steps between rows and between matrices; same_e: of the same matrix */
  unsigned grid;
} rows[] = {
    /* Four tiles of a matrix, three of them nearly empty, by fewer blocks. */
    {2, 1, 3, 1, 1, 1, 1, 3},
    /* One matrix, ragged both ways, three times as many tiles as blocks and more. */
    {1, 2, 3, 2, 1, 0, 0, 2},
    /* Three matrices with gaps, all by one block. */
    {3, 1, 1, 1, -1, 1, 3, 1},
    /* Many matrices, each less than a tile. */
    {257, 0, 3, 0, 1, 0, 0, 7},
    /* Whole tiles of one matrix that is read twice, each by a block of its own. */
    {2, 1, 0, 1, 0, 0, same_e, 0},
};

struct steps {
  int64_t n, k;   /* of the lengths */
  int64_t stride; /* of the strides */
};

/* The shortest that a form takes. Fast kernels: 16 bytes of the input's rows and of the output's;
 * a row of e2m1 codes makes the longest. */
static struct steps steps_of(const struct mxq_kernel_id *kernel) {
  const struct mxq_traits traits = mxq_traits_of(&kernel->variant);
  const int64_t in = 16 * 8 / traits.in_bits, out = 16 * 8 / traits.out_bits;
  const int64_t packed = 8 / traits.out_bits;
  const int turned = traits.column_major != 0;
  if (mxq_form_facts(kernel)->form == MXQ_FORM_ANY)
    return (struct steps){turned ? packed : 1, turned ? 1 : packed, 1};
  return (struct steps){turned ? out : 1, turned ? in : out, in};
}

int emu_case_at(const struct mxq_kernel_id *kernel, size_t index, struct emu_case *out) {
  if (index >= sizeof rows / sizeof rows[0]) return 0;
  const struct steps step = steps_of(kernel);
  const int64_t n = rows[index].tiles_n * kernel->tile_n + rows[index].steps_n * step.n;
  const int64_t k = rows[index].tiles_k * kernel->tile_k + rows[index].steps_k * step.k;
  out->shape = mxq_shape_dense(rows[index].e, n, k);
  out->shape.stride_n += rows[index].gap_n * step.stride;
  out->shape.stride_e =
      rows[index].gap_e == same_e ? 0 : n * out->shape.stride_n + rows[index].gap_e * step.stride;
  /* Kernels that move rows have a block for each tile. */
  out->grid = mxq_form_facts(kernel)->form == MXQ_FORM_ROW ? 0 : rows[index].grid;
  return 1;
}
