/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_compare.h"

enum { guard_byte = 0xA5, poison_byte = 0xFF };

struct support_buffer support_buffer_make(size_t size) {
  struct support_buffer buffer;
  buffer.size = size;
  buffer.total = (size + 2 * SUPPORT_GUARD_BYTES + 255) / 256 * 256;
  buffer.base = aligned_alloc(256, buffer.total);
  if (!buffer.base) {
    fprintf(stderr, "no memory for a test buffer of %zu bytes\n", size);
    abort();
  }
  buffer.data = buffer.base + SUPPORT_GUARD_BYTES;
  memset(buffer.base, guard_byte, buffer.total);
  memset(buffer.data, poison_byte, size);
  return buffer;
}

void support_buffer_shift(struct support_buffer *buffer, size_t bytes) {
  assert(bytes < SUPPORT_GUARD_BYTES);
  buffer->data += bytes;
  memset(buffer->base, guard_byte, buffer->total);
  memset(buffer->data, poison_byte, buffer->size);
}

void support_buffer_free(struct support_buffer *buffer) {
  free(buffer->base);
  memset(buffer, 0, sizeof *buffer);
}

int support_buffer_guards(const struct support_buffer *buffer, const char *what) {
  const size_t begin = (size_t)(buffer->data - buffer->base), end = begin + buffer->size;
  for (size_t i = 0; i < buffer->total; i++) {
    if (i == begin) i = end;
    if (i >= buffer->total || buffer->base[i] == guard_byte) continue;
    fprintf(stderr, "%s: byte %td of %zu, outside, was written: 0x%02X\n", what,
            (ptrdiff_t)i - (ptrdiff_t)begin, buffer->size, buffer->base[i]);
    return 0;
  }
  return 1;
}

enum mxq_status support_tensors_allocate(const struct mxq_variant *variant,
                                         const struct mxq_shape *shape,
                                         struct support_tensors *tensors) {
  struct mxq_byte_counts bytes;
  const enum mxq_status status = mxq_sizes(variant, shape, &bytes);
  if (status != MXQ_OK) return status;
  tensors->in = support_buffer_make(bytes.in);
  tensors->in_scale = support_buffer_make(bytes.in_scale);
  for (int part = 0; part < 2; part++) {
    tensors->out[part] = support_buffer_make(bytes.out[part]);
    tensors->scale[part] = support_buffer_make(bytes.scale[part]);
  }
  return MXQ_OK;
}

enum mxq_status support_tensors_make(const struct mxq_variant *variant,
                                     const struct mxq_shape *shape, uint64_t seed,
                                     struct support_tensors *tensors) {
  const enum mxq_status status = support_tensors_allocate(variant, shape, tensors);
  if (status != MXQ_OK) return status;
  if (variant->op == MXQ_OP_QUANTIZE)
    check_fill_values(variant, shape, seed, tensors->in.data);
  else
    check_fill_codes(variant, tensors->in.size, tensors->in_scale.size, seed, tensors->in.data,
                     tensors->in_scale.data);
  return MXQ_OK;
}

void support_tensors_free(struct support_tensors *tensors) {
  support_buffer_free(&tensors->in);
  support_buffer_free(&tensors->in_scale);
  for (int part = 0; part < 2; part++) {
    support_buffer_free(&tensors->out[part]);
    support_buffer_free(&tensors->scale[part]);
  }
}

struct mxq_pointers support_tensors_pointers(const struct support_tensors *tensors) {
  struct mxq_pointers pointers = {.in = tensors->in.data};
  pointers.in_scale = tensors->in_scale.size ? tensors->in_scale.data : NULL;
  for (int part = 0; part < 2; part++) {
    pointers.out[part] = tensors->out[part].size ? tensors->out[part].data : NULL;
    pointers.scale[part] = tensors->scale[part].size ? tensors->scale[part].data : NULL;
  }
  return pointers;
}

uint64_t support_compare(const struct mxq_variant *variant, const struct mxq_shape *shape,
                         const struct mxq_pointers *expected, const struct mxq_pointers *actual) {
  struct check_differences differences = {0};
  char name[MXQ_VARIANT_NAME_SIZE], text[CHECK_TEXT_SIZE];
  check_compare(variant, shape, expected, actual, &differences);
  for (size_t i = 0; i < check_shown(&differences); i++) {
    check_difference_text(&differences.shown[i], text);
    fprintf(stderr, "  %s\n", text);
  }
  if (differences.count && mxq_variant_name(variant, name, sizeof name) == MXQ_OK)
    fprintf(stderr,
            "%s at (E, N, K) = (%" PRId64 ", %" PRId64 ", %" PRId64 "), strides (%" PRId64
            ", %" PRId64 "): %" PRIu64 " codes differ\n",
            name, shape->e, shape->n, shape->k, shape->stride_e, shape->stride_n,
            differences.count);
  return differences.count;
}
