/* SPDX-License-Identifier: MIT
 *
 * Schedules and geometry of kernels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axes.h"
#include "kernel_id.h"
#include "schedule.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static struct mxq_kernel_id kernel_of(const char *name) {
  struct mxq_kernel_id id;
  if (mxq_kernel_id_parse(name, &id) != MXQ_OK) fail_msg("%s", mxq_last_error());
  return id;
}

/* The i-th kernel of a variant, families and schedules in order of preference. */
static int kernel_at(const struct mxq_variant *variant, size_t index, struct mxq_kernel_id *id) {
  const struct mxq_family_facts *family;
  const struct mxq_schedule *row;
  for (size_t f = 0; (family = mxq_family_at(f)); ++f)
    for (size_t i = 0; (row = mxq_schedule_at(variant, family->family, i)); ++i) {
      if (index-- > 0) continue;
      *id = mxq_schedule_kernel(variant, row);
      return 1;
    }
  return 0;
}

static void every_schedule_reads_back(void **state) {
  (void)state;
  struct mxq_variant variant = {0};
  while (mxq_variant_next(&variant)) {
    struct mxq_kernel_id id, parsed;
    unsigned of_family[3] = {0};
    for (size_t i = 0; kernel_at(&variant, i, &id); ++i) {
      char name[MXQ_KERNEL_NAME_SIZE];
      memset(&parsed, 0xFF, sizeof parsed);
      assert_int_equal(mxq_kernel_id_name(&id, name, sizeof name), MXQ_OK);
      assert_int_equal(mxq_kernel_id_parse(name, &parsed), MXQ_OK);
      assert_memory_equal(&parsed, &id, sizeof id);
      ++of_family[id.family];
    }
    assert_true(of_family[MXQ_FAMILY_TMA] && of_family[MXQ_FAMILY_ANY]);
  }
}

/* All kernels of some variants: of each form, of inputs and codes of each width, and of the blocks
 * that leave few tiles. */
static void variants_have_their_kernels(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"quantize_bf16_e4m3_b32_rceil_colt_lin",
       "tma-128x128 tma-128x64 tma-256x64 tma-64x64 tma-32x64 tma-32x64-direct any-128x128"},
      {"quantize_f16_e5m2_b128_amax_col_lin",
       "tma-128x128 tma-128x64 tma-256x64 tma-128x32-direct any-128x128"},
      {"quantize_f32_e2m3_b64_even_sq_lin",
       "tma-128x64 tma-256x64 tma-128x128 tma-64x64 tma-64x64-direct any-64x128 any-128x128"},
      {"quantize_bf16_e4m3_b128_pow2_sqt_lin", "tma-128x128 any-128x128"},
      {"quantize_f16_e2m1_b16_ceil_colt_lin",
       "tma-256x64 tma-128x128 tma-128x64 tma-64x64 tma-32x64-direct any-256x64 any-128x128"},
      {"quantize_f32_e2m1_b32_floor_sqt_lin",
       "tma-256x32 tma-256x64 tma-128x64 tma-128x128 tma-64x64 tma-32x32-direct any-256x32 "
       "any-128x64 any-128x128"},
      {"quantize_f32_e2m1_b128_floor_sqt_lin", "tma-128x128 any-128x128"},
      {"quantize_bf16_e2m1_b32_floor_col_lin",
       "tma-128x128 tma-128x64 tma-64x64 tma-32x64 tma-32x64-direct any-64x256 any-128x128"},
      {"quantize_f32_e2m1_b16_floor_rowcol_lin",
       "tma-128x64 tma-128x128 tma-64x64 any-64x128 any-128x128"},
      {"quantize_bf16_e3m2_b16_rceil_row_lin", "tma-8x512 tma-4x512 any-64x256"},
      {"quantize_bf16_e3m2_b16_rceil_row_blk", "tma-64x64 tma-16x64 any-64x256"},
      {"quantize_f16_e2m1_b128_even_row_lin", "tma-16x512 tma-8x512 any-64x256"},
      {"quantize_f32_e2m1_b64_even_row_lin", "tma-8x512 tma-4x512 any-64x128"},
  };
  for (size_t i = 0; i < COUNT(rows); ++i) {
    const struct mxq_kernel_id first = kernel_of(rows[i][0]);
    struct mxq_kernel_id id;
    char text[256] = "", name[MXQ_KERNEL_NAME_SIZE];
    for (size_t k = 0; kernel_at(&first.variant, k, &id); ++k) {
      assert_int_equal(mxq_kernel_id_name(&id, name, sizeof name), MXQ_OK);
      strcat(strcat(text, k ? " " : ""), strchr(name, '.') + 1);
    }
    assert_string_equal(text, rows[i][1]);
  }
}

