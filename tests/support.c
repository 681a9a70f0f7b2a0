/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"

enum { guard_byte = 0xA5, poison_byte = 0xFF, shown_differences = 6 };

uint64_t support_random(uint64_t *state) {
  /* Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014. */
  uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

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

void support_buffer_free(struct support_buffer *buffer) {
  free(buffer->base);
  memset(buffer, 0, sizeof *buffer);
}

int support_buffer_guards(const struct support_buffer *buffer, const char *what) {
  const size_t end = SUPPORT_GUARD_BYTES + buffer->size;
  for (size_t i = 0; i < buffer->total; i++) {
    if (i == SUPPORT_GUARD_BYTES) i = end;
    if (i >= buffer->total || buffer->base[i] == guard_byte) continue;
    fprintf(stderr, "%s: byte %td of %zu, outside, was written: 0x%02X\n", what,
            (ptrdiff_t)i - SUPPORT_GUARD_BYTES, buffer->size, buffer->base[i]);
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
  if (status == MXQ_OK) support_fill(variant, shape, seed, tensors->in.data);
  return status;
}

void support_tensors_free(struct support_tensors *tensors) {
  support_buffer_free(&tensors->in);
  for (int part = 0; part < 2; part++) {
    support_buffer_free(&tensors->out[part]);
    support_buffer_free(&tensors->scale[part]);
  }
}

struct mxq_pointers support_tensors_pointers(const struct support_tensors *tensors) {
  struct mxq_pointers pointers = {tensors->in.data, {0, 0}, {0, 0}};
  for (int part = 0; part < 2; part++) {
    pointers.out[part] = tensors->out[part].size ? tensors->out[part].data : NULL;
    pointers.scale[part] = tensors->scale[part].size ? tensors->scale[part].data : NULL;
  }
  return pointers;
}

/* One walk over the places of an output: of every element, or of the first element of every
 * scale's block. */
struct walk {
  const struct mxq_variant *variant;
  const struct mxq_shape *shape;
  unsigned part;
  int scales;
  unsigned bits; /* of one code */
};

static uint64_t place_of(const struct walk *walk, uint64_t e, uint64_t n, uint64_t k) {
  return walk->scales ? mxq_scale_offset(walk->variant, walk->shape, walk->part, e, n, k)
                      : mxq_data_offset(walk->variant, walk->shape, walk->part, e, n, k);
}

static uint32_t code_at(const void *codes, unsigned bits, uint64_t place) {
  uint32_t word = 0;
  if (bits == 4) return (((const unsigned char *)codes)[place / 2] >> (place % 2 * 4)) & 15;
  memcpy(&word, (const unsigned char *)codes + place * (bits / 8), bits / 8);
  return word;
}

static void show(const struct walk *walk, uint64_t e, uint64_t n, uint64_t k, uint32_t expected,
                 uint32_t actual) {
  const int digits = (int)(walk->bits + 3) / 4;
  fprintf(stderr,
          "  %s of part %u at (e, n, k) = (%" PRIu64 ", %" PRIu64 ", %" PRIu64
          "): expected 0x%0*" PRIX32 ", got 0x%0*" PRIX32 "\n",
          walk->scales ? "scale" : "element", walk->part, e, n, k, digits, expected, digits,
          actual);
}

static uint64_t compare_walk(const struct walk *walk, const void *expected, const void *actual) {
  const unsigned kind = mxq_layout_part(walk->variant->layout, walk->part);
  const uint64_t step_n = walk->scales && kind & MXQ_PART_ALONG_N ? walk->variant->block : 1u;
  const uint64_t step_k = walk->scales && kind & MXQ_PART_ALONG_K ? walk->variant->block : 1u;
  const uint64_t rows = (uint64_t)walk->shape->n, columns = (uint64_t)walk->shape->k;
  uint64_t differences = 0;
  for (uint64_t e = 0; e < (uint64_t)walk->shape->e; e++)
    for (uint64_t n = 0; n < rows; n += step_n)
      for (uint64_t k = 0; k < columns; k += step_k) {
        const uint64_t place = place_of(walk, e, n, k);
        const uint32_t a = code_at(expected, walk->bits, place);
        const uint32_t b = code_at(actual, walk->bits, place);
        if (a != b && differences++ < shown_differences) show(walk, e, n, k, a, b);
      }
  return differences;
}

uint64_t support_compare(const struct mxq_variant *variant, const struct mxq_shape *shape,
                         const struct mxq_pointers *expected, const struct mxq_pointers *actual) {
  struct mxq_byte_counts bytes;
  char name[MXQ_VARIANT_NAME_SIZE];
  uint64_t differences = 0;
  if (mxq_sizes(variant, shape, &bytes) != MXQ_OK) return 1;
  for (unsigned part = 0; part < 2; part++) {
    struct walk data = {variant, shape, part, 0, mxq_type_facts(variant->out)->bits};
    struct walk scales = {variant, shape, part, 1, mxq_mode_facts(variant->mode)->scale_bits};
    if (bytes.scale[part] && memcmp(expected->scale[part], actual->scale[part], bytes.scale[part]))
      differences += compare_walk(&scales, expected->scale[part], actual->scale[part]);
    if (bytes.out[part] && memcmp(expected->out[part], actual->out[part], bytes.out[part]))
      differences += compare_walk(&data, expected->out[part], actual->out[part]);
  }
  if (differences && mxq_variant_name(variant, name, sizeof name) == MXQ_OK)
    fprintf(stderr,
            "%s at (E, N, K) = (%" PRId64 ", %" PRId64 ", %" PRId64 "), strides (%" PRId64
            ", %" PRId64 "): %" PRIu64 " codes differ\n",
            name, shape->e, shape->n, shape->k, shape->stride_e, shape->stride_n, differences);
  return differences;
}
