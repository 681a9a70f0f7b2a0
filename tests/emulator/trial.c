/* SPDX-License-Identifier: MIT */
#include "trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "cpu.h"
#include "inputs.h"
#include "kernel_args.h"
#include "map.h"
#include "move.h"
#include "support.h"

enum { regions_max = 6, tile_steps = 2000000 /* twenty times what a block does for a tile */ };

/* Of all tensors together: a byte of them takes some 15 of memory. */
static const uint64_t bytes_max = UINT64_C(1) << 25;

/* Everything of one trial that is freed at its end. */
struct bench {
  struct mxq_tensor_plan plan;
  union mxq_kernel_args args;
  struct support_tensors tensors, expected;
  struct emu_region regions[regions_max];
  size_t region_count;
};

static int encode(const struct mxq_map_plan *map, const char *which, const void *base,
                  struct mxq_tensor_map *to, char text[EMU_TEXT]) {
  char why[EMU_TEXT];
  if (emu_map_encode(map, base, to, why)) return 1;
  snprintf(text, EMU_TEXT, "%s map: %.2000s", which, why);
  return 0;
}

/* What the runtime's plan does on a device, with the encoder here. */
static int fill_args(struct bench *bench, char text[EMU_TEXT]) {
  const struct mxq_tensor_plan *plan = &bench->plan;
  const struct mxq_pointers pointers = support_tensors_pointers(&bench->tensors);
  mxq_kernel_args_fill(plan, &bench->args);
  mxq_kernel_args_point(plan, &pointers, &bench->args);
  if (plan->in.rank && !encode(&plan->in, "input", pointers.in, &bench->args.tile.in, text))
    return 0;
  for (unsigned part = 0; part < 2; part++) {
    if (!plan->out[part].rank) continue;
    struct mxq_tensor_map *map = mxq_kernel_args_out_map(plan, part, &bench->args);
    if (!encode(&plan->out[part], "output", pointers.out[part], map, text)) return 0;
  }
  return 1;
}

static void add_region(struct bench *bench, const char *name, const struct support_buffer *buffer,
                       int writable) {
  struct emu_region *region = &bench->regions[bench->region_count];
  if (!buffer->size) return;
  *region = (struct emu_region){name, buffer->data, buffer->size, writable, NULL};
  region->marks = calloc(buffer->size, sizeof *region->marks);
  if (!region->marks) abort();
  bench->region_count++;
}

/* The bytes of the wide tensor that belong to elements, and not to the gaps of its strides. */
static void mark_elements(const struct emu_trial *trial, uint64_t bits, struct emu_region *wide) {
  const struct mxq_shape *shape = &trial->shape;
  const uint64_t bytes = bits / 8;
  for (int64_t e = 0; e < shape->e; e++)
    for (int64_t n = 0; n < shape->n; n++) {
      const uint64_t stride_e = shape->e > 1 ? (uint64_t)shape->stride_e : 0;
      const uint64_t stride_n = shape->n > 1 ? (uint64_t)shape->stride_n : 0;
      const uint64_t row = (uint64_t)e * stride_e + (uint64_t)n * stride_n;
      for (uint64_t i = 0; i < (uint64_t)shape->k * bytes; i++)
        wide->marks[row * bytes + i].real = 1;
    }
  for (uint64_t i = 0; i < wide->size; i++) wide->marks[i].gap = !wide->marks[i].real;
}

static void mark_all(struct emu_region *dense) {
  for (uint64_t i = 0; i < dense->size; i++) dense->marks[i].real = 1;
}

/* Scales of padding may be read, and come to nothing: they hold anything. */
static void add_regions(const struct emu_trial *trial, struct bench *bench) {
  static const char *const outs[] = {"out[0]", "out[1]"}, *const scales[] = {"scale[0]",
                                                                             "scale[1]"};
  const struct mxq_variant *variant = &trial->kernel.variant;
  const int dequantize = variant->op == MXQ_OP_DEQUANTIZE;
  const unsigned char *wide = dequantize ? bench->tensors.out[0].data : bench->tensors.in.data;
  const uint64_t bits = mxq_type_facts(dequantize ? variant->out : variant->in)->bits;
  add_region(bench, "in", &bench->tensors.in, 0);
  add_region(bench, "in_scale", &bench->tensors.in_scale, 0);
  for (int part = 0; part < 2; part++) {
    add_region(bench, outs[part], &bench->tensors.out[part], 1);
    add_region(bench, scales[part], &bench->tensors.scale[part], 1);
  }
  for (size_t i = 0; i < bench->region_count; i++)
    if (bench->regions[i].base == wide)
      mark_elements(trial, bits, &bench->regions[i]);
    else
      mark_all(&bench->regions[i]);
}

