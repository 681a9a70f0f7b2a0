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
#include "support.h"

enum { regions_max = 5, tile_steps = 2000000 /* twenty times what a block does for a tile */ };

/* Everything of one trial that is freed at its end. */
struct bench {
  struct mxq_tensor_plan plan;
  union mxq_kernel_args args;
  struct support_tensors tensors, expected;
  struct emu_region regions[regions_max];
  size_t region_count;
};

/* What the runtime's plan does on a device, with the encoder here. */
static int fill_args(struct bench *bench, char text[EMU_TEXT]) {
  const struct mxq_tensor_plan *plan = &bench->plan;
  const struct mxq_pointers pointers = support_tensors_pointers(&bench->tensors);
  struct mxq_tma_args *tile = &bench->args.tile;
  char why[EMU_TEXT];
  mxq_kernel_args_fill(plan, &bench->args);
  mxq_kernel_args_point(plan->form, &pointers, &bench->args);
  if (plan->form != MXQ_FORM_TILE) return 1;
  const int in = emu_map_encode(&plan->in, pointers.in, &tile->in, why);
  if (in && emu_map_encode(&plan->out, pointers.out[0], &tile->out, why)) return 1;
  snprintf(text, EMU_TEXT, "%s map: %.2000s", in ? "output" : "input", why);
  return 0;
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

/* The bytes of the input that belong to elements, and not to the gaps of its strides. */
static void mark_elements(const struct emu_trial *trial, struct emu_region *in) {
  const struct mxq_shape *shape = &trial->shape;
  const uint64_t bytes = mxq_type_facts(trial->kernel.variant.in)->bits / 8;
  for (int64_t e = 0; e < shape->e; e++)
    for (int64_t n = 0; n < shape->n; n++) {
      const uint64_t stride_e = shape->e > 1 ? (uint64_t)shape->stride_e : 0;
      const uint64_t stride_n = shape->n > 1 ? (uint64_t)shape->stride_n : 0;
      const uint64_t row = (uint64_t)e * stride_e + (uint64_t)n * stride_n;
      for (uint64_t i = 0; i < (uint64_t)shape->k * bytes; i++) in->marks[row * bytes + i].real = 1;
    }
}

static void add_regions(const struct emu_trial *trial, struct bench *bench) {
  static const char *const outs[] = {"out[0]", "out[1]"}, *const scales[] = {"scale[0]",
                                                                             "scale[1]"};
  add_region(bench, "in", &bench->tensors.in, 0);
  if (bench->region_count) mark_elements(trial, &bench->regions[0]);
  for (int part = 0; part < 2; part++) {
    add_region(bench, outs[part], &bench->tensors.out[part], 1);
    add_region(bench, scales[part], &bench->tensors.scale[part], 1);
  }
}

static int guards_whole(const struct support_tensors *tensors) {
  int whole = support_buffer_guards(&tensors->in, "in");
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

static int prepare(const struct emu_trial *trial, struct bench *bench) {
  const struct mxq_variant *variant = &trial->kernel.variant;
  if (mxq_tensor_plan_make(&trial->kernel, trial->arch, &trial->shape, &bench->plan) != MXQ_OK)
    return 0;
  if (support_tensors_make(variant, &trial->shape, trial->seed, &bench->tensors) != MXQ_OK ||
      support_tensors_make(variant, &trial->shape, trial->seed, &bench->expected) != MXQ_OK)
    return 0;
  emu_inputs_mark_edges(variant, &trial->shape, trial->seed, bench->tensors.in.data);
  memcpy(bench->expected.in.data, bench->tensors.in.data, bench->tensors.in.size);
  return 1;
}

enum emu_verdict emu_trial_run(const struct emu_trial *trial, char text[EMU_TEXT]) {
  struct bench bench;
  memset(&bench, 0, sizeof bench);
  enum emu_verdict verdict = EMU_UNFIT;
  text[0] = 0;
  if (prepare(trial, &bench))
    verdict = run(trial, &bench, text);
  else
    snprintf(text, EMU_TEXT, "%s", mxq_last_error());
  for (size_t i = 0; i < bench.region_count; i++) free(bench.regions[i].marks);
  support_tensors_free(&bench.tensors);
  support_tensors_free(&bench.expected);
  return verdict;
}
