/* SPDX-License-Identifier: MIT
 *
 * mxq-bench --cpu: the CPU path on one core, beside the same sources compiled without vectors
 * (bench/CMakeLists.txt), in turns.
 */
#include "cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu_json.h"
#include "host.h"
#include "status.h"

/* mxq_cpu_run of the sources compiled without vectors. */
void mxq_plain_cpu_run(const struct mxq_variant *variant, const struct mxq_shape *shape,
                       const struct mxq_pointers *pointers);

enum { n = 2048, k = 4096, alignment = 64 };

/* target: millions of elements a second, at least; 0: none. */
static const struct {
  const char *name;
  double target;
} measured[] = {
    {"quantize_bf16_e4m3_b32_rceil_row_lin", 800}, {"quantize_bf16_e4m3_b32_rceil_colt_lin", 400},
    {"quantize_bf16_e4m3_b32_rceil_col_lin", 0},   {"quantize_bf16_e4m3_b32_rceil_rowcolt_lin", 0},
    {"quantize_f32_e4m3_b32_rceil_row_lin", 0},    {"quantize_bf16_e2m1_b32_rceil_row_lin", 0},
    {"quantize_bf16_e4m3_b128_amax_row_lin", 0},   {"dequantize_e4m3_bf16_b32_e8m0_row_lin", 0},
    {"dequantize_e4m3_bf16_b32_e8m0_colt_lin", 0},
};

struct tensors {
  void *memory;
  struct mxq_pointers pointers;
};

static unsigned char *take(unsigned char **at, uint64_t bytes) {
  unsigned char *taken = bytes ? *at : NULL;
  *at += (bytes + alignment - 1) / alignment * alignment;
  return taken;
}

/* Numbers as the GPU's side has; dequantize reads codes and scales below 1 of these bits. */
static enum mxq_status fill(const struct mxq_variant *variant, const struct mxq_byte_counts *bytes,
                            unsigned char *in, unsigned char *in_scale) {
  const unsigned char *piece = NULL;
  uint64_t size = 0;
  const unsigned type = variant->op == MXQ_OP_QUANTIZE ? variant->in : MXQ_TYPE_BF16;
  MXQ_TRY(bench_data_piece(type, &piece, &size));
  for (uint64_t done = 0; done < bytes->in; done += size)
    memcpy(in + done, piece, bytes->in - done < size ? bytes->in - done : size);
  if (in_scale) memset(in_scale, 125, bytes->in_scale);
  return MXQ_OK;
}

static enum mxq_status make_tensors(const struct mxq_variant *variant,
                                    const struct mxq_shape *shape, struct tensors *tensors) {
  struct mxq_byte_counts bytes;
  struct mxq_pointers *pointers = &tensors->pointers;
  MXQ_TRY(mxq_sizes(variant, shape, &bytes));
  const uint64_t total = bytes.in + bytes.in_scale + bytes.out[0] + bytes.out[1] + bytes.scale[0] +
                         bytes.scale[1] + 7 * alignment;
  unsigned char *at = tensors->memory = calloc(total, 1);
  MXQ_FAIL_IF(!at, MXQ_OUT_OF_MEMORY, "no memory for tensors of %llu bytes",
              (unsigned long long)total);
  unsigned char *in = take(&at, bytes.in), *in_scale = take(&at, bytes.in_scale);
  pointers->in = in;
  pointers->in_scale = in_scale;
  for (int part = 0; part < 2; part++) {
    pointers->out[part] = take(&at, bytes.out[part]);
    pointers->scale[part] = take(&at, bytes.scale[part]);
  }
  return fill(variant, &bytes, in, in_scale);
}

/* Time of this thread alone: what others do on the machine is left out. */
static double cpu_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

typedef void run_fn(const struct mxq_variant *variant, const struct mxq_shape *shape,
                    const struct mxq_pointers *pointers);

static void time_runs(const struct bench_options *options, const struct mxq_variant *variant,
                      const struct mxq_pointers *pointers, struct cpu_row *row) {
  static run_fn *const runs[CPU_BUILDS] = {mxq_cpu_run, mxq_plain_cpu_run};
  const struct mxq_shape shape = mxq_shape_dense(1, n, k);
  double rates[CPU_BUILDS][BENCH_REPS_MAX];
  for (unsigned rep = 0; rep <= options->reps; rep++) /* the first one warms */
    for (int build = 0; build < CPU_BUILDS; build++) {
      const double begin = cpu_seconds();
      runs[build](variant, &shape, pointers);
      const double seconds = cpu_seconds() - begin;
      rates[build][rep ? rep - 1 : 0] = (double)n * k / seconds / 1e6;
    }
  for (int build = 0; build < CPU_BUILDS; build++)
    row->rate[build] = host_median(rates[build], options->reps);
}

static enum mxq_status measure(const struct bench_options *options, struct cpu_row *row) {
  const struct mxq_shape shape = mxq_shape_dense(1, n, k);
  struct mxq_variant variant;
  struct tensors tensors = {NULL, {0}};
  MXQ_TRY(mxq_variant_parse(row->name, &variant));
  const enum mxq_status status = make_tensors(&variant, &shape, &tensors);
  if (status == MXQ_OK) time_runs(options, &variant, &tensors.pointers, row);
  free(tensors.memory);
  return status;
}

static void print_row(const struct cpu_row *row) {
  char target[32] = "";
  if (row->target > 0) snprintf(target, sizeof target, ">= %.0f", row->target);
  printf("%-44s %12.0f %12.0f %7.1f  %-8s %s\n", row->name, row->rate[CPU_VECTORS],
         row->rate[CPU_PLAIN], row->rate[CPU_VECTORS] / row->rate[CPU_PLAIN], target,
         row->target <= 0                        ? ""
         : row->rate[CPU_VECTORS] >= row->target ? "met"
                                                 : "MISSED");
}

int bench_cpu(const struct bench_options *options) {
  enum { count = sizeof measured / sizeof measured[0] };
  struct cpu_row rows[count];
  if (!options->json) {
    printf("CPU path on one core, (1, %d, %d), millions of elements a second, medians of %u\n", n,
           k, options->reps);
    printf("%-44s %12s %12s %7s  %-8s %s\n", "variant", "vectorized", "without", "ratio", "target",
           "met");
  }
  for (size_t i = 0; i < count; i++) {
    rows[i] = (struct cpu_row){.name = measured[i].name, .target = measured[i].target};
    const enum mxq_status status = measure(options, &rows[i]);
    if (status != MXQ_OK) return bench_exit(status);
    if (!options->json) print_row(&rows[i]);
  }
  return options->json ? cpu_print_json(options, rows, count, n, k) : BENCH_DONE;
}
