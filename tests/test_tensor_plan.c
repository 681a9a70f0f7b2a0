/* SPDX-License-Identifier: MIT
 *
 * Plans with no driver: maps, tiles, strides, and the shapes that are refused, by name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axes.h"
#include "schedule.h"
#include "support.h"
#include "tensor_plan.h"

#define TWO(power)   (UINT64_C(1) << (power))
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static struct mxq_kernel_id kernel_of(const char *name) {
  struct mxq_kernel_id id;
  assert_int_equal(mxq_kernel_id_parse(name, &id), MXQ_OK);
  return id;
}

static const struct mxq_arch *arch_of(const char *name) {
  const struct mxq_arch *arch;
  assert_int_equal(mxq_arch_parse(name, &arch), MXQ_OK);
  return arch;
}

static const char bf16_name[] = "quantize_bf16_e4m3_b32_rceil_colt_lin.tma-128x128";
static const char wide_name[] = "quantize_bf16_e4m3_b32_rceil_colt_lin.tma-256x64";
static const char f32_name[] = "quantize_f32_e5m2_b32_floor_colt_lin.tma-128x64";

static enum mxq_status plan_of(const char *name, const struct mxq_shape *shape,
                               struct mxq_tensor_plan *plan) {
  const struct mxq_kernel_id id = kernel_of(name);
  return mxq_tensor_plan_make(&id, arch_of("90a"), shape, plan);
}

static struct mxq_tensor_plan good_plan(const char *name, const struct mxq_shape *shape) {
  struct mxq_tensor_plan plan;
  if (plan_of(name, shape, &plan) != MXQ_OK) fail_msg("%s: %s", name, mxq_last_error());
  return plan;
}

static void refused(const char *name, const struct mxq_shape *shape, const char *reason) {
  struct mxq_tensor_plan plan;
  memset(&plan, 0x5A, sizeof plan);
  const struct mxq_tensor_plan before = plan;
  assert_int_equal(plan_of(name, shape, &plan), MXQ_UNSUPPORTED);
  if (!strstr(mxq_last_error(), reason))
    fail_msg("wanted \"%s\", got: %s", reason, mxq_last_error());
  assert_memory_equal(&plan, &before, sizeof plan);
}

static void check_map(const struct mxq_map_plan *map, const uint64_t dims[3],
                      const uint64_t strides[2], const uint32_t box[3]) {
  assert_int_equal(map->rank, 3);
  assert_memory_equal(map->dims, dims, 3 * sizeof *dims);
  assert_memory_equal(map->strides_bytes, strides, 2 * sizeof *strides);
  assert_memory_equal(map->box, box, 3 * sizeof *box);
}
#define CHECK_MAP(map, d0, d1, d2, s0, s1, b0, b1)                           \
  check_map(map, (const uint64_t[]){d0, d1, d2}, (const uint64_t[]){s0, s1}, \
            (const uint32_t[]){b0, b1, 1})

static void test_dense(void **state) {
  const struct mxq_shape shape = mxq_shape_dense(8, 8192, 5120);
  struct mxq_tensor_plan plan = good_plan(bf16_name, &shape);
  (void)state;
  CHECK_MAP(&plan.in, 5120, 8192, 8, 10240, 83886080, 128, 128);
  CHECK_MAP(&plan.out[0], 8192, 5120, 8, 8192, 41943040, 128, 128);
  assert_int_equal(plan.in.element, MXQ_MAP_U16);
  assert_int_equal(plan.in.swizzle, MXQ_MAP_SWIZZLE_NONE);
  assert_int_equal(plan.out[0].element, MXQ_MAP_U8);
  assert_int_equal(plan.out[0].swizzle, MXQ_MAP_SWIZZLE_128B);
  assert_int_equal(plan.tiles_n, 64);
  assert_int_equal(plan.tiles_k, 40);
  assert_int_equal(plan.grid, 64 * 40 * 8);
  assert_int_equal(plan.scale[0].stride_e, 256 * 5120);
  /* A tile of 256 along N leaves in two pieces of 128. */
  plan = good_plan(wide_name, &shape);
  CHECK_MAP(&plan.in, 5120, 8192, 8, 10240, 83886080, 64, 256);
  CHECK_MAP(&plan.out[0], 8192, 5120, 8, 8192, 41943040, 128, 64);
  plan = good_plan(f32_name, &shape);
  assert_int_equal(plan.in.element, MXQ_MAP_F32);
  CHECK_MAP(&plan.in, 5120, 8192, 8, 20480, 167772160, 64, 128);
}

