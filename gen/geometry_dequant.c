/* SPDX-License-Identifier: MIT
 *
 * Geometry of the kernels that read codes and write values, and of those that move scales.
 */
#include "kernel_id.h"
#include "schedule.h"

enum {
  chunk_bits = 128,   /* output of one thread in one row: one access */
  row_rows = 8,       /* rows of one thread of a row kernel */
  row_registers = 56, /* with 64 the assembler of CUDA 13.0 spills a word for 120a, for no need; */
  packed_registers = 64, /* with 56 it spills what columns of packed codes need */
  tile_elements = 64,    /* elements of one thread of a tile kernel */
  swizzle_align = 1024,  /* its pattern repeats after eight rows of 128 bytes */
  any_threads = 256,
  line_gap = 16, /* bytes between lines of a loaded tile (templates/lines.cuh), and of each chunk */
};

static unsigned align_up(unsigned value, unsigned to) { return (value + to - 1) / to * to; }

/* Blocks of a multiprocessor beyond which a tile kernel is slower (docs/schedules.md). */
static unsigned tile_blocks(const struct mxq_traits *traits, unsigned tile_k) {
  static const struct {
    unsigned in_bits, out_bits, tile_k, blocks;
  } rows[] = {{8, 16, 128, 3}, {8, 16, 64, 5}, {8, 32, 64, 4}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
    if (rows[i].in_bits == traits->in_bits && rows[i].out_bits == traits->out_bits &&
        rows[i].tile_k == tile_k)
      return rows[i].blocks;
  return 0;
}

void mxq_geometry_dequant_tile(const struct mxq_kernel_id *id, struct mxq_geometry *geometry) {
  const struct mxq_traits traits = mxq_traits_of(&id->variant);
  struct mxq_geometry made = {.tile_n = id->tile_n, .tile_k = id->tile_k};
  made.columns_per_thread = chunk_bits / traits.out_bits;
  made.rows_per_thread = 32 / traits.in_bits;
  made.threads = made.tile_n * made.tile_k / tile_elements;
  made.in_bytes = made.tile_n * made.tile_k * traits.in_bits / 8;
  made.out_offset = align_up(made.in_bytes, swizzle_align);
  made.out_bytes = made.tile_n * made.tile_k * traits.out_bits / 8;
  made.barrier_offset = made.out_offset + made.out_bytes;
  made.shared_bytes = made.barrier_offset + 8;
  made.blocks_best = tile_blocks(&traits, made.tile_k);
  mxq_geometry_occupy(&made, 64);
  *geometry = made;
}

void mxq_geometry_dequant_row(const struct mxq_kernel_id *id, struct mxq_geometry *geometry) {
  const struct mxq_traits traits = mxq_traits_of(&id->variant);
  struct mxq_geometry made = {.tile_n = id->tile_n, .tile_k = id->tile_k};
  made.held = chunk_bits / traits.out_bits;
  made.columns_per_thread = made.held;
  made.rows_per_thread = row_rows;
  made.threads = made.tile_n * made.tile_k / (made.held * row_rows);
  mxq_geometry_occupy(&made, traits.in_bits == 4 ? packed_registers : row_registers);
  *geometry = made;
}

void mxq_geometry_dequant_any(const struct mxq_kernel_id *id, struct mxq_geometry *geometry) {
  const struct mxq_traits traits = mxq_traits_of(&id->variant);
  struct mxq_geometry made = {.tile_n = id->tile_n, .tile_k = id->tile_k, .threads = any_threads};
  const unsigned blocks_n = made.tile_n < traits.block_n ? 1 : made.tile_n / traits.block_n;
  const unsigned blocks_k = made.tile_k < traits.block_k ? 1 : made.tile_k / traits.block_k;
  made.columns_per_thread = chunk_bits / traits.out_bits;
  made.rows_per_thread = traits.column_major ? 32 / traits.in_bits : 1;
  const unsigned lines = traits.column_major ? made.tile_k : made.tile_n;
  made.in_bytes = made.tile_n * made.tile_k * traits.in_bits / 8 + lines * line_gap;
  if (traits.column_major) made.in_bytes += lines / made.columns_per_thread * line_gap;
  made.out_offset = align_up(made.in_bytes, swizzle_align);
  made.out_bytes = made.tile_n * made.tile_k * traits.out_bits / 8;
  made.maxima_offset = align_up(made.out_offset + made.out_bytes, 16);
  made.shared_bytes = made.maxima_offset + blocks_n * blocks_k * 4;
  /* Columns of packed codes, and codes of six bits, which no instruction widens, take more. */
  const int six = id->variant.in == MXQ_TYPE_E2M3 || id->variant.in == MXQ_TYPE_E3M2;
  mxq_geometry_occupy(&made, six || (traits.column_major && traits.in_bits == 4) ? 80 : 64);
  *geometry = made;
}

/* A thread for each place of a tile. */
void mxq_geometry_relayout(const struct mxq_kernel_id *id, struct mxq_geometry *geometry) {
  struct mxq_geometry made = {.tile_n = id->tile_n, .tile_k = id->tile_k};
  made.threads = made.tile_n * made.tile_k;
  made.columns_per_thread = 1;
  made.rows_per_thread = 1;
  mxq_geometry_occupy(&made, 32);
  *geometry = made;
}
