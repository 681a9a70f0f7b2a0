/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "bench.h"
#include "status.h"

enum { alignment = 512 };

/* Shapes whose rotation fits in two thirds of the L2 cache stay in it; the others must not profit
 * from it: four times its size is written and read before a byte comes up again. */
static void choose_sets(const struct mxq_device_info *info, struct bench_buffers *buffers) {
  const uint64_t one = buffers->read + buffers->written, l2 = info->l2_bytes;
  uint64_t sets = (4 * l2 + one - 1) / one;
  buffers->in_l2 = 3 * one <= l2 / 3 * 2;
  if (buffers->in_l2) sets = l2 / 3 * 2 / one;
  if (sets < 2) sets = 2;
  buffers->sets = sets > BENCH_SETS_MAX ? BENCH_SETS_MAX : (unsigned)sets;
}

static uint64_t padded(uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/* Numbers to quantize, or codes and scales near 1 to read them with. */
static enum mxq_status fill_inputs(const struct mxq_variant *variant,
                                   const struct bench_buffers *buffers, unsigned char *in) {
  const struct mxq_byte_counts *bytes = &buffers->bytes;
  unsigned char *const scales = in + padded(bytes->in);
  if (variant->op == MXQ_OP_QUANTIZE)
    return bench_data_fill(buffers->device, variant->in, in, bytes->in);
  MXQ_TRY(bench_bytes_fill(buffers->device, 0, 0xFF, in, bytes->in));
  if (mxq_mode_scale_bits(variant->mode) == 8)
    return bench_bytes_fill(buffers->device, 124, 7, scales, bytes->in_scale);
  return bench_data_fill(buffers->device, MXQ_TYPE_F32, scales, bytes->in_scale);
}

static enum mxq_status make_set(const struct mxq_variant *variant, unsigned set,
                                struct bench_buffers *buffers) {
  const struct mxq_byte_counts *bytes = &buffers->bytes;
  struct mxq_pointers *pointers = &buffers->pointers[set];
  uint64_t total = padded(bytes->in) + padded(bytes->in_scale);
  for (int part = 0; part < 2; part++)
    total += padded(bytes->out[part]) + padded(bytes->scale[part]);
  MXQ_TRY(mxq_device_allocate(buffers->device, total, &buffers->memory[set]));
  unsigned char *at = buffers->memory[set];
  pointers->in = at;
  MXQ_TRY(fill_inputs(variant, buffers, at));
  at += padded(bytes->in);
  pointers->in_scale = bytes->in_scale ? at : NULL;
  at += padded(bytes->in_scale);
  for (int part = 0; part < 2; part++) {
    pointers->out[part] = bytes->out[part] ? at : NULL;
    at += padded(bytes->out[part]);
  }
  for (int part = 0; part < 2; part++) {
    pointers->scale[part] = bytes->scale[part] ? at : NULL;
    at += padded(bytes->scale[part]);
  }
  return MXQ_OK;
}

enum mxq_status bench_buffers_make(const struct mxq_device_info *info,
                                   const struct mxq_variant *variant, const struct mxq_shape *shape,
                                   struct bench_buffers *buffers) {
  memset(buffers, 0, sizeof *buffers);
  buffers->device = info->ordinal;
  MXQ_TRY(mxq_sizes(variant, shape, &buffers->bytes));
  buffers->read = buffers->bytes.in + buffers->bytes.in_scale;
  for (int part = 0; part < 2; part++)
    buffers->written += buffers->bytes.out[part] + buffers->bytes.scale[part];
  choose_sets(info, buffers);
  for (unsigned set = 0; set < buffers->sets; set++) {
    const enum mxq_status status = make_set(variant, set, buffers);
    if (status == MXQ_OK) continue;
    bench_buffers_free(buffers);
    return status;
  }
  return MXQ_OK;
}

void bench_buffers_free(struct bench_buffers *buffers) {
  for (unsigned set = 0; set < buffers->sets; set++)
    mxq_device_free(buffers->device, buffers->memory[set]);
  memset(buffers->memory, 0, sizeof buffers->memory);
}
