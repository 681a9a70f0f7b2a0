/* SPDX-License-Identifier: MIT */
#include "move.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "axes.h"
#include "cpu.h"
#include "scale_plan.h"
#include "shape.h"
#include "support.h"

/* From or to `lin`; a variant's first part. */
struct move {
  const struct emu_trial *trial;
  struct mxq_relayout_args args;
  uint64_t sizes[2]; /* of source and destination */
  struct support_buffer source, result, expected;
  struct emu_region regions[2];
  struct mxq_relayout_launch launch;
};

static struct mxq_variant with_scales(const struct move *move, unsigned scales) {
  struct mxq_variant variant = move->args.variant;
  variant.scales = (uint8_t)scales;
  return variant;
}

static void describe(struct move *move) {
  const struct mxq_shape *shape = &move->args.shape;
  const int to_lin = move->args.to == MXQ_SCALES_LIN;
  const struct mxq_variant packed = with_scales(move, move->trial->kernel.variant.scales);
  const struct mxq_scale_grid grid = mxq_scale_grid_of(&packed, shape, 0);
  const struct mxq_scale_plan plan =
      mxq_scale_plan_of(&packed, 0, (uint64_t)shape->n, (uint64_t)shape->k);
  const unsigned bytes = mxq_mode_scale_bits(packed.mode) / 8;
  const uint64_t of_matrix = move->sizes[1] / (uint64_t)shape->e / bytes;
  const int square = grid.block_n > 1 && grid.block_k > 1;
  move->launch = (struct mxq_relayout_launch){
      .src = move->args.src,
      .dst = move->args.dst,
      .rows = grid.rows,
      .columns = grid.columns,
      .lines = grid.rows_along_k ? grid.blocks_k : grid.blocks_n,
      .block = square ? packed.block : 1,
      .stride_e = plan.stride_e,
      .pitch = plan.pitch,
      .places_e = !to_lin && bytes == 1 ? of_matrix / 4 : of_matrix,
      .columns_inner = !grid.rows_along_k,
      .squares = (unsigned)square,
      .to_lin = (unsigned)to_lin,
  };
  move->launch.places = move->launch.places_e * (uint64_t)shape->e;
}

/* Padding of the source, and copies beside the first, are not read. */
static void mark_source(struct move *move) {
  const struct mxq_variant from = with_scales(move, move->args.from);
  const struct mxq_shape *shape = &move->args.shape;
  const struct mxq_scale_grid grid = mxq_scale_grid_of(&from, shape, 0);
  const uint64_t bytes = mxq_mode_scale_bits(from.mode) / 8;
  for (uint64_t e = 0; e < (uint64_t)shape->e; e++)
    for (uint64_t n = 0; n < (uint64_t)shape->n; n += grid.block_n)
      for (uint64_t k = 0; k < (uint64_t)shape->k; k += grid.block_k)
        for (uint64_t i = 0; i < bytes; i++)
          move->regions[0].marks[mxq_scale_offset(&from, shape, 0, e, n, k) * bytes + i].real = 1;
}

static struct emu_region region_of(const char *name, void *base, uint64_t size, int writable) {
  struct emu_region region = {name, base, size, writable, calloc(size + 1, sizeof *region.marks)};
  if (!region.marks) abort();
  return region;
}

/* Bytes need no alignment: odd seeds begin behind one. */
static void allocate(struct move *move) {
  const unsigned bits = mxq_mode_scale_bits(move->args.variant.mode);
  const uint64_t shift = bits == 8 ? move->trial->seed % 2 : 0;
  uint64_t random = move->trial->seed;
  move->source = support_buffer_make(move->sizes[0] + shift);
  move->result = support_buffer_make(move->sizes[1] + shift);
  move->expected = support_buffer_make(move->sizes[1]);
  for (size_t i = 0; i < move->source.size; i++)
    move->source.data[i] = (unsigned char)(support_random(&random) >> 40);
  move->args.src = move->source.data + shift;
  move->args.dst = move->expected.data;
  mxq_cpu_relayout(&move->args);
  move->args.dst = move->result.data + shift;
  move->regions[0] = region_of("src", move->source.data + shift, move->sizes[0], 0);
  move->regions[1] = region_of("dst", move->result.data + shift, move->sizes[1], 1);
}

