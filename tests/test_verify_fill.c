/* SPDX-License-Identifier: MIT
 *
 * That the inputs of mxq verify --exhaustive are what it says: every maximum, every code with every
 * scale, every float32 with a multiplier of 1 where its code depends on it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "cpu.h"
#include "verify_sweep.h"

/* One region in memory. */
struct made {
  struct check_region region;
  struct verify_blocks blocks;
  unsigned char *base;
};

static struct made make(const char *name, int64_t n, int64_t k) {
  const struct mxq_shape shape = mxq_shape_dense(1, n, k);
  struct mxq_variant variant;
  struct made made;
  assert_int_equal(mxq_variant_parse(name, &variant), MXQ_OK);
  assert_int_equal(check_region_plan(&variant, &shape, 0, &made.region), MXQ_OK);
  made.blocks = verify_blocks_of(&variant, &shape);
  made.base = aligned_alloc(256, made.region.bytes);
  assert_non_null(made.base);
  return made;
}

static uint32_t wide_at(const struct made *made, uint64_t n, uint64_t k) {
  const size_t size = mxq_type_facts(made->region.variant.in)->bits / 8;
  const uint64_t place = n * (uint64_t)made->region.shape.k + k;
  uint32_t bits = 0;
  memcpy(&bits, made->base + made->region.offsets[0] + place * size, size);
  return bits;
}

#define FOR_EACH_ELEMENT(made, row, column)                             \
  for (uint64_t row = 0; row < (uint64_t)(made)->region.shape.n; row++) \
    for (uint64_t column = 0; column < (uint64_t)(made)->region.shape.k; column++)

/* Marks the patterns (of float32 the upper halves) that are the largest of a block. */
static void mark_maxima(const struct made *made, unsigned char *seen) {
  const unsigned bits = mxq_type_facts(made->region.variant.in)->bits;
  const uint32_t magnitude = (1u << (bits - 1)) - 1;
  uint32_t *largest = calloc(made->blocks.count, sizeof *largest);
  assert_non_null(largest);
  FOR_EACH_ELEMENT(made, n, k) {
    uint32_t *of = &largest[verify_block_at(&made->blocks, n, k)];
    if ((wide_at(made, n, k) & magnitude) > *of) *of = wide_at(made, n, k) & magnitude;
  }
  FOR_EACH_ELEMENT(made, n, k) {
    const uint32_t pattern = wide_at(made, n, k);
    if ((pattern & magnitude) == largest[verify_block_at(&made->blocks, n, k)])
      seen[pattern >> (bits - 16)] = 1;
  }
  free(largest);
}

static size_t unseen(const unsigned char *seen, size_t count) {
  size_t missing = 0;
  for (size_t i = 0; i < count; i++) missing += !seen[i];
  return missing;
}

static void test_maxima(void **state) {
  static const char *const names[] = {
      "quantize_bf16_e4m3_b32_rceil_row_lin", "quantize_f16_e2m1_b32_even_colt_lin",
      "quantize_bf16_e5m2_b16_floor_sqt_lin", "quantize_f32_e3m2_b32_ceil_col_lin"};
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct made made = make(names[i], VERIFY_N, VERIFY_K);
    unsigned char *seen = calloc(VERIFY_PATTERNS, 1);
    assert_non_null(seen);
    for (uint64_t seed = 0; seed < VERIFY_PATTERNS; seed += made.blocks.count) {
      verify_fill_maxima(&made.region, seed, made.base);
      mark_maxima(&made, seen);
    }
    assert_int_equal(unseen(seen, VERIFY_PATTERNS), 0);
    free(seen);
    free(made.base);
  }
}

static unsigned code_at(const struct made *made, uint64_t n, uint64_t k) {
  const struct check_region *region = &made->region;
  const uint64_t place = mxq_data_offset(&region->variant, &region->shape, 0, 0, n, k);
  const unsigned char *codes = made->base + region->offsets[0];
  if (mxq_type_facts(region->variant.in)->bits == 8) return codes[place];
  return codes[place / 2] >> (place % 2 * 4) & 15;
}

