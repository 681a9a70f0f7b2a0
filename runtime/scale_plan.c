/* SPDX-License-Identifier: MIT */
#include "scale_plan.h"

#include "axes.h"
#include "checked.h"

/* A part's scales: R rows of C columns, and which axis the rows lie along. */
struct extent {
  uint64_t rows, columns;
  uint64_t lines; /* rows of blocks: fewer than rows where blocks are square */
  int rows_n;
  int square;
};

static struct extent extent_of(unsigned part, uint64_t block, uint64_t n, uint64_t k) {
  const int square = (part & MXQ_PART_ALONG_N) && (part & MXQ_PART_ALONG_K);
  const int rows_n = !(part & MXQ_PART_ALONG_N) || (square && !(part & MXQ_PART_COLUMN_MAJOR));
  const uint64_t rows = rows_n ? n : k, columns = mxq_ceil_div(rows_n ? k : n, block);
  return (struct extent){rows, columns, square ? mxq_ceil_div(rows, block) : rows, rows_n, square};
}

static int is_packed(const struct mxq_variant *variant) {
  return mxq_mode_facts(variant->mode)->scale_bits == 8;
}

struct mxq_scale_plan mxq_scale_plan_of(const struct mxq_variant *variant, unsigned part,
                                        uint64_t n, uint64_t k) {
  const unsigned kind = mxq_layout_part(variant->layout, part);
  const struct extent of = extent_of(kind, variant->block, n, k);
  const uint64_t quads = mxq_ceil_div(of.columns, 4);
  const uint64_t rows4 = mxq_round_up(of.rows, 4);
  if (variant->scales == MXQ_SCALES_BLK)
    return (struct mxq_scale_plan){mxq_round_up(of.rows, 128) * quads * 4, quads};
  if (variant->scales == MXQ_SCALES_LIN)
    return (struct mxq_scale_plan){of.lines * of.columns, of.rows_n ? of.columns : of.lines};
  if (is_packed(variant)) return (struct mxq_scale_plan){quads * rows4 * 4, rows4};
  if (of.square) return (struct mxq_scale_plan){of.lines * quads * 4, quads * 4};
  return (struct mxq_scale_plan){of.columns * rows4, rows4};
}

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

struct mxq_scale_cover mxq_scale_cover(const struct mxq_variant *variant, uint64_t n, uint64_t k) {
  struct mxq_scale_cover cover = {n, k};
  if (variant->scales == MXQ_SCALES_LIN || variant->op == MXQ_OP_DEQUANTIZE) return cover;
  for (unsigned p = 0; p < 2; p++) {
    const unsigned part = mxq_layout_part(variant->layout, p);
    if (!part) continue;
    const struct extent of = extent_of(part, variant->block, n, k);
    const int pads_columns = is_packed(variant) || of.square;
    const uint64_t rows =
        variant->scales == MXQ_SCALES_BLK ? mxq_round_up(of.rows, 128) : mxq_round_up(of.rows, 4);
    const uint64_t columns =
        pads_columns ? mxq_round_up(of.columns, 4) * variant->block : of.columns;
    cover.n = most(cover.n, of.rows_n ? rows : columns);
    cover.k = most(cover.k, of.rows_n ? columns : rows);
  }
  return cover;
}
