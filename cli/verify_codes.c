/* SPDX-License-Identifier: MIT
 *
 * Every code with every scale byte; of float32 scales, with every upper half.
 */
#include <string.h>

#include "axes.h"
#include "verify_sweep.h"

enum { CODE_SIDE = 512 };

static void put_code(unsigned char *codes, unsigned bits, uint64_t place, unsigned code) {
  if (bits == 8) {
    codes[place] = (unsigned char)code;
    return;
  }
  unsigned char *byte = &codes[place / 2];
  const unsigned shift = place % 2 * 4;
  *byte = (unsigned char)((*byte & ~(15u << shift)) | (code & 15) << shift);
}

/* The bits of the number-th scale; of float32 the upper half counts. */
static uint32_t scale_of(unsigned bits, uint64_t number) {
  return bits == 8 ? (uint32_t)(number % 256)
                   : (uint32_t)(number % VERIFY_PATTERNS) << 16 | (number * 40503u & 0xFFFF);
}

/* A scale stays for as many blocks as it takes to show all codes; seeds count scales. */
static uint64_t blocks_of_scale(const struct verify_blocks *blocks) {
  return blocks->elements < 256 ? 256 / blocks->elements : 1;
}

void verify_fill_codes(const struct check_region *region, uint64_t seed, unsigned char *base) {
  const struct mxq_variant *variant = &region->variant;
  const struct mxq_shape *shape = &region->shape;
  const struct verify_blocks blocks = verify_blocks_of(&region->variant, &region->shape);
  const unsigned bits = mxq_type_facts(variant->in)->bits;
  const unsigned scale_bits = mxq_mode_facts(variant->mode)->scale_bits;
  const uint64_t same = blocks_of_scale(&blocks);
  check_region_poison(region, base);
  for (uint64_t n = 0; n < (uint64_t)shape->n; n++)
    for (uint64_t k = 0; k < (uint64_t)shape->k; k++) {
      const uint64_t block = verify_block_at(&blocks, n, k),
                     element = verify_element_at(&blocks, n, k);
      const unsigned code = (unsigned)((block % same * blocks.elements + element) % 256);
      put_code(base + region->offsets[0], bits, mxq_data_offset(variant, shape, 0, 0, n, k), code);
      if (element) continue;
      const uint32_t scale = scale_of(scale_bits, seed + block / same);
      memcpy(base + region->offsets[1] +
                 mxq_scale_offset(variant, shape, 0, 0, n, k) * (scale_bits / 8),
             &scale, scale_bits / 8); /* little-endian */
    }
}

enum mxq_status verify_run_codes(struct verify_runner *runner, struct verify_task *task) {
  const struct mxq_variant *variant = &task->id.variant;
  const int floats = mxq_mode_facts(variant->mode)->scale_bits == 32;
  const int64_t n = floats ? VERIFY_N : CODE_SIDE, k = floats ? VERIFY_K : CODE_SIDE;
  const struct check_region region = {.variant = *variant, .shape = mxq_shape_dense(1, n, k)};
  const struct verify_blocks blocks = verify_blocks_of(&region.variant, &region.shape);
  const struct verify_sweep sweep = {"every code with every scale",
                                     n,
                                     k,
                                     0,
                                     floats ? VERIFY_PATTERNS : 256,
                                     blocks.count / blocks_of_scale(&blocks),
                                     verify_fill_codes};
  return verify_sweep_run(runner, &sweep, task);
}
