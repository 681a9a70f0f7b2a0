/* SPDX-License-Identifier: MIT
 *
 * What kernels of dequantize are launched with: maps, strides, grids and arguments; and which
 * kernel a shape or an address gets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "dequant_plan.h"
#include "kernel_id.h"
#include "plan.h"

static const struct mxq_arch *arch;

static struct mxq_kernel_id kernel_of(const char *name) {
  struct mxq_kernel_id id;
  if (mxq_kernel_id_parse(name, &id) != MXQ_OK) fail_msg("%s", mxq_last_error());
  return id;
}

static struct mxq_tensor_plan plan_of(const char *name, const struct mxq_shape *shape) {
  const struct mxq_kernel_id id = kernel_of(name);
  struct mxq_tensor_plan plan;
  if (mxq_tensor_plan_make(&id, arch, shape, &plan) != MXQ_OK) fail_msg("%s", mxq_last_error());
  return plan;
}

static void refuses(const char *name, struct mxq_shape shape, const char *text) {
  const struct mxq_kernel_id id = kernel_of(name);
  struct mxq_tensor_plan plan;
  assert_int_equal(mxq_tensor_plan_make(&id, arch, &shape, &plan), MXQ_UNSUPPORTED);
  if (!strstr(mxq_last_error(), text)) fail_msg("no \"%s\" in: %s", text, mxq_last_error());
}

static void check_map(const struct mxq_map_plan *map, enum mxq_map_element element,
                      const uint64_t dims[3], const uint64_t strides[2], const uint32_t box[2]) {
  assert_int_equal(map->element, element);
  assert_int_equal(map->swizzle, MXQ_MAP_SWIZZLE_128B);
  assert_int_equal(map->rank, 3);
  for (int i = 0; i < 3; i++) assert_int_equal(map->dims[i], dims[i]);
  for (int i = 0; i < 2; i++) assert_int_equal(map->strides_bytes[i], strides[i]);
  for (int i = 0; i < 2; i++) assert_int_equal(map->box[i], box[i]);
  assert_int_equal(map->box[2], 1);
}

static void test_maps(void **state) {
  /* Matrices inside rows: strides in any order. */
  const struct mxq_shape shape = {3, 96, 40, 48, 160};
  struct mxq_tensor_plan plan =
      plan_of("dequantize_e4m3_bf16_b32_e8m0_colt_lin.tma-128x64", &shape);
  (void)state;
  check_map(&plan.in, MXQ_MAP_U8, (uint64_t[]){96, 40, 3}, (uint64_t[]){96, 96 * 40},
            (uint32_t[]){128, 64});
  check_map(&plan.out[0], MXQ_MAP_U16, (uint64_t[]){40, 96, 3}, (uint64_t[]){320, 96},
            (uint32_t[]){64, 128});
  plan = plan_of("dequantize_e2m1_f32_b32_e8m0_sqt_blk", &shape);
  check_map(&plan.in, MXQ_MAP_U8, (uint64_t[]){48, 40, 3}, (uint64_t[]){48, 48 * 40},
            (uint32_t[]){128, 32});
  check_map(&plan.out[0], MXQ_MAP_F32, (uint64_t[]){40, 96, 3}, (uint64_t[]){640, 192},
            (uint32_t[]){32, 256});
  assert_int_equal(plan.scale[0].pitch, 1);
  assert_int_equal(plan.scale[0].stride_e, 512);
  assert_int_equal(plan.grid, 2 * 3); /* padding of scales has no tiles here */
}

static void test_maps_of_one_row_and_matrix(void **state) {
  const struct mxq_shape shape = {1, 16, 8, -7, 8};
  const struct mxq_tensor_plan plan = plan_of("dequantize_e5m2_f16_b16_f32_colt_mn", &shape);
  (void)state;
  assert_int_equal(plan.out[0].strides_bytes[0], 16);
  assert_int_equal(plan.out[0].strides_bytes[1] % 16, 0);
  assert_int_equal(plan.in.strides_bytes[1] % 16, 0);
  assert_int_equal(plan.stride_e_bytes, 0);
}