/* What the templates and tensor_plan.c count on, for kernels of each form. */
static void geometry_keeps_its_promises(void **state) {
  (void)state;
  static const struct {
    const char *kernel;
    struct mxq_geometry expected;
  } rows[] = {
      {"quantize_bf16_e4m3_b32_rceil_colt_lin.tma-128x128",
       {128, 128, 256, 2, 32, 0, 0, 32768, 32768, 16384, 49152, 49152, 49152, 49152, 49160, 4, 3}},
      {"quantize_bf16_e4m3_b32_floor_colt_lin.tma-256x64",
       {256, 64, 256, 2, 32, 0, 0, 32768, 32768, 16384, 49152, 49152, 49152, 49152, 49160, 4, 0}},
      {"quantize_f32_e4m3_b128_amax_sq_lin.tma-128x128",
       {128, 128, 512, 1, 32, 0, 0, 65536, 65536, 16384, 81920, 81920, 83968, 83968, 83976, 2, 0}},
      {"quantize_f16_e2m1_b16_even_colt_lin.tma-256x64",
       {256, 64, 256, 2, 32, 0, 0, 32768, 32768, 8192, 40960, 40960, 40960, 40960, 40968, 3, 0}},
      {"quantize_f32_e2m1_b64_ceil_sqt_lin.tma-256x64",
       {256, 64, 512, 1, 32, 0, 0, 65536, 65536, 8192, 73728, 73728, 75776, 75776, 75784, 2, 0}},
      {"quantize_bf16_e4m3_b128_amax_row_lin.tma-8x512",
       {8, 512, 128, 1, 1, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0}},
      {"quantize_bf16_e4m3_b16_rceil_colt_lin.tma-32x64-direct",
       {32, 64, 128, 2, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0}},
      {"quantize_f32_e2m1_b64_ceil_sq_lin.tma-64x64-direct",
       {64, 64, 256, 1, 16, 0, 0, 0, 0, 0, 0, 0, 32, 0, 32, 2, 0}},
      {"quantize_f16_e2m1_b32_even_row_lin.tma-16x512",
       {16, 512, 128, 1, 1, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0}},
      {"quantize_bf16_e4m3_b32_rceil_colt_lin.any-128x128",
       {128, 128, 256, 2, 32, 16, 0, 34816, 34816, 18432, 0, 53248, 53248, 0, 53248, 4, 0}},
      {"quantize_f32_e5m2_b128_pow2_sqt_lin.any-128x128",
       {128, 128, 512, 1, 32, 16, 0, 67584, 67584, 18432, 0, 86016, 88064, 0, 88064, 2, 0}},
      {"quantize_f16_e2m1_b16_even_rowcol_blk.any-64x256",
       {64, 256, 256, 2, 32, 32, 0, 33792, 33792, 9216, 0, 43008, 43008, 0, 44032, 2, 0}},
      {"quantize_bf16_e4m3_b32_rceil_rowcolt_blk.tma-128x128",
       {128, 128, 256, 2, 32, 0, 0, 32768, 32768, 16384, 49152, 65536, 65536, 66560, 66568, 3, 0}},
      {"quantize_bf16_e4m3_b32_rceil_rowcolt_lin.tma-128x128",
       {128, 128, 256, 2, 32, 0, 0, 32768, 32768, 16384, 49152, 65536, 65536, 66048, 66056, 3, 0}},
      {"quantize_bf16_e4m3_b32_rceil_rowcol_lin.tma-64x64",
       {64, 64, 128, 2, 32, 0, 0, 8192, 8192, 4096, 12288, 16384, 16384, 16512, 16520, 6, 0}},
      {"quantize_f32_e2m1_b128_rceil_rowcolt_lin.tma-128x128",
       {128, 128, 256, 2, 32, 0, 0, 65536, 32768, 8192, 40960, 49152, 50176, 65536, 65544, 3, 0}},
      {"quantize_f32_e4m3_b128_rceil_sqsqt_mn.tma-128x128",
       {128, 128, 512, 1, 32, 0, 0, 65536, 65536, 16384, 81920, 98304, 100352, 100360, 100368, 2,
        0}},
      {"quantize_f32_e4m3_b16_amax_rowcolt_lin.tma-128x64",
       {128, 64, 256, 1, 32, 0, 0, 32768, 32768, 8192, 40960, 49152, 49152, 51200, 51208, 3, 0}},
      {"quantize_bf16_e4m3_b32_rceil_row_blk.tma-32x128",
       {32, 128, 128, 1, 1, 16, 0, 0, 0, 0, 0, 0, 0, 0, 128, 9, 0}},
      {"dequantize_e4m3_bf16_b32_e8m0_colt_blk.tma-128x64",
       {128, 64, 128, 8, 4, 0, 0, 8192, 8192, 16384, 0, 0, 0, 24576, 24584, 8, 5}},
      {"dequantize_e2m1_f32_b16_e8m0_row_mn.tma-8x512",
       {8, 512, 128, 4, 8, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0}},
      {"dequantize_e5m2_f16_b64_f32_sqt_lin.any-128x128",
       {128, 128, 256, 8, 4, 0, 0, 18688, 19456, 32768, 0, 52224, 0, 0, 52240, 4, 0}},
      {"dequantize_e4m3_f32_b16_e8m0_row_blk.relayout-1x256",
       {1, 256, 256, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0}},
  };
  for (size_t i = 0; i < COUNT(rows); ++i) {
    const struct mxq_kernel_id id = kernel_of(rows[i].kernel);
    struct mxq_geometry geometry;
    mxq_geometry_of(&id, &geometry);
    assert_memory_equal(&geometry, &rows[i].expected, sizeof geometry);
  }
}

