/* SPDX-License-Identifier: MIT */
#include "tuning.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule.h"
#include "status.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* What is measured. Variants of one operation, layout and widths run the same instructions but for
 * scales and conversions, so that one speaks for them; each size class has a shape. */
static const char *const patterns[] = {
    "quantize_bf16_e4m3_b32_rceil_*_lin",  "quantize_f32_e4m3_b32_rceil_*_lin",
    "quantize_bf16_e2m1_b32_rceil_*_lin",  "quantize_f32_e2m1_b32_rceil_*_lin",
    "dequantize_e4m3_bf16_b32_e8m0_*_lin", "dequantize_e4m3_f32_b32_e8m0_*_lin",
    "dequantize_e2m1_bf16_b32_e8m0_*_lin", "dequantize_e2m1_f32_b32_e8m0_*_lin",
};
static const struct bench_shape shapes[MXQ_SIZE_CLASSES] = {
    [MXQ_SIZE_TINY] = {1, 128, 256, "two tiles"},
    [MXQ_SIZE_CACHED] = {1, 2048, 2048, "a matrix that stays in the L2 cache"},
    [MXQ_SIZE_LARGE] = {8, 7168, 2048, "8 experts of DeepSeek-V3"},
};

struct tuning {
  struct bench bench;
  struct tune_case *cases;
  size_t count, room;
};

static int is_wanted(const struct bench_options *options, const char *name) {
  for (size_t i = 0; i < options->pattern_count; i++)
    if (fnmatch(options->patterns[i], name, 0) == 0) return 1;
  return options->pattern_count == 0;
}

/* Its candidates: the schedules that the arch can run; `now` is what the table says. */
static enum mxq_status fill_case(const struct mxq_arch *arch, struct tune_case *one) {
  const struct mxq_schedule *schedule;
  struct mxq_kernel_id now;
  MXQ_TRY(mxq_tune_choose(&one->variant, MXQ_FAMILY_TMA, arch, one->size, &now));
  for (size_t i = 0; (schedule = mxq_schedule_at(&one->variant, MXQ_FAMILY_TMA, i)); i++) {
    const struct mxq_kernel_id id = mxq_schedule_kernel(&one->variant, schedule);
    if (mxq_kernel_id_check_arch(&id, arch) != MXQ_OK) continue;
    MXQ_FAIL_IF(one->count == TUNE_SCHEDULES_MAX, MXQ_INTERNAL, "more than %d schedules",
                (int)TUNE_SCHEDULES_MAX);
    if (memcmp(&id, &now, sizeof id) == 0) one->now = one->best = one->count;
    one->candidates[one->count++].id = id;
  }
  return MXQ_OK;
}

static enum mxq_status add_variant(struct tuning *tuning, const struct mxq_variant *variant,
                                   const struct mxq_arch *arch) {
  for (unsigned size = 0; size < MXQ_SIZE_CLASSES; size++) {
    if (tuning->count == tuning->room) {
      const size_t room = tuning->room ? 2 * tuning->room : 64;
      struct tune_case *grown = realloc(tuning->cases, room * sizeof *grown);
      MXQ_FAIL_IF(!grown, MXQ_OUT_OF_MEMORY, "no memory for %zu cases", room);
      tuning->cases = grown;
      tuning->room = room;
    }
    struct tune_case *one = &tuning->cases[tuning->count++];
    memset(one, 0, sizeof *one);
    one->variant = *variant;
    one->size = (enum mxq_size_class)size;
    one->shape = shapes[size];
    MXQ_TRY(fill_case(arch, one));
  }
  return MXQ_OK;
}

static enum mxq_status list_cases(struct tuning *tuning, const struct mxq_arch *arch) {
  for (size_t p = 0; p < COUNT(patterns); p++) {
    struct mxq_variant variant = {0};
    while (mxq_variant_next(&variant)) {
      char name[MXQ_VARIANT_NAME_SIZE];
      MXQ_TRY(mxq_variant_name(&variant, name, sizeof name));
      if (fnmatch(patterns[p], name, 0) || !is_wanted(tuning->bench.options, name)) continue;
      MXQ_TRY(add_variant(tuning, &variant, arch));
    }
  }
  return MXQ_OK;
}

static enum mxq_status compile_all(const struct tuning *tuning) {
  size_t count = 0;
  for (size_t i = 0; i < tuning->count; i++) count += tuning->cases[i].count;
  struct bench_item *items = calloc(count, sizeof *items);
  MXQ_FAIL_IF(!items, MXQ_OUT_OF_MEMORY, "no memory for %zu kernels", count);
  count = 0;
  for (size_t i = 0; i < tuning->count; i += MXQ_SIZE_CLASSES) /* the same ones in each size */
    for (size_t c = 0; c < tuning->cases[i].count; c++)
      items[count++].id = tuning->cases[i].candidates[c].id;
  const enum mxq_status status = bench_prepare(&tuning->bench, items, count);
  free(items);
  return status;
}

static void report_case(const struct tune_case *one, size_t index, size_t count) {
  char variant[MXQ_VARIANT_NAME_SIZE] = "", kernel[MXQ_KERNEL_NAME_SIZE] = "";
  (void)mxq_variant_name(&one->variant, variant, sizeof variant);
  fprintf(stderr, "[%zu/%zu] %s %s\n", index + 1, count, variant, mxq_size_class_name(one->size));
  for (size_t i = 0; i < one->count; i++) {
    const struct bench_series *us = &one->candidates[i].us;
    (void)mxq_kernel_id_name(&one->candidates[i].id, kernel, sizeof kernel);
    fprintf(stderr, "  %-24s %9.3f us, spread %4.1f%%%s%s\n", strchr(kernel, '.') + 1,
            bench_median(us), 100 * bench_spread(us), i == one->now ? "  now" : "",
            i == one->best ? "  best" : "");
  }
}

static enum mxq_status measure_all(struct tuning *tuning) {
  MXQ_TRY(compile_all(tuning));
  for (size_t i = 0; i < tuning->count; i++) {
    MXQ_TRY(tune_measure(&tuning->bench, &tuning->cases[i]));
    tune_decide(&tuning->cases[i]);
    report_case(&tuning->cases[i], i, tuning->count);
  }
  return MXQ_OK;
}

static enum mxq_status open_device(struct bench *bench) {
  MXQ_TRY(mxq_device_describe(bench->options->device, &bench->info));
  MXQ_TRY(mxq_arch_of_device(bench->info.major, bench->info.minor, &bench->arch));
  return mxq_context_create(NULL, &bench->context);
}

int bench_tune(const struct bench_options *options) {
  struct tuning tuning = {.bench = {.options = options}};
  if (options->list) {
    tune_print(&tuning.bench, NULL, 0);
    return BENCH_DONE;
  }
  enum mxq_status status = open_device(&tuning.bench);
  if (status == MXQ_OK) status = list_cases(&tuning, tuning.bench.arch);
  if (status == MXQ_OK && tuning.count) status = measure_all(&tuning);
  int code = status == MXQ_OK ? BENCH_DONE : bench_exit(status);
  if (code == BENCH_DONE && !tuning.count) {
    fprintf(stderr,
            "mxq-bench: no variant that --tune measures matches '%s'; it measures %s, ...\n",
            options->patterns[0], patterns[0]);
    code = BENCH_USAGE;
  }
  if (code == BENCH_DONE) tune_print(&tuning.bench, tuning.cases, tuning.count);
  free(tuning.cases);
  mxq_context_destroy(tuning.bench.context);
  return code;
}