static void test_arguments(void **state) {
  const struct mxq_shape shape = {2, 100, 1024, 200000, 1056};
  const struct mxq_tensor_plan plan = plan_of("dequantize_e4m3_f32_b128_f32_col_lin", &shape);
  const struct mxq_pointers at = {.in = &shape, .in_scale = &plan, .out = {(void *)&arch}};
  union mxq_kernel_args args;
  (void)state;
  memset(&args, 0, sizeof args);
  mxq_kernel_args_fill(&plan, &args);
  mxq_kernel_args_point(&plan, &at, &args);
  assert_int_equal(plan.form, MXQ_FORM_DEQUANT_ROW);
  assert_int_equal(plan.in.rank, 0);
  assert_int_equal(plan.grid, 13 * 2 * 2);
  assert_ptr_equal(args.dequant_row.in, at.in);
  assert_ptr_equal(args.dequant_row.scale, at.in_scale);
  assert_ptr_equal(args.dequant_row.out, at.out[0]);
  assert_int_equal(args.dequant_row.stride_n_bytes, 1056 * 4);
  assert_int_equal(args.dequant_row.stride_e_bytes, 200000 * 4);
  assert_int_equal(args.dequant_row.scale_pitch, 1024);
  assert_int_equal(args.dequant_row.scale_stride_e, 1024);
  assert_int_equal(args.dequant_row.tiles_n.value, 13);
}

static void test_refusals(void **state) {
  (void)state;
  refuses("dequantize_e4m3_bf16_b32_e8m0_row_lin", mxq_shape_dense(1, 4, 24), "multiples of 16");
  refuses("dequantize_e2m1_bf16_b32_e8m0_row_lin", mxq_shape_dense(1, 4, 48), "multiples of 32");
  refuses("dequantize_e4m3_bf16_b32_e8m0_colt_lin", mxq_shape_dense(1, 24, 32), "input map");
  refuses("dequantize_e4m3_bf16_b32_e8m0_colt_lin", (struct mxq_shape){1, 32, 12, 0, 16},
          "multiples of 8");
  refuses("dequantize_e4m3_f32_b32_e8m0_colt_lin", (struct mxq_shape){1, 32, 8, 0, 9},
          "the output's strides");
  refuses("dequantize_e4m3_bf16_b32_e8m0_row_lin", (struct mxq_shape){2, 4, 32, 129, 32},
          "the output's strides");
  refuses("dequantize_e4m3_bf16_b32_e8m0_row_lin", mxq_shape_dense(1, 1, (INT64_C(1) << 31) + 16),
          "2^31");
}

/* Which family takes a shape, and which takes addresses that are aligned to elements alone. */
static void test_selection(void **state) {
  const struct mxq_kernel_id id = kernel_of("dequantize_e5m2_f32_b64_e8m0_sqt_mn");
  const struct mxq_shape shape = mxq_shape_dense(2, 64, 64), odd = mxq_shape_dense(2, 63, 64);
  struct mxq_pointers at = {
      .in = (void *)4096, .in_scale = (void *)8192, .out = {(void *)(uintptr_t)65536}};
  struct mxq_tensor_plan plan;
  (void)state;
  assert_int_equal(mxq_plan_select(&id.variant, arch, NULL, &shape, &at, &plan), MXQ_OK);
  assert_int_equal(plan.form, MXQ_FORM_DEQUANT_TILE);
  assert_int_equal(mxq_plan_select(&id.variant, arch, NULL, &odd, &at, &plan), MXQ_OK);
  assert_int_equal(plan.form, MXQ_FORM_DEQUANT_ANY);
  const void **const addresses[] = {&at.in, &at.in_scale, (const void **)&at.out[0]};
  for (size_t i = 0; i < 3; i++) {
    const char *const aligned = *addresses[i];
    *addresses[i] = aligned + 4;
    assert_int_equal(mxq_plan_select(&id.variant, arch, NULL, &shape, &at, &plan), MXQ_OK);
    assert_int_equal(plan.form, MXQ_FORM_DEQUANT_ANY);
    *addresses[i] = aligned;
  }
}

static void test_scales_alone_are_no_plan(void **state) {
  const struct mxq_kernel_id id = kernel_of("dequantize_e4m3_f32_b16_e8m0_row_blk.relayout-1x256");
  const struct mxq_shape shape = mxq_shape_dense(1, 64, 64);
  struct mxq_tensor_plan plan;
  (void)state;
  assert_int_equal(id.family, MXQ_FAMILY_RELAYOUT);
  assert_int_equal(mxq_tensor_plan_make(&id, arch, &shape, &plan), MXQ_INVALID_ARGUMENT);
  assert_non_null(strstr(mxq_last_error(), "mxq_relayout"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_maps),      cmocka_unit_test(test_maps_of_one_row_and_matrix),
      cmocka_unit_test(test_arguments), cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_selection), cmocka_unit_test(test_scales_alone_are_no_plan),
  };
  if (mxq_arch_parse("90a", &arch) != MXQ_OK) return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
