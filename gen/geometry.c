/* SPDX-License-Identifier: MIT */
#include "axes.h"
#include "kernel_id.h"
#include "schedule.h"

enum {
  swizzle_align = 1024, /* its pattern repeats after eight rows of 128 bytes */
  block_reserve = 1024, /* shared memory that the system takes from every block */
  shared_unit = 1024,   /* of what launches ask for: a multiple of what blocks get it by */
  multiprocessor_shared = 228 * 1024,
  multiprocessor_registers = 64 * 1024,
  multiprocessor_threads = 2048,
  blocks_most = 9,
  split_elements = 64 * 64, /* of a tile that is used where there are few */
  held_rows = 32,           /* rows of a word's column that one thread of a tile holds */
  row_read_bits = 512,
  row_held_bits = 128, /* output of one thread of a row kernel, in one row */
  row_threads = 128,
  strip_registers = 96,
  any_threads = 256,
  line_gap = 16, /* bytes between lines of a generic kernel's tiles (templates/lines_out.cuh) */
};

static unsigned align_up(unsigned value, unsigned to) { return (value + to - 1) / to * to; }
static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }
static unsigned most(unsigned a, unsigned b) { return a > b ? a : b; }

void mxq_geometry_occupy(struct mxq_geometry *geometry, unsigned registers) {
  const unsigned by_shared = multiprocessor_shared / (geometry->shared_bytes + block_reserve);
  const unsigned by_registers = multiprocessor_registers / (geometry->threads * registers);
  const unsigned by_threads = multiprocessor_threads / geometry->threads;
  const unsigned blocks = least(least(by_shared, by_registers), least(by_threads, blocks_most));
  geometry->blocks_per_sm = blocks ? blocks : 1;
}

void mxq_geometry_fit(struct mxq_geometry *geometry, const struct mxq_arch *arch) {
  const unsigned shared = arch->shared_max + block_reserve; /* one block may have the rest */
  const unsigned blocks = shared / (geometry->shared_bytes + block_reserve);
  geometry->blocks_per_sm = least(geometry->blocks_per_sm, most(blocks, 1));
}

unsigned mxq_geometry_asks(const struct mxq_geometry *geometry, const struct mxq_arch *arch) {
  const unsigned shared = arch->shared_max + block_reserve; /* one block may have the rest */
  if (!geometry->blocks_best) return geometry->shared_bytes;
  const unsigned each = shared / geometry->blocks_best / shared_unit * shared_unit - block_reserve;
  return most(geometry->shared_bytes, least(each, arch->shared_max));
}

/* Scales of a tile for a part. */
static unsigned scales_of_tile(const struct mxq_geometry *geometry, unsigned part, unsigned block) {
  const unsigned rows = part & MXQ_PART_ALONG_N ? geometry->tile_n / block : geometry->tile_n;
  return rows * (part & MXQ_PART_ALONG_K ? geometry->tile_k / block : geometry->tile_k);
}

/* Linear scales of the row part of two, as packed ones, leave by tiles (templates/scales.cuh). */
static int is_row_scale_tile(const struct mxq_variant *variant, const struct mxq_traits *traits,
                             unsigned tile_k) {
  return traits->also == MXQ_PART_ALONG_K && variant->scales == MXQ_SCALES_LIN &&
         (mxq_mode_scale_bits(variant->mode) == 8 || tile_k > variant->block);
}

/* Registers of a thread that holds 32 words; storing them by rows, packing them, sharing their
 * block with other threads or reading runs too takes more. Fewer than these spill (tests: kernels).
 */
static unsigned tile_registers(const struct mxq_traits *traits, int large) {
  const int plain = traits->out_bits == 8 && traits->column_major && !traits->along_k;
  if (traits->also) return large || traits->out_bits == 4 ? 64 : 80;
  if (traits->in_bits == 16) return plain ? 64 : 72;
  return traits->out_bits == 4 ? 64 : plain && traits->block_n >= held_rows ? 51 : 60;
}

