/* SPDX-License-Identifier: MIT
 *
 * Every 16-bit pattern as the maximum of a block; of float32, every upper half.
 */
#include "axes.h"
#include "check_fill.h"
#include "verify_sweep.h"

struct maxima {
  uint64_t first; /* the number of the first block's maximum */
  uint64_t elements;
  uint64_t random;
  unsigned bits;
  uint32_t infinity;
  uint32_t span; /* magnitudes below a maximum that are not rounded to nothing */
};

/* Numbers count through all patterns of 16 bits, for float32 as upper halves of several each. */
static uint32_t maximum_of(const struct maxima *maxima, uint64_t number) {
  static const uint32_t lower[] = {0, 1, 0xFFFF, 0x4001};
  const uint32_t pattern = (uint32_t)(number % VERIFY_PATTERNS);
  return maxima->bits == 16 ? pattern : pattern << 16 | lower[number / VERIFY_PATTERNS % 4];
}

static uint32_t beside_maximum(struct maxima *maxima, uint32_t maximum) {
  const uint32_t sign_bit = 1u << (maxima->bits - 1), magnitude = maximum & (sign_bit - 1);
  const uint32_t most = magnitude < maxima->infinity ? magnitude : maxima->infinity - 1;
  const uint64_t random = check_random(&maxima->random);
  const uint32_t low = (uint32_t)(random >> 32);
  const uint32_t sign = random & 1 ? sign_bit : 0;
  if (random % 8 < 2) return sign | (uint32_t)(low % ((uint64_t)most + 1));
  const uint32_t below = low % maxima->span;
  return sign | (below < most ? most - below : 0);
}

static uint32_t maxima_bits(void *user, uint64_t block, uint64_t element) {
  struct maxima *maxima = user;
  const uint32_t maximum = maximum_of(maxima, maxima->first + block);
  if (element == block * 7 % maxima->elements) return maximum;
  return beside_maximum(maxima, maximum);
}

void verify_fill_maxima(const struct check_region *region, uint64_t seed, unsigned char *base) {
  const struct mxq_type_facts *in = mxq_type_facts(region->variant.in);
  const struct mxq_type_facts *out = mxq_type_facts(region->variant.out);
  struct maxima maxima = {.first = seed, .random = seed, .bits = in->bits};
  maxima.elements = verify_blocks_of(&region->variant, &region->shape).elements;
  maxima.infinity = ((1u << in->exponent_bits) - 1) << in->mantissa_bits;
  maxima.span = ((1u << out->exponent_bits) + out->mantissa_bits + 1) << in->mantissa_bits;
  check_region_poison(region, base);
  verify_fill_wide(region, base, maxima_bits, &maxima);
}

enum mxq_status verify_run_maxima(struct verify_runner *runner, struct verify_task *task) {
  const struct mxq_variant *variant = &task->id.variant;
  const struct mxq_shape shape = mxq_shape_dense(1, VERIFY_N, VERIFY_K);
  const struct mxq_scale_grid grid = mxq_scale_grid_of(variant, &shape, 0);
  const uint64_t count =
      mxq_type_facts(variant->in)->bits == 16 ? VERIFY_PATTERNS : 4 * VERIFY_PATTERNS;
  const struct verify_sweep sweep = {
      "every maximum",   VERIFY_N, VERIFY_K, 0, count, grid.blocks_n * grid.blocks_k,
      verify_fill_maxima};
  return verify_sweep_run(runner, &sweep, task);
}