/* The scale's byte, or the upper half of a float. */
static unsigned scale_at(const struct made *made, uint64_t n, uint64_t k) {
  const struct check_region *region = &made->region;
  const unsigned bits = mxq_mode_facts(region->variant.mode)->scale_bits;
  const uint64_t place = mxq_scale_offset(&region->variant, &region->shape, 0, 0, n, k);
  uint32_t scale = 0;
  memcpy(&scale, made->base + region->offsets[1] + place * (bits / 8), bits / 8);
  return bits == 8 ? scale : scale >> 16;
}

static void check_codes(const char *name, unsigned codes, unsigned scales, int64_t n, int64_t k,
                        uint64_t step) {
  struct made made = make(name, n, k);
  unsigned char *seen = calloc((size_t)codes * scales, 1);
  assert_non_null(seen);
  for (uint64_t seed = 0; seed < scales; seed += step) {
    verify_fill_codes(&made.region, seed, made.base);
    FOR_EACH_ELEMENT(&made, row, column)
    seen[scale_at(&made, row, column) * codes + code_at(&made, row, column)] = 1;
  }
  assert_int_equal(unseen(seen, (size_t)codes * scales), 0);
  free(seen);
  free(made.base);
}

static void test_codes(void **state) {
  (void)state;
  check_codes("dequantize_e4m3_bf16_b32_e8m0_row_lin", 256, 256, 512, 512, 1024);
  check_codes("dequantize_e2m1_f16_b32_e8m0_colt_lin", 16, 256, 512, 512, 1024);
  check_codes("dequantize_e3m2_f32_b32_e8m0_sqt_lin", 256, 256, 512, 512, 256);
  check_codes("dequantize_e5m2_f32_b32_f32_col_lin", 256, VERIFY_PATTERNS, VERIFY_N, VERIFY_K,
              8192);
}

/* Every pattern from `first` on that the batch is for is in it; where `one` is set, every block has
 * the scale 2^0. */
static void check_batch(const struct made *made, uint64_t first, uint64_t end, int one) {
  const uint64_t count = made->blocks.count * (VERIFY_CAST_BLOCK - 1);
  const uint64_t wanted = end - first < count ? end - first : count;
  unsigned char *seen = calloc(wanted, 1);
  assert_non_null(seen);
  verify_fill_casts(&made->region, first, made->base);
  FOR_EACH_ELEMENT(made, n, k) {
    const uint64_t at = wide_at(made, n, k) - first;
    if (at < wanted) seen[at] = 1;
  }
  assert_int_equal(unseen(seen, wanted), 0);
  free(seen);
  const struct mxq_pointers pointers = check_region_pointers(&made->region, made->base);
  mxq_cpu_run(&made->region.variant, &made->region.shape, &pointers);
  const unsigned char *scales = pointers.scale[0];
  for (uint64_t i = 0; one && i < made->region.sizes[4]; i++) assert_int_equal(scales[i], 127);
}

static void check_casts(const char *name) {
  const struct made made = make(name, VERIFY_N, VERIFY_K);
  const uint64_t count = made.blocks.count * (VERIFY_CAST_BLOCK - 1);
  uint64_t first = 0, kinds = 0;
  while (first < UINT64_C(1) << 32) {
    const uint64_t end = verify_casts_end(first, made.region.variant.out);
    assert_true(end > first);
    check_batch(&made, first, end, kinds % 3 == 0);
    if (end - first > count) check_batch(&made, end - count / 2, end, kinds % 3 == 0);
    first = end;
    kinds++;
  }
  assert_true(first == UINT64_C(1) << 32);
  assert_int_equal(kinds, 6); /* of each sign: multiplier 1, larger, not finite */
  free(made.base);
}

static void test_casts(void **state) {
  (void)state;
  check_casts("quantize_f32_e4m3_b32_floor_row_lin");
  check_casts("quantize_f32_e2m1_b32_floor_colt_lin");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_maxima),
      cmocka_unit_test(test_codes),
      cmocka_unit_test(test_casts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
