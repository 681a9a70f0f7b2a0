/* SPDX-License-Identifier: MIT
 *
 * Quantizes one tensor on the GPU and on the CPU and compares the bytes. The kernel is compiled
 * when it is first used and comes from the disk cache in the next process. Where there is no GPU,
 * the CPU alone computes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxq/mxq.h>

#include "cuda_memory.h"

static void check(enum mxq_status status) {
  if (status == MXQ_OK) return;
  fprintf(stderr, "%s: %s\n", mxq_status_name(status), mxq_last_error());
  exit(1);
}

static void on_gpu(struct mxq_context *context, const struct mxq_variant *variant,
                   const struct mxq_shape *shape, const struct mxq_byte_counts *bytes,
                   const void *in, unsigned char *codes, unsigned char *scales) {
  struct cuda_memory cuda;
  if (!cuda_memory_open(&cuda)) exit(1);
  void *const there = cuda_memory_take(&cuda, bytes->in);
  void *const out = cuda_memory_take(&cuda, bytes->out[0]);
  void *const scale = cuda_memory_take(&cuda, bytes->scale[0]);
  const struct mxq_pointers pointers = {.in = there, .out = {out}, .scale = {scale}};
  struct mxq_kernel *kernel;
  struct mxq_plan *plan;
  cuda_memory_upload(&cuda, there, in, bytes->in);

  check(mxq_kernel_get(context, variant, 0, &kernel)); /* compiled now, or read from the disk */
  check(mxq_plan_create(kernel, shape, &pointers, &plan));
  check(mxq_plan_launch(plan, NULL)); /* allocates nothing, takes no lock */
  mxq_plan_destroy(plan);
  mxq_kernel_release(kernel);

  cuda_memory_download(&cuda, codes, out, bytes->out[0]);
  cuda_memory_download(&cuda, scales, scale, bytes->scale[0]);
  cuda_memory_give(&cuda, there);
  cuda_memory_give(&cuda, out);
  cuda_memory_give(&cuda, scale);
}

int main(void) {
  struct mxq_variant variant;
  struct mxq_byte_counts bytes;
  struct mxq_context *context;
  const struct mxq_shape shape = mxq_shape_dense(4, 512, 256); /* E matrices of N rows, K columns */
  check(mxq_variant_parse("quantize_f32_e4m3_b32_rceil_colt_lin", &variant));
  check(mxq_sizes(&variant, &shape, &bytes));
  float *in = malloc(bytes.in);
  unsigned char *codes[2] = {malloc(bytes.out[0]), malloc(bytes.out[0])};
  unsigned char *scales[2] = {malloc(bytes.scale[0]), malloc(bytes.scale[0])};
  if (!in || !codes[0] || !codes[1] || !scales[0] || !scales[1]) return 1;
  for (size_t i = 0; i < bytes.in / sizeof *in; i++) in[i] = (float)(i % 1000) / 7 - 60;

  check(mxq_context_create(NULL, &context));
  const struct mxq_pointers here = {.in = in, .out = {codes[0]}, .scale = {scales[0]}};
  check(mxq_run(context, &variant, &shape, &here, MXQ_DEVICE_CPU, NULL));

  const enum mxq_status status = mxq_supported(context, &variant, &shape, 0);
  if (status == MXQ_OK) {
    on_gpu(context, &variant, &shape, &bytes, in, codes[1], scales[1]);
    if (memcmp(codes[0], codes[1], bytes.out[0]) || memcmp(scales[0], scales[1], bytes.scale[0])) {
      fprintf(stderr, "the GPU and the CPU differ\n");
      return 1;
    }
    printf("the GPU and the CPU agree on %llu codes\n", (unsigned long long)bytes.out[0]);
  } else {
    printf("the CPU made %llu codes; no GPU: %s\n", (unsigned long long)bytes.out[0],
           mxq_last_error());
  }
  mxq_context_destroy(context);
  for (int i = 0; i < 2; i++) free(codes[i]), free(scales[i]);
  free(in);
  return 0;
}