static int guards_whole(const struct support_tensors *tensors) {
  int whole = support_buffer_guards(&tensors->in, "in") &
              support_buffer_guards(&tensors->in_scale, "in_scale");
  for (int part = 0; part < 2; part++) {
    whole &= support_buffer_guards(&tensors->out[part], "out");
    whole &= support_buffer_guards(&tensors->scale[part], "scale");
  }
  return whole;
}

static enum emu_verdict launch(const struct emu_trial *trial, struct bench *bench,
                               char text[EMU_TEXT]) {
  const struct mxq_geometry *geometry = &bench->plan.geometry;
  const unsigned grid = trial->grid ? trial->grid : bench->plan.grid;
  const struct emu_launch launch = {.kernel = trial->function,
                                    .args = &bench->args,
                                    .threads = geometry->threads,
                                    .grid = grid,
                                    .shared_bytes = geometry->shared_bytes,
                                    .seed = trial->seed,
                                    .steps = (bench->plan.tiles / grid + 2) * tile_steps,
                                    .regions = bench->regions,
                                    .region_count = bench->region_count};
  if (geometry->threads > trial->threads) {
    snprintf(text, EMU_TEXT, "the host launches %u threads; the kernel is bound to %u",
             geometry->threads, trial->threads);
    return EMU_HAZARD;
  }
  return emu_launch_run(&launch, text) ? EMU_CLEAN : EMU_HAZARD;
}

/* Who wrote the first byte that differs. */
static void name_writer(const struct bench *bench, char text[EMU_TEXT]) {
  const struct support_tensors *wrong = &bench->tensors, *right = &bench->expected;
  for (size_t r = 0; r < bench->region_count; r++) {
    const struct emu_region *region = &bench->regions[r];
    for (int part = 0; part < 2; part++) {
      const unsigned char *expected = region->base == wrong->out[part].data ? right->out[part].data
                                      : region->base == wrong->scale[part].data
                                          ? right->scale[part].data
                                          : NULL;
      for (uint64_t i = 0; expected && i < region->size; i++) {
        if (region->base[i] == expected[i]) continue;
        emu_region_describe(region, i, text, EMU_TEXT);
        return;
      }
    }
  }
}

static enum emu_verdict compare(const struct emu_trial *trial, struct bench *bench,
                                char text[EMU_TEXT]) {
  const struct mxq_variant *variant = &trial->kernel.variant;
  const struct mxq_pointers actual = support_tensors_pointers(&bench->tensors);
  const struct mxq_pointers expected = support_tensors_pointers(&bench->expected);
  char first[EMU_TEXT] = "a guard was written";
  mxq_cpu_run(variant, &trial->shape, &expected);
  const uint64_t differences = support_compare(variant, &trial->shape, &expected, &actual);
  if (differences == 0 && guards_whole(&bench->tensors)) return EMU_CLEAN;
  name_writer(bench, first);
  snprintf(text, EMU_TEXT, "%" PRIu64 " codes differ from the CPU path's; the first, %.1900s",
           differences, first);
  return EMU_HAZARD;
}

static enum emu_verdict run(const struct emu_trial *trial, struct bench *bench,
                            char text[EMU_TEXT]) {
  add_regions(trial, bench);
  emu_fault_plant(trial->fault, &bench->plan);
  if (bench->plan.grid && !fill_args(bench, text)) return EMU_HAZARD;
  const enum emu_verdict verdict = bench->plan.grid ? launch(trial, bench, text) : EMU_CLEAN;
  return verdict == EMU_CLEAN ? compare(trial, bench, text) : verdict;
}

