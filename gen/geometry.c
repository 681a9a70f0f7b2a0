/* SPDX-License-Identifier: MIT */
#include "kernel_id.h"
#include "schedule.h"

enum {
  swizzle_align = 1024, /* its pattern repeats after eight rows of 128 bytes */
  block_reserve = 1024, /* shared memory that the system takes from every block */
  multiprocessor_shared = 228 * 1024,
  multiprocessor_registers = 64 * 1024,
  multiprocessor_threads = 2048,
  blocks_most = 8,
  held_rows = 32, /* rows of a word's column that one thread of a tile holds */
  row_read_bits = 512,
  row_held_bits = 128, /* output of one thread of a row kernel */
  any_threads = 256,
};

static unsigned align_up(unsigned value, unsigned to) { return (value + to - 1) / to * to; }
static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* Blocks of a multiprocessor, for which threads may use `registers` each. */
static void occupy(struct mxq_geometry *geometry, unsigned registers) {
  const unsigned by_shared = multiprocessor_shared / (geometry->shared_bytes + block_reserve);
  const unsigned by_registers = multiprocessor_registers / (geometry->threads * registers);
  const unsigned by_threads = multiprocessor_threads / geometry->threads;
  const unsigned blocks = least(least(by_shared, by_registers), least(by_threads, blocks_most));
  geometry->blocks_per_sm = blocks ? blocks : 1;
}

void mxq_geometry_tile(const struct mxq_kernel_id *id, struct mxq_geometry *geometry) {
  const struct mxq_traits traits = mxq_traits_of(&id->variant);
  struct mxq_geometry made = {.tile_n = id->tile_n, .tile_k = id->tile_k};
  made.columns_per_thread = 32 / traits.in_bits;
  made.rows_per_thread = held_rows;
  const unsigned words = made.tile_k / made.columns_per_thread;
  const unsigned row_groups = made.tile_n / held_rows;
  const int shared_block =
      traits.block_n > held_rows || traits.block_k > 32 * made.columns_per_thread;
  made.threads = words * row_groups;
  made.in_bytes = made.tile_n * made.tile_k * traits.in_bits / 8;
  made.out_offset = align_up(made.in_offset + made.in_bytes, swizzle_align);
  made.out_bytes = made.tile_n * made.tile_k * traits.out_bits / 8;
  made.maxima_offset = align_up(made.out_offset + made.out_bytes, 16);
  made.barrier_offset = made.maxima_offset + (shared_block ? words * row_groups * 4 : 0);
  made.shared_bytes = made.barrier_offset + 8;
  /* A word's 32 rows are 32 registers; storing them by rows, packing them or sharing their block
   * with other threads takes more. Fewer than these spill (tests: kernels). */
  const int plain = traits.out_bits == 8 && traits.column_major && !traits.along_k;
  const unsigned words16 = plain ? 64 : 72, words32 = traits.out_bits == 4 ? 64 : plain ? 51 : 60;
  occupy(&made, traits.in_bits == 16 ? words16 : words32);
  *geometry = made;
}

/* Elements of one thread: 16 bytes of codes, but no more than 64 bytes of input. */
unsigned mxq_row_held(const struct mxq_traits *traits) {
  const unsigned by_codes = row_held_bits / traits->out_bits;
  return least(by_codes, row_read_bits / traits->in_bits);
}

void mxq_geometry_row(const struct mxq_kernel_id *id, struct mxq_geometry *geometry) {
  const struct mxq_traits traits = mxq_traits_of(&id->variant);
  const unsigned held = mxq_row_held(&traits);
  struct mxq_geometry made = {.tile_n = id->tile_n, .tile_k = id->tile_k};
  made.columns_per_thread = 1;
  made.rows_per_thread = 1;
  made.threads = made.tile_n * made.tile_k / held;
  made.held = held;
  occupy(&made, traits.out_bits == 4 && traits.in_bits == 16 ? 72 : traits.in_bits == 32 ? 42 : 36);
  *geometry = made;
}

void mxq_geometry_any(const struct mxq_kernel_id *id, struct mxq_geometry *geometry) {
  const struct mxq_traits traits = mxq_traits_of(&id->variant);
  struct mxq_geometry made = {.tile_n = id->tile_n, .tile_k = id->tile_k, .threads = any_threads};
  const unsigned blocks = made.tile_n / traits.block_n * (made.tile_k / traits.block_k);
  made.columns_per_thread = 1;
  made.rows_per_thread = 1;
  made.in_bytes = made.tile_n * (made.tile_k * traits.in_bits / 8 + 4);
  made.maxima_offset = align_up(made.in_bytes, 16);
  made.shared_bytes = made.maxima_offset + blocks * 4;
  occupy(&made, 40);
  *geometry = made;
}

void mxq_geometry_of(const struct mxq_kernel_id *id, struct mxq_geometry *geometry) {
  mxq_form_facts(id)->geometry(id, geometry);
}
