/* SPDX-License-Identifier: MIT
 *
 * Plans of kernels other than those of test_tensor_plan.c: maps of packed codes and of row-major
 * outputs, rows without maps, words of any tensor.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tensor_plan.h"

#define TWO(power)   (INT64_C(1) << (power))
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static enum mxq_status plan_on(const char *name, const char *arch_name,
                               const struct mxq_shape *shape, struct mxq_tensor_plan *plan) {
  struct mxq_kernel_id id;
  const struct mxq_arch *arch;
  if (mxq_kernel_id_parse(name, &id) != MXQ_OK) fail_msg("%s", mxq_last_error());
  assert_int_equal(mxq_arch_parse(arch_name, &arch), MXQ_OK);
  return mxq_tensor_plan_make(&id, arch, shape, plan);
}

static struct mxq_tensor_plan good_plan(const char *name, const char *arch, int64_t e, int64_t n,
                                        int64_t k) {
  const struct mxq_shape shape = mxq_shape_dense(e, n, k);
  struct mxq_tensor_plan plan;
  if (plan_on(name, arch, &shape, &plan) != MXQ_OK) fail_msg("%s: %s", name, mxq_last_error());
  return plan;
}

static void refused(const char *name, struct mxq_shape shape, const char *reason) {
  struct mxq_tensor_plan plan;
  memset(&plan, 0x5A, sizeof plan);
  const struct mxq_tensor_plan before = plan;
  assert_int_equal(plan_on(name, "90a", &shape, &plan), MXQ_UNSUPPORTED);
  if (!strstr(mxq_last_error(), reason))
    fail_msg("wanted \"%s\", got: %s", reason, mxq_last_error());
  assert_memory_equal(&plan, &before, sizeof plan);
}

/* Dimensions, byte strides, box, swizzle. */
static void spell(const struct mxq_map_plan *map, char text[160]) {
  static const char *const swizzles[] = {"none", "32B", "64B", "128B"};
  snprintf(text, 160, "%llu %llu %llu, %llu %llu, %u %u %u, %s", (unsigned long long)map->dims[0],
           (unsigned long long)map->dims[1], (unsigned long long)map->dims[2],
           (unsigned long long)map->strides_bytes[0], (unsigned long long)map->strides_bytes[1],
           (unsigned)map->box[0], (unsigned)map->box[1], (unsigned)map->box[2],
           swizzles[map->swizzle]);
}

