/* SPDX-License-Identifier: MIT
 *
 * Quantizes two tensors with kernels that are a part of the program: no compiler, no cache, no
 * files. Compares the bytes with those of the CPU path.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxq/mxq.h>

#include "cuda_memory.h"
#include "engine_set.h"

static void check(enum mxq_status status) {
  if (status == MXQ_OK) return;
  fprintf(stderr, "%s: %s\n", mxq_status_name(status), mxq_last_error());
  exit(1);
}

static void quantize(struct mxq_context *context, const struct cuda_memory *cuda, const char *name,
                     const struct mxq_shape *shape) {
  struct mxq_variant variant;
  struct mxq_byte_counts bytes;
  check(mxq_variant_parse(name, &variant));
  check(mxq_sizes(&variant, shape, &bytes));

  unsigned char *in = malloc(bytes.in), *codes = malloc(bytes.out[0] * 2);
  unsigned char *scales = malloc(bytes.scale[0] * 2);
  if (!in || !codes || !scales) exit(1);
  for (size_t i = 0; i < bytes.in; i++) in[i] = (unsigned char)(i * 37 % 251 & 0x3f);
  const struct mxq_pointers here = {.in = in, .out = {codes}, .scale = {scales}};
  check(mxq_run(context, &variant, shape, &here, MXQ_DEVICE_CPU, NULL));

  void *const there = cuda_memory_take(cuda, bytes.in);
  void *const out = cuda_memory_take(cuda, bytes.out[0]);
  void *const scale = cuda_memory_take(cuda, bytes.scale[0]);
  const struct mxq_pointers on_device = {.in = there, .out = {out}, .scale = {scale}};
  cuda_memory_upload(cuda, there, in, bytes.in);
  check(mxq_run(context, &variant, shape, &on_device, 0, NULL));
  cuda_memory_download(cuda, codes + bytes.out[0], out, bytes.out[0]);
  cuda_memory_download(cuda, scales + bytes.scale[0], scale, bytes.scale[0]);
  if (memcmp(codes, codes + bytes.out[0], bytes.out[0]) ||
      memcmp(scales, scales + bytes.scale[0], bytes.scale[0])) {
    fprintf(stderr, "%s: the GPU and the CPU differ\n", name);
    exit(1);
  }
  printf("%s: %llu codes, the GPU and the CPU agree\n", name, (unsigned long long)bytes.out[0]);
  cuda_memory_give(cuda, there);
  cuda_memory_give(cuda, out);
  cuda_memory_give(cuda, scale);
  free(in), free(codes), free(scales);
}

int main(void) {
  struct mxq_context *context;
  struct cuda_memory cuda;
  const struct mxq_shape weights = mxq_shape_dense(8, 256, 512);
  const struct mxq_shape gradients = mxq_shape_dense(1, 1024, 128);
  if (!cuda_memory_open(&cuda)) return 1;
  check(mxq_context_create(NULL, &context));
  check(mxq_context_add_kernels(context, &engine_set));
  quantize(context, &cuda, "quantize_bf16_e4m3_b32_rceil_colt_lin", &weights);
  quantize(context, &cuda, "quantize_f32_e5m2_b32_floor_colt_lin", &gradients);
  mxq_context_destroy(context);
  return 0;
}
