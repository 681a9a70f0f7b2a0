/* SPDX-License-Identifier: MIT */
#include "cases.h"

#include "axes.h"
#include "schedule.h"

enum { same_e = -1 };

/* Lengths in tiles, and in the steps that a form takes beyond them. */
struct row {
  int64_t e;
  int64_t tiles_n, steps_n;
  int64_t tiles_k, steps_k;
  int64_t gap_n, gap_e; /* steps between rows and between matrices; same_e: an input's are one */
  unsigned grid;
};

static const struct row rows[] = {
    /* Four tiles of a matrix, three of them nearly empty, by fewer blocks. */
    {2, 1, 3, 1, 1, 1, 1, 3},
    /* One matrix, ragged both ways, three times as many tiles as blocks and more. */
    {1, 2, 3, 2, 1, 0, 0, 2},
    /* Three matrices with gaps, all by one block. */
    {3, 1, 1, 1, -1, 1, 3, 1},
    /* One, three and many matrices, each less than a tile. */
    {1, 0, 5, 0, 3, 1, 0, 1},
    {3, 0, 1, 0, 5, 0, 2, 2},
    {257, 0, 3, 0, 1, 0, 0, 7},
    /* Whole tiles of one matrix that is read twice, each by a block of its own. */
    {2, 1, 0, 1, 0, 0, same_e, 0},
};

/* For the wider accesses of generic kernels: a tile whose lines all end early, and one with few
 * lines or, turned, the other way round. Once where all begins at a multiple of 16 bytes, once
 * where the tensors do not. */
static const struct row aligned = {1, 1, 1, 0, 3, 1, 0, 1};

struct steps {
  int64_t n, k;   /* of the lengths */
  int64_t stride; /* of the strides */
};

static int64_t longest(int64_t a, int64_t b) { return a > b ? a : b; }

/* The shortest that a form takes. Fast kernels: 16 bytes of the wide tensor's rows, and of the
 * codes along the axis where they are neighbours, which for two parts is either; e2m1 codes make
 * the longest. Generic ones: a byte of codes. */
static struct steps steps_of(const struct mxq_kernel_id *kernel, int odd) {
  const struct mxq_traits traits = mxq_traits_of(&kernel->variant);
  const int64_t code_bits = traits.dequantize ? traits.in_bits : traits.out_bits;
  const int64_t wide_bits = traits.dequantize ? traits.out_bits : traits.in_bits;
  const int64_t codes = (odd ? 8 : 128) / code_bits, wide = odd ? 1 : 128 / wide_bits;
  const int turned = traits.column_major != 0, straight = !turned || traits.also;
  return (struct steps){turned ? codes : 1, straight ? longest(codes, wide) : wide, wide};
}

int emu_walks(const struct mxq_kernel_id *kernel) {
  return kernel->family == MXQ_FAMILY_ANY || kernel->family == MXQ_FAMILY_RELAYOUT;
}

static int is_generic(const struct mxq_kernel_id *kernel) {
  return kernel->family == MXQ_FAMILY_ANY;
}

size_t emu_cases_small(const struct mxq_kernel_id *kernel) { return is_generic(kernel) ? 2 : 1; }

int emu_case_at(const struct mxq_kernel_id *kernel, size_t index, struct emu_case *out) {
  const size_t row_count = sizeof rows / sizeof rows[0];
  const int generic = is_generic(kernel), shifted = generic && index == row_count + 1;
  const int odd = generic && index != 1 && !shifted;
  if (generic && index > 1) index--;
  if (index >= row_count + (shifted != 0)) return 0;
  const struct row *row = generic && !odd ? &aligned : &rows[index];
  const int moves = kernel->family == MXQ_FAMILY_RELAYOUT; /* whose tile is what a block takes */
  const int64_t tile_n = moves ? 128 : kernel->tile_n, tile_k = moves ? 128 : kernel->tile_k;
  const struct steps step = moves ? (struct steps){7, 5, 1} : steps_of(kernel, odd);
  const int64_t n = row->tiles_n * tile_n + row->steps_n * step.n;
  const int64_t k = row->tiles_k * tile_k + row->steps_k * step.k;
  out->shape = mxq_shape_dense(row->e, n, k);
  out->shape.stride_n += row->gap_n * step.stride;
  const int shared = row->gap_e == same_e && kernel->variant.op == MXQ_OP_QUANTIZE;
  const int64_t gap_e = row->gap_e == same_e ? 0 : row->gap_e;
  out->shape.stride_e = shared ? 0 : n * out->shape.stride_n + gap_e * step.stride;
  out->grid = emu_walks(kernel) ? row->grid : 0;
  out->ahead = shifted || (odd && index % 2);
  return 1;
}