static void output_maps_say_where_codes_go(void **state) {
  (void)state;
  static const struct {
    const char *kernel;
    int64_t e, n, k;
    const char *map;
  } rows[] = {
      /* Packed columns count bytes: {N/2, K, E}, strides {N/2, N*K/2}. */
      {"quantize_bf16_e2m1_b32_even_colt_lin.tma-256x64", 3, 320, 72,
       "160 72 3, 160 11520, 128 64 1, 128B"},
      {"quantize_f32_e2m1_b32_even_colt_lin.tma-256x32", 3, 320, 72,
       "160 72 3, 160 11520, 128 32 1, 128B"},
      /* A tile of 128 rows leaves in columns of 64 bytes. */
      {"quantize_bf16_e2m1_b32_even_colt_lin.tma-128x64", 3, 320, 72,
       "160 72 3, 160 11520, 64 64 1, 64B"},
      {"quantize_f32_e2m1_b128_even_sqt_lin.tma-128x128", 2, 64, 132,
       "32 132 2, 32 4224, 64 128 1, 64B"},
      /* Codes of six bits take a byte. */
      {"quantize_f16_e2m3_b16_floor_sqt_lin.tma-256x64", 3, 320, 72,
       "320 72 3, 320 23040, 128 64 1, 128B"},
      /* Row-major: {K, N, E}, no swizzle. */
      {"quantize_bf16_e4m3_b32_amax_col_lin.tma-128x128", 3, 5, 48,
       "48 5 3, 48 240, 128 128 1, none"},
      {"quantize_f32_e3m2_b64_ceil_sq_lin.tma-256x64", 3, 5, 48, "48 5 3, 48 240, 64 256 1, none"},
      {"quantize_bf16_e2m1_b32_floor_col_lin.tma-128x128", 3, 5, 96,
       "48 5 3, 48 240, 64 128 1, none"},
      {"quantize_f32_e2m1_b32_floor_sq_lin.tma-128x64", 2, 5, 32, "16 5 2, 16 80, 32 128 1, none"},
      /* Products of 32 bits would wrap. */
      {"quantize_bf16_e2m1_b32_even_colt_lin.tma-256x64", 2, TWO(20), TWO(18),
       "524288 262144 2, 524288 137438953472, 128 64 1, 128B"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    char text[160];
    const struct mxq_tensor_plan plan =
        good_plan(rows[i].kernel, "90a", rows[i].e, rows[i].n, rows[i].k);
    assert_int_equal(plan.form, MXQ_FORM_TILE);
    assert_int_equal(plan.out[0].rank, 3);
    assert_int_equal(plan.out[0].element, MXQ_MAP_U8);
    spell(&plan.out[0], text);
    if (strcmp(text, rows[i].map)) fail_msg("%s: %s", rows[i].kernel, text);
  }
}

static void scales_lie_where_the_contract_says(void **state) {
  (void)state;
  static const struct {
    const char *kernel;
    uint64_t stride_e, pitch; /* of (3, 70, 96): in scales; tiles of blk, words of packed mn */
  } rows[] = {
      {"quantize_bf16_e4m3_b32_rceil_row_lin.tma-8x512", 70 * 3, 3},
      {"quantize_bf16_e4m3_b32_rceil_row_lin.any-64x256", 70 * 3, 3},
      {"quantize_f32_e4m3_b32_amax_col_lin.any-64x128", 3 * 96, 96},
      {"quantize_f32_e4m3_b16_rceil_colt_lin.any-128x64", 5 * 96, 96},
      {"quantize_f16_e4m3_b64_pow2_sq_lin.tma-128x128", 2 * 2, 2},
      {"quantize_f16_e4m3_b128_pow2_sqt_lin.any-128x128", 1, 1},
      /* A tile of 128 rows and 4 columns. */
      {"quantize_bf16_e4m3_b32_rceil_row_blk.any-64x256", 512, 1},
      {"quantize_bf16_e4m3_b16_rceil_row_blk.any-64x256", 1024, 2},
      {"quantize_f32_e4m3_b32_rceil_colt_blk.any-128x64", 512, 1},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct mxq_tensor_plan plan = good_plan(rows[i].kernel, "90a", 3, 70, 96);
    assert_int_equal(plan.scale[0].stride_e, rows[i].stride_e);
    assert_int_equal(plan.scale[0].pitch, rows[i].pitch);
    const struct mxq_variant *variant = &plan.kernel.variant;
    const struct mxq_shape shape = mxq_shape_dense(3, 70, 96);
    struct mxq_byte_counts bytes;
    assert_int_equal(mxq_sizes(variant, &shape, &bytes), MXQ_OK);
    assert_int_equal(plan.scale[0].stride_e * 3 * mxq_mode_scale_bits(variant->mode) / 8,
                     bytes.scale[0]);
  }
}

static const char row[] = "quantize_bf16_e5m2_b32_rceil_row_lin.tma-8x512";
static const char row4[] = "quantize_f32_e2m1_b16_rceil_row_lin.tma-8x512";

static void rows_have_their_rules(void **state) {
  (void)state;
  struct mxq_tensor_plan plan = good_plan(row, "90a", 3, 17, 528);
  assert_int_equal(plan.form, MXQ_FORM_ROW);
  assert_int_equal(plan.in.rank, 0);
  assert_int_equal(plan.out[0].rank, 0);
  assert_int_equal(plan.tiles_n, 3);
  assert_int_equal(plan.tiles_k, 2);
  assert_int_equal(plan.grid, 18);
  assert_int_equal(plan.stride_n_bytes, 1056);
  assert_int_equal(plan.stride_e_bytes, 17 * 1056);
  refused(row, mxq_shape_dense(1, 8, 24), "K is 24; fast kernels take multiples of 16");
  refused(row4, mxq_shape_dense(1, 8, 48), "K is 48; fast kernels take multiples of 32");
  refused(row, (struct mxq_shape){2, 8, 64, 512, 68}, "strides are 1024 and 136 bytes");
  refused(row, (struct mxq_shape){2, 8, 64, 516, 64}, "strides are 1032 and 128 bytes");
  refused(row, mxq_shape_dense(1, 3, TWO(31) + 16), "fast kernels count to 2^31");
  refused(row, mxq_shape_dense(1, TWO(31) + 1, 16), "fast kernels count to 2^31");
  refused(row, mxq_shape_dense(TWO(31), 8, 512), "a grid has fewer than 2^31");
  refused(row, mxq_shape_dense(1, TWO(31), TWO(22)), "a grid has fewer than 2^31");
  plan = good_plan(row, "120a", TWO(31) - 1, 8, 512);
  assert_int_equal(plan.grid, 0x7fffffff);
  plan = good_plan(row, "90a", 1, TWO(31), 16);
  assert_int_equal(plan.grid, 1 << 28);
  assert_int_equal(good_plan(row, "90a", 5, 0, 24).grid, 0);
}

static const char any[] = "quantize_f32_e5m2_b32_rceil_colt_lin.any-128x64";

static void generic_kernels_take_everything(void **state) {
  (void)state;
  struct mxq_tensor_plan plan = good_plan(any, "80", 70001, 129, 3);
  assert_int_equal(plan.form, MXQ_FORM_ANY);
  assert_int_equal(plan.in.rank, 0);
  assert_int_equal(plan.out[0].rank, 0);
  assert_int_equal(plan.tiles_n, 2);
  assert_int_equal(plan.tiles_k, 1);
  assert_int_equal(plan.grid, 140002);
  assert_int_equal(plan.stride_e_bytes, 1548);
  assert_int_equal(plan.stride_n_bytes, 12);
  /* More elements, lengths and tiles than 32 bits count; a grid has fewer than 2^31 blocks. */
  plan = good_plan(any, "89", 3, TWO(33) + 1, 7);
  assert_true(plan.n == (uint64_t)TWO(33) + 1);
  assert_true(plan.tiles == 3 * ((uint64_t)TWO(26) + 1));
  assert_int_equal(plan.grid, plan.tiles);
  assert_true(plan.scale[0].stride_e == ((uint64_t)TWO(28) + 1) * 7);
  plan = good_plan(any, "90a", TWO(35), 3, 5);
  assert_true(plan.tiles == (uint64_t)TWO(35));
  assert_int_equal(plan.grid, 0x7fffffff);
  plan = good_plan(any, "90a", TWO(31) - 1, 3, 5);
  assert_int_equal(plan.grid, 0x7fffffff);
  /* Strides of axes of length 1 are no strides; any others are taken. */
  const struct mxq_shape odd = {.e = 3, .n = 5, .k = 7, .stride_e = 1, .stride_n = 3};
  const struct mxq_shape one = {.e = 1, .n = 1, .k = 7, .stride_e = -1, .stride_n = -3};
  assert_int_equal(plan_on(any, "80", &odd, &plan), MXQ_OK);
  assert_int_equal(plan.stride_e_bytes, 4);
  assert_int_equal(plan.stride_n_bytes, 12);
  assert_int_equal(plan_on(any, "80", &one, &plan), MXQ_OK);
  assert_int_equal(plan.stride_e_bytes, 0);
  assert_int_equal(plan.stride_n_bytes, 0);
  assert_int_equal(good_plan(any, "80", 0, 3, 3).grid, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(output_maps_say_where_codes_go),
      cmocka_unit_test(scales_lie_where_the_contract_says),
      cmocka_unit_test(rows_have_their_rules),
      cmocka_unit_test(generic_kernels_take_everything),
  };
  return cmocka_run_group_tests_name("tensor_forms", tests, NULL, NULL);
}