static void test_ragged(void **state) {
  const struct mxq_shape shape = mxq_shape_dense(3, 272, 136);
  const struct mxq_tensor_plan plan = good_plan(bf16_name, &shape);
  (void)state;
  assert_int_equal(plan.tiles_n, 3);
  assert_int_equal(plan.tiles_k, 2);
  assert_int_equal(plan.grid, 18);
  assert_int_equal(plan.scale[0].stride_e, 9 * 136);
}

static void test_strides(void **state) {
  struct mxq_shape shape = {.e = 4, .n = 64, .k = 40, .stride_e = 40, .stride_n = 160};
  struct mxq_tensor_plan plan = good_plan(bf16_name, &shape);
  (void)state;
  CHECK_MAP(&plan.in, 40, 64, 4, 320, 80, 128, 128); /* E inside N */
  CHECK_MAP(&plan.out[0], 64, 40, 4, 64, 2560, 128, 128);
  shape.stride_e = 0; /* broadcast */
  plan = good_plan(bf16_name, &shape);
  CHECK_MAP(&plan.in, 40, 64, 4, 320, 0, 128, 128);
  shape = (struct mxq_shape){.e = 1, .n = 64, .k = 24, .stride_e = -7, .stride_n = 24};
  plan = good_plan(bf16_name, &shape); /* no step along E */
  CHECK_MAP(&plan.in, 24, 64, 1, 48, 48, 128, 128);
  shape = (struct mxq_shape){.e = 1, .n = 1, .k = 1, .stride_e = -7, .stride_n = 3};
  plan = good_plan(f32_name, &shape);
  CHECK_MAP(&plan.in, 1, 1, 1, 16, 16, 64, 128);
  CHECK_MAP(&plan.out[0], 1, 1, 1, 16, 16, 128, 64);
  shape = (struct mxq_shape){.e = 1, .n = 48, .k = 6, .stride_e = 0, .stride_n = 8};
  plan = good_plan(bf16_name, &shape); /* K needs no multiple where the stride has one */
  CHECK_MAP(&plan.in, 6, 48, 1, 16, 16, 128, 128);
}

static void test_refused_strides(void **state) {
  struct mxq_shape shape = mxq_shape_dense(2, 64, 20);
  (void)state;
  refused(bf16_name, &shape, "input map {K, N, E}: the stride of dimension 1 is 40 bytes");
  shape = mxq_shape_dense(2, 64, 6);
  refused(f32_name, &shape, "input map {K, N, E}: the stride of dimension 1 is 24 bytes");
  shape = mxq_shape_dense(2, 40, 64);
  refused(bf16_name, &shape, "output map {N, K, E}: the stride of dimension 1 is 40 bytes");
  shape = mxq_shape_dense(2, 64, 64);
  shape.stride_e = 64 * 64 + 4;
  refused(bf16_name, &shape, "the stride of dimension 2 is 8200 bytes");
  shape.stride_e = INT64_C(1) << 39; /* elements of two bytes */
  refused(bf16_name, &shape, "below 2^40");
  shape.stride_e -= 8;
  good_plan(bf16_name, &shape);
  shape = mxq_shape_dense(1, 32, (INT64_C(1) << 31) + 8);
  refused(bf16_name, &shape, "dimension 0 is 2147483656; coordinates");
  shape = (struct mxq_shape){.e = 1, .n = 48, .k = 5, .stride_e = 0, .stride_n = 8};
  refused(bf16_name, &shape, "K is 5; the kernel takes multiples of 2");
  good_plan(f32_name, &shape);
}