void mxq_geometry_tile(const struct mxq_kernel_id *id, struct mxq_geometry *geometry) {
  const struct mxq_traits traits = mxq_traits_of(&id->variant);
  const unsigned main_part = mxq_layout_part(id->variant.layout, traits.also ? 1 : 0);
  struct mxq_geometry made = {.tile_n = id->tile_n, .tile_k = id->tile_k};
  const unsigned held_bits = mxq_type_facts((uint8_t)traits.held)->bits;
  made.columns_per_thread = 32 / held_bits;
  made.rows_per_thread = held_rows;
  const unsigned words = made.tile_k / made.columns_per_thread;
  const unsigned row_groups = made.tile_n / held_rows;
  const int shared_block = traits.block_n > held_rows ||
                           (traits.along_k && traits.block_k > 32 * made.columns_per_thread);
  made.threads = words * row_groups;
  /* Each part has threads of its own where those of the other need not be waited for. */
  const int splits = traits.also == MXQ_PART_ALONG_K && traits.held == id->variant.in &&
                     !shared_block && made.tile_n * made.tile_k <= split_elements;
  if (splits) made.threads *= 2;
  made.in_bytes = made.tile_n * made.tile_k * traits.in_bits / 8;
  /* Of a tile that becomes smaller, what it was is over before anything else is written. */
  const unsigned held_bytes = made.tile_n * made.tile_k * held_bits / 8;
  made.out_offset = align_up(made.in_offset + held_bytes, swizzle_align);
  made.out_bytes = made.tile_n * made.tile_k * traits.out_bits / 8;
  made.also_offset = align_up(made.out_offset + made.out_bytes, swizzle_align);
  const unsigned tiles_end =
      traits.also ? made.also_offset + made.out_bytes : made.out_offset + made.out_bytes;
  made.maxima_offset = align_up(tiles_end, 16);
  made.scales_offset = made.maxima_offset + (shared_block ? words * row_groups * 4 : 0);
  unsigned scales = 0;
  if (traits.scale_tiles) scales = scales_of_tile(&made, main_part, id->variant.block);
  if (traits.also && (traits.scale_tiles || is_row_scale_tile(&id->variant, &traits, made.tile_k)))
    scales += scales_of_tile(&made, traits.also, id->variant.block) *
              (mxq_mode_scale_bits(id->variant.mode) / 8);
  made.barrier_offset = align_up(most(made.scales_offset + scales, made.in_bytes), 8);
  made.shared_bytes = made.barrier_offset + 8;
  mxq_geometry_occupy(&made, tile_registers(&traits, made.threads > 256));
  /* Measured: docs/schedules.md. */
  const int large = made.tile_n == 128 && made.tile_k == 128 && !traits.also;
  if (large && traits.column_major && traits.in_bits == 16 && traits.out_bits == 8)
    made.blocks_best = 3;
  *geometry = made;
}

/* Few rows for each thread, in registers alone; maxima of blocks that several warps share, and
 * packed scales, pass through shared memory. */
void mxq_geometry_strip(const struct mxq_kernel_id *id, struct mxq_geometry *geometry) {
  const struct mxq_traits traits = mxq_traits_of(&id->variant);
  const unsigned part = mxq_layout_part(id->variant.layout, 0);
  struct mxq_geometry made = {.tile_n = id->tile_n, .tile_k = id->tile_k};
  made.columns_per_thread = 32 / traits.in_bits;
  made.rows_per_thread = traits.block_n < 64 ? 8 : 16;
  made.threads = made.tile_k / made.columns_per_thread * (made.tile_n / made.rows_per_thread);
  if (traits.along_k) made.scales_offset = made.threads / 32 * 4;
  made.shared_bytes = made.scales_offset;
  if (traits.scale_tiles) made.shared_bytes += scales_of_tile(&made, part, id->variant.block);
  mxq_geometry_occupy(&made, strip_registers);
  *geometry = made;
}

/* Elements of one thread in one row: 16 bytes of codes, but no more than 64 bytes of input. */
unsigned mxq_row_held(const struct mxq_traits *traits) {
  const unsigned by_codes = row_held_bits / traits->out_bits;
  return least(by_codes, row_read_bits / traits->in_bits);
}

/* Registers of a thread of a row kernel. Float scales of f16 take more than 32 (tests: kernels). */
static unsigned row_registers(const struct mxq_variant *variant, const struct mxq_traits *traits) {
  if (traits->in_bits == 32) return 42;
  if (traits->out_bits == 4) return 72;
  return variant->in == MXQ_TYPE_F16 && mxq_mode_scale_bits(variant->mode) == 32 ? 40 : 36;
}

void mxq_geometry_row(const struct mxq_kernel_id *id, struct mxq_geometry *geometry) {
  const struct mxq_traits traits = mxq_traits_of(&id->variant);
  struct mxq_geometry made = {.tile_n = id->tile_n, .tile_k = id->tile_k};
  made.columns_per_thread = 1;
  made.rows_per_thread = 1;
  made.held = mxq_row_held(&traits);
  made.threads = least(row_threads, made.tile_n * made.tile_k / made.held);
  if (traits.scale_tiles)
    made.shared_bytes = scales_of_tile(&made, MXQ_PART_ALONG_K, id->variant.block);
  mxq_geometry_occupy(&made, row_registers(&id->variant, &traits));
  *geometry = made;
}

