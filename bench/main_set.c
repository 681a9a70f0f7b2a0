/* SPDX-License-Identifier: MIT
 *
 * mxq-bench --main: the variants that performance is promised for, at the shapes that decide it,
 * and a sample of the rest.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "plan_as.h"
#include "selectable.h"
#include "status.h"

static const struct bench_shape many = {8, 7168, 2048, "8 experts of DeepSeek-V3"};
static const struct bench_shape power_of_two = {8, 8192, 5120, "8 experts of Llama 4 Scout"};
static const struct bench_shape in_l2 = {1, 2048, 2048, "a matrix that stays in the L2 cache"};
static const struct bench_shape tiny = {1, 128, 256, "two tiles: what a launch costs"};
static const struct bench_shape odd = {8, 7165, 2045, "lengths that no fast kernel takes"};

/* Variants by a glob. `generic`: their generic kernels, whatever the shape would get. */
static const struct {
  const char *set, *pattern;
  const struct bench_shape *shape;
  int generic;
} parts[] = {
    {"main", "quantize_bf16_e4m3_b32_rceil_*", &many, 0},
    {"main", "quantize_bf16_e4m3_b128_rceil_*", &many, 0},
    {"main", "quantize_bf16_e2m1_b32_rceil_*", &many, 0},
    {"main", "quantize_bf16_e2m1_b128_rceil_*", &many, 0},
    {"main", "quantize_f32_e4m3_b32_rceil_*", &many, 0},
    {"main", "quantize_f32_e4m3_b128_rceil_*", &many, 0},
    {"main", "quantize_f32_e2m1_b32_rceil_*", &many, 0},
    {"main", "quantize_f32_e2m1_b128_rceil_*", &many, 0},
    {"power of two", "quantize_bf16_e4m3_b32_rceil_*_lin", &power_of_two, 0},
    {"in L2", "quantize_bf16_e4m3_b32_rceil_*_lin", &in_l2, 0},
    {"tiny", "quantize_bf16_e4m3_b32_rceil_*_lin", &tiny, 0},
    {"dequantize", "dequantize_e4m3_bf16_b32_e8m0_*", &many, 0},
    {"dequantize", "dequantize_e2m1_bf16_b32_e8m0_*_lin", &many, 0},
    {"dequantize", "dequantize_e4m3_f32_b128_f32_*_lin", &many, 0},
    {"generic", "quantize_bf16_e4m3_b32_rceil_*_lin", &many, 1},
    {"generic", "dequantize_e4m3_bf16_b32_e8m0_*_lin", &many, 1},
    {"generic", "quantize_bf16_e4m3_b32_rceil_*_lin", &odd, 0},
    {"generic", "dequantize_e4m3_bf16_b32_e8m0_*_lin", &odd, 0},
};
#define PARTS (sizeof parts / sizeof parts[0])

struct list {
  const struct bench_options *options;
  const struct mxq_arch *arch;
  struct bench_item *items;
  size_t count, room;
};

/* The kernel that the shape gets, or the last of those that any shape can get: the generic one. */
static enum mxq_status choose(const struct list *list, const struct mxq_variant *variant,
                              const struct bench_shape *shape, int generic,
                              struct mxq_kernel_id *id) {
  const struct mxq_shape dense = mxq_shape_dense(shape->e, shape->n, shape->k);
  struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST];
  struct mxq_tensor_plan tensor;
  size_t count = 0;
  if (!generic) {
    MXQ_TRY(mxq_plan_select(variant, list->arch, NULL, &dense, NULL, &tensor));
    *id = tensor.kernel;
    return MXQ_OK;
  }
  MXQ_TRY(mxq_selectable(variant, list->arch, ids, &count));
  for (size_t i = 0; i < count; i++)
    if (ids[i].family == MXQ_FAMILY_ANY) *id = ids[i];
  return MXQ_OK;
}

static int is_wanted(const struct bench_options *options, const char *name) {
  for (size_t i = 0; i < options->pattern_count; i++)
    if (fnmatch(options->patterns[i], name, 0) == 0) return 1;
  return options->pattern_count == 0;
}

static enum mxq_status add(struct list *list, const struct mxq_variant *variant,
                           const struct bench_shape *shape, const char *set, int generic) {
  struct bench_item item = {.shape = *shape, .set = set};
  char name[MXQ_VARIANT_NAME_SIZE];
  MXQ_TRY(mxq_variant_name(variant, name, sizeof name));
  if (!is_wanted(list->options, name)) return MXQ_OK;
  MXQ_TRY(choose(list, variant, shape, generic, &item.id));
  if (list->count == list->room) {
    const size_t room = list->room ? 2 * list->room : 512;
    struct bench_item *grown = realloc(list->items, room * sizeof *grown);
    MXQ_FAIL_IF(!grown, MXQ_OUT_OF_MEMORY, "no memory for %zu measurements", room);
    list->items = grown;
    list->room = room;
  }
  list->items[list->count++] = item;
  return MXQ_OK;
}

static enum mxq_status add_part(struct list *list, size_t part) {
  struct mxq_variant variant = {0};
  while (mxq_variant_next(&variant)) {
    char name[MXQ_VARIANT_NAME_SIZE];
    MXQ_TRY(mxq_variant_name(&variant, name, sizeof name));
    if (fnmatch(parts[part].pattern, name, 0)) continue;
    MXQ_TRY(add(list, &variant, parts[part].shape, parts[part].set, parts[part].generic));
  }
  return MXQ_OK;
}

static enum mxq_status add_sample(struct list *list) {
  struct mxq_variant *sample = NULL;
  size_t count = 0;
  MXQ_TRY(bench_sample_make(BENCH_SEED, &sample, &count));
  enum mxq_status status = MXQ_OK;
  for (size_t i = 0; status == MXQ_OK && i < count; i++)
    status = add(list, &sample[i], &many, "sample", 0);
  free(sample);
  return status;
}

static enum mxq_status add_all(struct list *list) {
  for (size_t part = 0; part < PARTS; part++) MXQ_TRY(add_part(list, part));
  return add_sample(list);
}

int bench_main_set(const struct bench_options *options, const struct mxq_arch *arch,
                   struct bench_item **items, size_t *count) {
  struct list list = {.options = options, .arch = arch};
  const enum mxq_status status = add_all(&list);
  if (status == MXQ_OK && list.count) {
    *items = list.items;
    *count = list.count;
    return BENCH_DONE;
  }
  free(list.items);
  if (status != MXQ_OK) return bench_exit(status);
  fprintf(stderr, "mxq-bench: no variant of the main set or its sample matches '%s'\n",
          options->patterns[0]);
  return BENCH_USAGE;
}