/* Products of 32 bits would wrap in each of these. */
static void test_large(void **state) {
  struct mxq_shape shape = mxq_shape_dense(3, INT64_C(1) << 20, INT64_C(1) << 17);
  struct mxq_tensor_plan plan = good_plan(bf16_name, &shape);
  (void)state;
  CHECK_MAP(&plan.in, TWO(17), TWO(20), 3, TWO(18), TWO(38), 128, 128);
  CHECK_MAP(&plan.out[0], TWO(20), TWO(17), 3, TWO(20), TWO(37), 128, 128);
  assert_int_equal(plan.tiles, 3 * TWO(23));
  assert_true(plan.scale[0].stride_e == TWO(32));
  shape = mxq_shape_dense(70000, 144, 136);
  plan = good_plan(bf16_name, &shape);
  assert_int_equal(plan.grid, 70000 * 4);
  shape = mxq_shape_dense(1, INT64_C(1) << 31, 8);
  plan = good_plan(bf16_name, &shape);
  assert_int_equal(plan.grid, 1 << 24);
  shape = mxq_shape_dense((INT64_C(1) << 31) - 1, 16, 8);
  plan = good_plan(bf16_name, &shape);
  assert_int_equal(plan.grid, 0x7fffffff);
  shape = mxq_shape_dense(INT64_C(1) << 31, 16, 8);
  refused(bf16_name, &shape, "a grid has fewer than 2^31");
  shape = mxq_shape_dense(TWO(30), TWO(18), TWO(13)); /* 2^47 tiles */
  refused(bf16_name, &shape, "a grid has fewer than 2^31");
}

static void test_empty(void **state) {
  const int64_t shapes[][3] = {{0, 64, 64}, {2, 0, 64}, {2, 64, 0}, {0, 0, 0}, {0, 7, 5}};
  (void)state;
  for (size_t i = 0; i < COUNT(shapes); i++) {
    const struct mxq_shape shape = mxq_shape_dense(shapes[i][0], shapes[i][1], shapes[i][2]);
    assert_int_equal(good_plan(bf16_name, &shape).grid, 0);
  }
}

static void test_arch(void **state) {
  const struct mxq_shape shape = mxq_shape_dense(2, 64, 64);
  const struct mxq_kernel_id id = kernel_of(bf16_name);
  struct mxq_arch arch = *arch_of("90a");
  struct mxq_geometry geometry;
  struct mxq_tensor_plan plan;
  (void)state;
  mxq_geometry_of(&id, &geometry);
  arch.shared_max = geometry.shared_bytes;
  assert_int_equal(mxq_tensor_plan_make(&id, &arch, &shape, &plan), MXQ_OK);
  arch.shared_max--;
  assert_int_equal(mxq_tensor_plan_make(&id, &arch, &shape, &plan), MXQ_UNSUPPORTED);
  assert_non_null(strstr(mxq_last_error(), "bytes of shared memory; sm_90a has"));
  assert_int_equal(mxq_tensor_plan_make(&id, arch_of("80"), &shape, &plan), MXQ_UNSUPPORTED);
  assert_non_null(strstr(mxq_last_error(), "sm_80 has no tensor copy engine"));
}

/* Every kernel that moves tiles, on every arch that has the engine. */
static void test_every_kernel(void **state) {
  const struct mxq_shape shape = mxq_shape_dense(3, 288, 544);
  struct mxq_variant variant;
  struct mxq_tensor_plan plan;
  const struct mxq_arch *arch;
  const struct mxq_schedule *row;
  (void)state;
  memset(&variant, 0, sizeof variant);
  while (mxq_variant_next(&variant))
    for (size_t i = 0; (row = mxq_schedule_at(&variant, MXQ_FAMILY_TMA, i)) != NULL; i++)
      for (size_t a = 0; (arch = mxq_arch_at(a)) != NULL; a++) {
        const struct mxq_kernel_id id = mxq_schedule_kernel(&variant, row);
        const enum mxq_status status = mxq_tensor_plan_make(&id, arch, &shape, &plan);
        if (status != (arch->has_tma ? MXQ_OK : MXQ_UNSUPPORTED)) fail_msg("%s", mxq_last_error());
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dense),   cmocka_unit_test(test_ragged),
      cmocka_unit_test(test_strides), cmocka_unit_test(test_refused_strides),
      cmocka_unit_test(test_large),   cmocka_unit_test(test_empty),
      cmocka_unit_test(test_arch),    cmocka_unit_test(test_every_kernel),
  };
  return cmocka_run_group_tests_name("tensor_plan", tests, NULL, NULL);
}