static void every_geometry_fits(void **state) {
  (void)state;
  const struct mxq_arch *large_arch, *small_arch; /* 228 and 100 KB of a multiprocessor */
  assert_int_equal(mxq_arch_parse("90a", &large_arch), MXQ_OK);
  assert_int_equal(mxq_arch_parse("120a", &small_arch), MXQ_OK);
  struct mxq_variant variant = {0};
  struct mxq_kernel_id id;
  while (mxq_variant_next(&variant))
    for (size_t i = 0; kernel_at(&variant, i, &id); ++i) {
      struct mxq_geometry geometry;
      mxq_geometry_of(&id, &geometry);
      const unsigned aligned = id.family == MXQ_FAMILY_TMA ? 1024 : 16; /* a swizzle's period */
      assert_int_equal(geometry.in_offset % aligned, 0);
      assert_int_equal(geometry.out_offset % aligned, 0);
      assert_int_equal(geometry.barrier_offset % 8, 0);
      assert_in_range(geometry.threads, 32, 1024);
      assert_int_equal(geometry.threads % 32, 0);
      assert_true(geometry.shared_bytes <= 99 * 1024); /* every arch has so much */
      assert_true(geometry.blocks_per_sm >= 1);
      assert_true(geometry.blocks_per_sm * (geometry.shared_bytes + 1024) <= 228 * 1024);
      assert_true(geometry.blocks_per_sm * geometry.threads <= 2048);
      const unsigned asks = mxq_geometry_asks(&geometry, large_arch);
      assert_in_range(asks, geometry.shared_bytes, 227 * 1024);
      if (geometry.blocks_best) {
        assert_true(geometry.blocks_best * (asks + 1024) <= 228 * 1024);
        assert_true((geometry.blocks_best + 1) * (asks + 1024) > 228 * 1024);
      }
      /* Where there is less, there are no more blocks anyway. */
      assert_in_range(mxq_geometry_asks(&geometry, small_arch), geometry.shared_bytes, 99 * 1024);
      struct mxq_geometry large = geometry, small = geometry;
      mxq_geometry_fit(&large, large_arch);
      mxq_geometry_fit(&small, small_arch);
      assert_int_equal(large.blocks_per_sm, geometry.blocks_per_sm);
      assert_in_range(small.blocks_per_sm, 1, geometry.blocks_per_sm);
      assert_true(small.blocks_per_sm * (geometry.shared_bytes + 1024) <= 100 * 1024);
      const unsigned more = small.blocks_per_sm + (small.blocks_per_sm < geometry.blocks_per_sm);
      assert_true(more == small.blocks_per_sm ||
                  more * (geometry.shared_bytes + 1024) > 100 * 1024);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_schedule_reads_back),
      cmocka_unit_test(variants_have_their_kernels),
      cmocka_unit_test(geometry_keeps_its_promises),
      cmocka_unit_test(every_geometry_fits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