static enum emu_verdict compare(const struct move *move, char text[EMU_TEXT]) {
  char writer[256];
  for (uint64_t i = 0; i < move->sizes[1]; i++) {
    if (move->regions[1].base[i] == move->expected.data[i]) continue;
    emu_region_describe(&move->regions[1], i, writer, sizeof writer);
    snprintf(text, EMU_TEXT, "0x%02X, not 0x%02X: %s", move->regions[1].base[i],
             move->expected.data[i], writer);
    return EMU_HAZARD;
  }
  return EMU_CLEAN;
}

static enum emu_verdict run(struct move *move, char text[EMU_TEXT]) {
  struct mxq_geometry geometry;
  mxq_geometry_of(&move->trial->kernel, &geometry);
  allocate(move);
  mark_source(move);
  describe(move);
  const uint64_t blocks = mxq_ceil_div(move->launch.places, geometry.threads);
  const struct emu_launch launch = {
      .kernel = move->trial->function,
      .args = &move->launch,
      .threads = geometry.threads,
      .grid = move->trial->grid ? move->trial->grid : (unsigned)blocks,
      .seed = move->trial->seed,
      .regions = move->regions,
      .region_count = 2};
  const enum emu_verdict verdict = emu_launch_run(&launch, text) ? compare(move, text) : EMU_HAZARD;
  for (int i = 0; i < 2; i++) free(move->regions[i].marks);
  support_buffer_free(&move->source);
  support_buffer_free(&move->result);
  support_buffer_free(&move->expected);
  return verdict;
}

static int too_large(const struct move *move, char text[EMU_TEXT]) {
  enum { bytes_max = 1 << 22 };
  const uint64_t bytes = move->sizes[0] + move->sizes[1];
  if (bytes <= bytes_max) return 0;
  snprintf(text, EMU_TEXT,
           "%" PRIu64
           " bytes of scales: more than the %d that the emulator moves; give a smaller "
           "shape",
           bytes, bytes_max);
  return 1;
}

static int has_sizes(struct move *move) {
  const unsigned scales[2] = {move->args.from, move->args.to};
  for (int i = 0; i < 2; i++) {
    const struct mxq_variant variant = with_scales(move, scales[i]);
    if (mxq_variant_check(&variant) != MXQ_OK ||
        mxq_shape_scale_bytes(&variant, &move->args.shape, 0, &move->sizes[i]) != MXQ_OK)
      return 0;
  }
  return move->sizes[0] > 0;
}

enum emu_verdict emu_move_run(const struct emu_trial *trial, char text[EMU_TEXT]) {
  const struct mxq_axis_value *layout, *block;
  const unsigned packed = trial->kernel.variant.scales;
  enum emu_verdict verdict = EMU_CLEAN;
  text[0] = 0;
  for (size_t l = 0; (layout = mxq_axis_at(MXQ_AXIS_LAYOUT, MXQ_OP_DEQUANTIZE, l)); l++)
    for (size_t b = 0; (block = mxq_axis_at(MXQ_AXIS_BLOCK, MXQ_OP_DEQUANTIZE, b)); b++)
      for (int back = 0; verdict == EMU_CLEAN && back < 2; back++) {
        struct move move = {.trial = trial};
        move.args = (struct mxq_relayout_args){
            .variant = trial->kernel.variant,
            .shape = mxq_shape_dense(trial->shape.e, trial->shape.n, trial->shape.k),
            .from = back ? packed : MXQ_SCALES_LIN,
            .to = back ? MXQ_SCALES_LIN : packed};
        move.args.variant.layout = (uint8_t)layout->number;
        move.args.variant.block = (uint8_t)block->number;
        if (!has_sizes(&move)) continue;
        verdict = too_large(&move, text) ? EMU_UNFIT : run(&move, text);
      }
  return verdict;
}