/* Registers of a thread of a generic kernel that holds 32 words of its tile. More than 64 take
 * float32 in two parts or with packed codes, 16 bits in two parts with float scales, and packed
 * codes of two blocks in a thread. More again take two parts of 16 bits whose codes are packed or
 * that have two blocks in a thread, packed codes of f16, and f16's float scales of squares that
 * fill a thread. The most, which leaves one block a multiprocessor, f16's float scales in two parts
 * with two blocks in a thread. Fewer than these spill (tests: kernels). */
static unsigned any_registers(const struct mxq_variant *variant, const struct mxq_traits *traits) {
  const int packed = traits->out_bits == 4, halves = variant->in == MXQ_TYPE_F16;
  const int floats = mxq_mode_scale_bits(variant->mode) == 32;
  const int two_blocks = traits->block_n < held_rows;
  if (traits->in_bits == 32) return traits->also || packed ? 80 : 64;
  if (packed && halves) return 96;
  if (traits->also && (packed || two_blocks)) return halves && floats ? 168 : 96;
  if (traits->also && floats)
    return halves && traits->along_k && traits->block_n == held_rows ? 96 : 80;
  return packed && two_blocks ? 80 : 64;
}

/* Bytes of the tile that codes leave by, with a gap behind each of its lines. */
static unsigned any_out_bytes(const struct mxq_geometry *geometry,
                              const struct mxq_traits *traits) {
  const unsigned lines = traits->column_major ? geometry->tile_k : geometry->tile_n;
  const unsigned codes = traits->column_major ? geometry->tile_n : geometry->tile_k; /* of a line */
  return lines * (codes * traits->out_bits / 8 + line_gap);
}

/* Two parts use one output tile, and one tile of scales, after each other. */
void mxq_geometry_any(const struct mxq_kernel_id *id, struct mxq_geometry *geometry) {
  const struct mxq_traits traits = mxq_traits_of(&id->variant);
  struct mxq_geometry made = {.tile_n = id->tile_n, .tile_k = id->tile_k};
  made.columns_per_thread = 32 / traits.in_bits;
  made.rows_per_thread = held_rows;
  made.held = mxq_row_held(&traits);
  made.threads = made.tile_k / made.columns_per_thread * (made.tile_n / held_rows);
  made.in_bytes = made.tile_n * (made.tile_k * traits.in_bits / 8 + line_gap);
  made.out_offset = made.in_bytes;
  made.out_bytes = any_out_bytes(&made, &traits);
  made.maxima_offset = align_up(made.out_offset + made.out_bytes, 16);
  const int shared_block = traits.block_n > held_rows ||
                           (traits.along_k && traits.block_k > 32 * made.columns_per_thread);
  made.scales_offset = made.maxima_offset + (shared_block ? made.threads * 4 : 0);
  unsigned scales = 0;
  for (unsigned p = 0; p < 2 && traits.scale_tiles; p++) {
    const unsigned part = mxq_layout_part(id->variant.layout, p);
    if (part != MXQ_PART_NONE)
      scales = most(scales, scales_of_tile(&made, part, id->variant.block));
  }
  made.shared_bytes = made.scales_offset + scales;
  mxq_geometry_occupy(&made, any_registers(&id->variant, &traits));
  *geometry = made;
}

/* Runs are those of rows that begin alike, 128 bits of elements apart, with gaps behind as many
 * rows that keep them in different banks. */
void mxq_geometry_any_row(const struct mxq_kernel_id *id, struct mxq_geometry *geometry) {
  const struct mxq_traits traits = mxq_traits_of(&id->variant);
  struct mxq_geometry made = {.tile_n = id->tile_n, .tile_k = id->tile_k, .threads = any_threads};
  made.columns_per_thread = 32 / traits.in_bits;
  made.rows_per_thread = 1;
  made.held = mxq_row_held(&traits);
  made.in_bytes = made.tile_n * (made.tile_k * traits.in_bits / 8 + line_gap) +
                  made.tile_n / (128 / traits.in_bits) * line_gap;
  made.out_offset = made.in_bytes;
  made.out_bytes = any_out_bytes(&made, &traits);
  made.scales_offset = align_up(made.out_offset + made.out_bytes, 16);
  made.shared_bytes = made.scales_offset;
  if (traits.scale_tiles)
    made.shared_bytes += scales_of_tile(&made, MXQ_PART_ALONG_K, id->variant.block);
  mxq_geometry_occupy(&made, 64);
  *geometry = made;
}

void mxq_geometry_of(const struct mxq_kernel_id *id, struct mxq_geometry *geometry) {
  mxq_form_facts(id)->geometry(id, geometry);
}
