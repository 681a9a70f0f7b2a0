/* SPDX-License-Identifier: MIT */
#include "check_compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "axes.h"
#include "shape.h"

/* One walk over the places of an output: of every element, or of the first element of every
 * scale's block. */
struct walk {
  const struct mxq_variant *variant;
  const struct mxq_shape *shape;
  unsigned part;
  enum check_place place;
  unsigned bits; /* of one code, scale or wide element */
  const unsigned char *expected, *actual;
  struct check_differences *differences;
};

static uint64_t offset_of(const struct walk *walk, uint64_t e, uint64_t n, uint64_t k) {
  const struct mxq_shape *shape = walk->shape;
  if (walk->variant->op == MXQ_OP_DEQUANTIZE)
    return (shape->e > 1 ? e * (uint64_t)shape->stride_e : 0) +
           (shape->n > 1 ? n * (uint64_t)shape->stride_n : 0) + k;
  return walk->place == CHECK_SCALE ? mxq_scale_offset(walk->variant, shape, walk->part, e, n, k)
                                    : mxq_data_offset(walk->variant, shape, walk->part, e, n, k);
}

static uint32_t code_at(const unsigned char *codes, unsigned bits, uint64_t offset) {
  uint32_t word = 0;
  if (bits == 4) return (codes[offset / 2] >> (offset % 2 * 4)) & 15;
  memcpy(&word, codes + offset * (bits / 8), bits / 8);
  return word;
}

static const char *tensor_of(const struct walk *walk) {
  static const char *const names[2][2] = {{"out[0]", "out[1]"}, {"scale[0]", "scale[1]"}};
  return names[walk->place == CHECK_SCALE][walk->part];
}

static void look_at(const struct walk *walk, uint64_t e, uint64_t n, uint64_t k) {
  const uint64_t offset = offset_of(walk, e, n, k);
  const struct check_difference found = {.place = walk->place,
                                         .tensor = tensor_of(walk),
                                         .e = e,
                                         .n = n,
                                         .k = k,
                                         .bits = walk->bits,
                                         .expected = code_at(walk->expected, walk->bits, offset),
                                         .actual = code_at(walk->actual, walk->bits, offset)};
  if (found.expected != found.actual) check_difference_add(walk->differences, &found);
}

static void walk_places(const struct walk *walk) {
  const unsigned kind =
      walk->place == CHECK_SCALE ? mxq_layout_part(walk->variant->layout, walk->part) : 0;
  const uint64_t step_n = kind & MXQ_PART_ALONG_N ? walk->variant->block : 1u;
  const uint64_t step_k = kind & MXQ_PART_ALONG_K ? walk->variant->block : 1u;
  for (uint64_t e = 0; e < (uint64_t)walk->shape->e; e++)
    for (uint64_t n = 0; n < (uint64_t)walk->shape->n; n += step_n)
      for (uint64_t k = 0; k < (uint64_t)walk->shape->k; k += step_k) look_at(walk, e, n, k);
}

/* What no element has a place in: padding, copies of a scale, gaps between rows. */
static void walk_bytes(const struct walk *walk, uint64_t size) {
  for (uint64_t i = 0; i < size; i++) {
    const struct check_difference found = {.place = CHECK_BESIDE,
                                           .tensor = tensor_of(walk),
                                           .byte = (int64_t)i,
                                           .bits = 8,
                                           .expected = walk->expected[i],
                                           .actual = walk->actual[i]};
    if (found.expected != found.actual) check_difference_add(walk->differences, &found);
  }
}

static void compare_output(const struct walk *walk, uint64_t size) {
  const uint64_t before = walk->differences->count;
  if (size == 0 || memcmp(walk->expected, walk->actual, size) == 0) return;
  walk_places(walk);
  if (walk->differences->count == before) walk_bytes(walk, size);
}

size_t check_shown(const struct check_differences *differences) {
  return differences->count < CHECK_SHOWN ? (size_t)differences->count : CHECK_SHOWN;
}

void check_difference_add(struct check_differences *differences,
                          const struct check_difference *difference) {
  if (differences->count < CHECK_SHOWN) differences->shown[differences->count] = *difference;
  differences->count++;
}

void check_difference_text(const struct check_difference *d, char text[CHECK_TEXT_SIZE]) {
  const int digits = (int)(d->bits + 3) / 4;
  size_t used = 0;
  if (d->place == CHECK_BESIDE || d->place == CHECK_OUTSIDE)
    used = (size_t)snprintf(text, CHECK_TEXT_SIZE, "%s, byte %" PRId64 ", %s", d->tensor, d->byte,
                            d->place == CHECK_BESIDE ? "beside its elements" : "not to be written");
  else
    used = (size_t)snprintf(text, CHECK_TEXT_SIZE,
                            "%s at (e, n, k) = (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")", d->tensor,
                            d->e, d->n, d->k);
  snprintf(text + used, CHECK_TEXT_SIZE - used, ": expected 0x%0*" PRIX32 ", got 0x%0*" PRIX32,
           digits, d->expected, digits, d->actual);
}

void check_compare_scales(const struct mxq_variant *variant, const struct mxq_shape *shape,
                          unsigned part, const void *expected, const void *actual,
                          struct check_differences *differences) {
  const struct walk walk = {
      variant,  shape,  part,       CHECK_SCALE, mxq_mode_facts(variant->mode)->scale_bits,
      expected, actual, differences};
  uint64_t bytes = 0;
  if (mxq_shape_scale_bytes(variant, shape, part, &bytes) == MXQ_OK) compare_output(&walk, bytes);
}

void check_compare(const struct mxq_variant *variant, const struct mxq_shape *shape,
                   const struct mxq_pointers *expected, const struct mxq_pointers *actual,
                   struct check_differences *differences) {
  struct mxq_byte_counts bytes;
  if (mxq_sizes(variant, shape, &bytes) != MXQ_OK) return;
  for (unsigned part = 0; part < 2; part++) {
    const struct walk data = {variant,
                              shape,
                              part,
                              CHECK_ELEMENT,
                              mxq_type_facts(variant->out)->bits,
                              expected->out[part],
                              actual->out[part],
                              differences};
    if (bytes.scale[part])
      check_compare_scales(variant, shape, part, expected->scale[part], actual->scale[part],
                           differences);
    compare_output(&data, bytes.out[part]);
  }
}