static int too_large(const struct emu_trial *trial, char text[EMU_TEXT]) {
  struct mxq_byte_counts bytes;
  if (mxq_sizes(&trial->kernel.variant, &trial->shape, &bytes) != MXQ_OK) return 0;
  const uint64_t counts[regions_max] = {bytes.in,     bytes.in_scale, bytes.out[0],
                                        bytes.out[1], bytes.scale[0], bytes.scale[1]};
  uint64_t sum = 0;
  for (int i = 0; i < regions_max; i++) {
    if (counts[i] > bytes_max) sum = bytes_max;
    sum += counts[i];
  }
  if (sum <= bytes_max) return 0;
  snprintf(text, EMU_TEXT,
           "the tensors of E=%" PRId64 " N=%" PRId64 " K=%" PRId64 " have more than the %" PRIu64
           " bytes that the emulator takes; give a smaller shape",
           trial->shape.e, trial->shape.n, trial->shape.k, bytes_max);
  return 1;
}

static int too_many_blocks(unsigned grid, char text[EMU_TEXT]) {
  if (grid <= EMU_GRID_MAX) return 0;
  snprintf(text, EMU_TEXT, "%u blocks: the emulator runs at most %d; give --grid", grid,
           EMU_GRID_MAX);
  return 1;
}

static size_t element_bytes(unsigned type) {
  const size_t bits = mxq_type_facts(type)->bits;
  return bits < 8 ? 1 : bits / 8;
}

/* Generic kernels take elements and scales at the address of any: scales at four, by shape. */
static void shift_tensors(const struct emu_trial *trial, struct bench *bench) {
  const struct mxq_variant *variant = &trial->kernel.variant;
  const struct mxq_shape *shape = &trial->shape;
  struct support_tensors *tensors = &bench->tensors;
  if (trial->kernel.family != MXQ_FAMILY_ANY) return;
  const uint64_t scales = (uint64_t)(shape->e + shape->n) % 4;
  support_buffer_shift(&tensors->in, trial->ahead * element_bytes(variant->in));
  if (variant->op == MXQ_OP_DEQUANTIZE)
    support_buffer_shift(&tensors->in_scale, scales * mxq_mode_scale_bits(variant->mode) / 8);
  for (int part = 0; part < 2; part++) {
    support_buffer_shift(&tensors->out[part], trial->ahead * element_bytes(variant->out));
    if (variant->op == MXQ_OP_QUANTIZE)
      support_buffer_shift(&tensors->scale[part], scales * mxq_mode_scale_bits(variant->mode) / 8);
  }
}

static int prepare(const struct emu_trial *trial, struct bench *bench, char text[EMU_TEXT]) {
  const struct mxq_variant *variant = &trial->kernel.variant;
  enum mxq_status status =
      mxq_tensor_plan_make(&trial->kernel, trial->arch, &trial->shape, &bench->plan);
  if (status == MXQ_OK && (too_large(trial, text) ||
                           too_many_blocks(trial->grid ? trial->grid : bench->plan.grid, text)))
    return 0;
  if (status == MXQ_OK)
    status = support_tensors_make(variant, &trial->shape, trial->seed, &bench->tensors);
  if (status == MXQ_OK)
    status = support_tensors_make(variant, &trial->shape, trial->seed, &bench->expected);
  if (status != MXQ_OK) {
    snprintf(text, EMU_TEXT, "%s", mxq_last_error());
    return 0;
  }
  shift_tensors(trial, bench);
  memcpy(bench->tensors.in.data, bench->expected.in.data, bench->expected.in.size);
  if (bench->expected.in_scale.size)
    memcpy(bench->tensors.in_scale.data, bench->expected.in_scale.data,
           bench->expected.in_scale.size);
  if (variant->op == MXQ_OP_QUANTIZE)
    emu_inputs_mark_edges(variant, &trial->shape, trial->seed, bench->tensors.in.data);
  memcpy(bench->expected.in.data, bench->tensors.in.data, bench->tensors.in.size);
  return 1;
}

enum emu_verdict emu_trial_run(const struct emu_trial *trial, char text[EMU_TEXT]) {
  struct bench bench;
  memset(&bench, 0, sizeof bench);
  enum emu_verdict verdict = EMU_UNFIT;
  text[0] = 0;
  if (trial->kernel.family == MXQ_FAMILY_RELAYOUT) return emu_move_run(trial, text);
  if (prepare(trial, &bench, text)) verdict = run(trial, &bench, text);
  for (size_t i = 0; i < bench.region_count; i++) free(bench.regions[i].marks);
  support_tensors_free(&bench.tensors);
  support_tensors_free(&bench.expected);
  return verdict;
}
