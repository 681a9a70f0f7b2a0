/* SPDX-License-Identifier: MIT */
#include "check_region.h"

#include <string.h>

#include "axes.h"
#include "check_fill.h"

enum { alignment = 256, inputs = 2 };

static const char *const names[CHECK_TENSORS] = {"in",     "in_scale", "out[0]",
                                                 "out[1]", "scale[0]", "scale[1]"};

static uint64_t element_bytes(const struct mxq_variant *variant, int tensor) {
  const unsigned bits = tensor == 1 || tensor > 3 ? mxq_mode_facts(variant->mode)->scale_bits
                        : tensor == 0             ? mxq_type_facts(variant->in)->bits
                                                  : mxq_type_facts(variant->out)->bits;
  return bits < 8 ? 1 : bits / 8;
}

static uint64_t round_up(uint64_t value) { return (value + alignment - 1) / alignment * alignment; }

/* A tensor and the guard before it, and the one after, up to the next tensor's. */
static void fill_guards(const struct check_region *region, int tensor, unsigned char *base) {
  const uint64_t begin = tensor ? region->offsets[tensor] - CHECK_GUARD_BYTES : 0;
  const uint64_t end =
      tensor + 1 < CHECK_TENSORS ? region->offsets[tensor + 1] - CHECK_GUARD_BYTES : region->bytes;
  memset(base + begin, tensor < inputs ? CHECK_POISON : CHECK_GUARD_BYTE, end - begin);
  memset(base + region->offsets[tensor], CHECK_POISON, region->sizes[tensor]);
}

/* The tensor that a byte between two is nearer to. */
static int nearest_tensor(const struct check_region *region, int tensor, uint64_t at) {
  int before = tensor - 1, after = tensor;
  while (before > 0 && !region->sizes[before]) before--;
  while (after < CHECK_TENSORS && !region->sizes[after]) after++;
  if (before < 0) return after;
  if (after == CHECK_TENSORS) return before;
  const uint64_t end = region->offsets[before] + region->sizes[before];
  return at >= region->offsets[after] || region->offsets[after] - at < at - end ? after : before;
}

/* Bytes that no output has. */
static void compare_outside(const struct check_region *region, int tensor, uint64_t begin,
                            uint64_t end, const unsigned char *expected,
                            const unsigned char *actual, struct check_differences *differences) {
  if (memcmp(expected + begin, actual + begin, end - begin) == 0) return;
  for (uint64_t i = begin; i < end; i++) {
    const int nearest = nearest_tensor(region, tensor, i);
    const struct check_difference found = {.place = CHECK_OUTSIDE,
                                           .tensor = names[nearest],
                                           .byte = (int64_t)(i - region->offsets[nearest]),
                                           .bits = 8,
                                           .expected = expected[i],
                                           .actual = actual[i]};
    if (found.expected != found.actual) check_difference_add(differences, &found);
  }
}

enum mxq_status check_region_plan(const struct mxq_variant *variant, const struct mxq_shape *shape,
                                  unsigned shift, struct check_region *region) {
  struct mxq_byte_counts bytes;
  const enum mxq_status status = mxq_sizes(variant, shape, &bytes);
  if (status != MXQ_OK) return status;
  const uint64_t sizes[CHECK_TENSORS] = {bytes.in,     bytes.in_scale, bytes.out[0],
                                         bytes.out[1], bytes.scale[0], bytes.scale[1]};
  uint64_t at = 0;
  region->variant = *variant;
  region->shape = *shape;
  for (int i = 0; i < CHECK_TENSORS; i++) {
    region->sizes[i] = sizes[i];
    region->offsets[i] = round_up(at + CHECK_GUARD_BYTES) + shift * element_bytes(variant, i);
    at = region->offsets[i] + sizes[i];
  }
  region->bytes = round_up(at + CHECK_GUARD_BYTES);
  return MXQ_OK;
}

void check_region_poison(const struct check_region *region, unsigned char *base) {
  for (int i = 0; i < CHECK_TENSORS; i++) fill_guards(region, i, base);
}

void check_region_fill(const struct check_region *region, uint64_t seed, unsigned char *base) {
  check_region_poison(region, base);
  if (region->variant.op == MXQ_OP_QUANTIZE)
    check_fill_values(&region->variant, &region->shape, seed, base + region->offsets[0]);
  else
    check_fill_codes(&region->variant, region->sizes[0], region->sizes[1], seed,
                     base + region->offsets[0], base + region->offsets[1]);
}

struct mxq_pointers check_region_pointers(const struct check_region *region, void *base) {
  unsigned char *at[CHECK_TENSORS];
  for (int i = 0; i < CHECK_TENSORS; i++)
    at[i] = i && !region->sizes[i] ? NULL : (unsigned char *)base + region->offsets[i];
  const struct mxq_pointers pointers = {at[0], at[1], {at[2], at[3]}, {at[4], at[5]}};
  return pointers;
}

void check_region_compare(const struct check_region *region, const unsigned char *expected,
                          const unsigned char *actual, struct check_differences *differences) {
  if (memcmp(expected, actual, region->bytes) == 0) return;
  const struct mxq_pointers want = check_region_pointers(region, (void *)(uintptr_t)expected);
  const struct mxq_pointers got = check_region_pointers(region, (void *)(uintptr_t)actual);
  check_compare(&region->variant, &region->shape, &want, &got, differences);
  uint64_t at = 0;
  for (int i = 0; i < CHECK_TENSORS; i++) {
    const uint64_t end = region->offsets[i] + (i < inputs ? region->sizes[i] : 0);
    compare_outside(region, i, at, end, expected, actual, differences);
    at = region->offsets[i] + region->sizes[i];
  }
  compare_outside(region, CHECK_TENSORS - 1, at, region->bytes, expected, actual, differences);
}
