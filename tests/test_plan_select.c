/* SPDX-License-Identifier: MIT
 *
 * Which kernel runs, by name: the shapes of contract section 5 get the fast one, everything else
 * the generic one, on every arch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axes.h"
#include "plan_as.h"
#include "selectable.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct mxq_arch *arch_of(const char *name) {
  const struct mxq_arch *arch = NULL;
  if (mxq_arch_parse(name, &arch) != MXQ_OK) fail_msg("%s", mxq_last_error());
  return arch;
}

static struct mxq_tensor_plan select_for(const struct mxq_variant *variant,
                                         const struct mxq_arch *arch, const struct mxq_shape *shape,
                                         const struct mxq_pointers *pointers) {
  struct mxq_tensor_plan plan;
  char name[MXQ_VARIANT_NAME_SIZE];
  assert_int_equal(mxq_variant_name(variant, name, sizeof name), MXQ_OK);
  if (mxq_plan_select(variant, arch, NULL, shape, pointers, &plan) != MXQ_OK)
    fail_msg("%s on %s: %s", name, arch->name, mxq_last_error());
  return plan;
}

/* What the selected kernel's name has after its dot. */
static void selects(const char *name, const struct mxq_shape *shape,
                    const struct mxq_pointers *pointers, const char *arch, const char *expected) {
  struct mxq_variant variant;
  char kernel[MXQ_KERNEL_NAME_SIZE];
  assert_int_equal(mxq_variant_parse(name, &variant), MXQ_OK);
  const struct mxq_tensor_plan plan = select_for(&variant, arch_of(arch), shape, pointers);
  assert_int_equal(mxq_kernel_id_name(&plan.kernel, kernel, sizeof kernel), MXQ_OK);
  if (strcmp(strchr(kernel, '.') + 1, expected) != 0)
    fail_msg("(%lld, %lld, %lld) on %s: %s, expected %s", (long long)shape->e, (long long)shape->n,
             (long long)shape->k, arch, kernel, expected);
}

static const char colt[] = "quantize_bf16_e4m3_b32_rceil_colt_lin";
static const char colt32[] = "quantize_f32_e4m3_b32_rceil_colt_lin";
static const char colt4[] = "quantize_f16_e2m1_b32_even_colt_lin";
static const char col[] = "quantize_bf16_e5m2_b64_amax_col_lin";
static const char col4[] = "quantize_f32_e2m1_b16_ceil_col_lin";
static const char row32[] = "quantize_f32_e3m2_b32_floor_row_lin";
static const char row[] = "quantize_bf16_e3m2_b32_floor_row_lin";
static const char row4[] = "quantize_f16_e2m1_b128_floor_row_lin";
static const char sq[] = "quantize_bf16_e4m3_b128_pow2_sq_lin";
static const char sqt4[] = "quantize_f32_e2m1_b32_rceil_sqt_lin";

/* The smallest shapes on both sides of each rule; tiny ones, but for some. */
static void shapes_select_kernels(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int64_t e, n, k;
    const char *kernel;
  } rows[] = {
      {colt, 3, 16, 8, "tma-32x64-direct"},
      {colt, 3, 16, 4, "any-128x128"},
      {colt, 3, 8, 8, "any-128x128"},
      {colt, 3, 17, 8, "any-128x128"},
      {colt32, 3, 16, 4, "tma-32x32-direct"},
      {colt32, 3, 16, 2, "any-128x64"},
      {colt4, 3, 32, 8, "tma-32x64-direct"},
      {colt4, 3, 16, 8, "any-256x64"},
      {col, 3, 5, 16, "tma-64x64-direct"},
      {col, 3, 5, 8, "any-64x256"},
      {col4, 3, 5, 32, "tma-32x32-direct"},
      {col4, 3, 5, 16, "any-64x128"},
      {row, 3, 5, 16, "tma-8x512"},
      {row, 3, 5, 8, "any-64x256"},
      {row4, 3, 5, 32, "tma-8x512"},
      {row4, 3, 5, 16, "any-64x256"},
      {sq, 3, 5, 16, "tma-128x128"},
      {sq, 3, 5, 24, "any-128x128"},
      {sqt4, 3, 32, 4, "tma-32x32-direct"},
      {sqt4, 3, 32, 6, "any-256x32"},
      {sqt4, 3, 48, 4, "any-256x32"},
      {colt, 1, 1, 1, "any-128x128"},
      {row, 1, 1, 1, "any-64x256"},
      {colt, 65536, 16, 8, "tma-64x64"},
      {row, 65536, 1, 16, "tma-4x512"},
      {sq, 65537, 3, 3, "any-128x128"},
      {colt, 1, INT64_C(1) << 31, 8, "tma-128x128"},
      {colt, 1, (INT64_C(1) << 31) + 16, 8, "any-128x128"},
      {row, 1, 3, INT64_C(1) << 31, "tma-8x512"},
      {row, 1, 3, (INT64_C(1) << 31) + 16, "any-64x256"},
      {row, (INT64_C(1) << 31) - 1, 8, 512, "tma-8x512"},
      {row, INT64_C(1) << 31, 8, 512, "any-64x256"},
      {col, INT64_C(1) << 31, 16, 16, "any-64x256"},
      {colt, 0, 16, 4, "tma-32x64-direct"}, /* nothing to do */
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct mxq_shape shape = mxq_shape_dense(rows[i].e, rows[i].n, rows[i].k);
    selects(rows[i].name, &shape, NULL, "90a", rows[i].kernel);
    if (strstr(rows[i].kernel, "any-")) selects(rows[i].name, &shape, NULL, "80", rows[i].kernel);
  }
}

/* Both sides of each border between size classes, on the device that sm_90 stands for: 132
 * multiprocessors of 4096 bytes, half of 60 MiB. Rows of 512 bf16, codes and 16 scales: 1552 bytes,
 * of f32 2576. */
static void sizes_select_kernels(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int64_t n;
    const char *kernel;
  } rows[] = {
      {row32, 132 * 4096 / 2576, "tma-4x512"},
      {row32, 132 * 4096 / 2576 + 1, "tma-8x512"},
      {colt, 336, "tma-32x64-direct"},
      {colt, 352, "tma-64x64"},
      {colt, (30 << 20) / 1552 / 32 * 32, "tma-64x64"},
      {colt, (30 << 20) / 1552 / 32 * 32 + 32, "tma-128x128"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct mxq_shape shape = mxq_shape_dense(1, rows[i].n, 512);
    selects(rows[i].name, &shape, NULL, "90a", rows[i].kernel);
  }
}

/* The device's own numbers decide, where they are known. */
static void devices_decide_on_sizes(void **state) {
  (void)state;
  static const struct {
    struct mxq_capacity capacity;
    const char *kernel;
  } rows[] = {
      {{4 << 20, 64}, "tma-64x64"}, /* 1552 KiB: above 256 KiB, below 2 MiB */
      {{1 << 20, 64}, "tma-128x128"},
      {{1 << 20, 1000}, "tma-32x64-direct"},
      {{0, 1}, "tma-128x128"},
  };
  const struct mxq_shape shape = mxq_shape_dense(1, 1024, 512);
  struct mxq_variant variant;
  assert_int_equal(mxq_variant_parse(colt, &variant), MXQ_OK);
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct mxq_tensor_plan plan;
    char kernel[MXQ_KERNEL_NAME_SIZE];
    assert_int_equal(
        mxq_plan_select(&variant, arch_of("90a"), &rows[i].capacity, &shape, NULL, &plan), MXQ_OK);
    assert_int_equal(mxq_kernel_id_name(&plan.kernel, kernel, sizeof kernel), MXQ_OK);
    assert_string_equal(strchr(kernel, '.') + 1, rows[i].kernel);
  }
}

static void strides_select_kernels(void **state) {
  (void)state;
  static const struct {
    const char *name;
    struct mxq_shape shape;
    const char *kernel;
  } rows[] = {
      {colt, {2, 64, 64, 64 * 72, 72}, "tma-32x64-direct"},
      {colt, {2, 64, 64, 64 * 72, 68}, "any-128x128"},
      {colt, {2, 64, 64, 64 * 64 + 4, 64}, "any-128x128"},
      {colt, {1, 64, 64, 64 * 64 + 4, 64}, "tma-32x64-direct"}, /* one matrix: no step along E */
      {colt, {2, 64, 64, 64, 128}, "tma-32x64-direct"},         /* E inside N */
      {colt, {2, 64, 64, 0, 64}, "tma-32x64-direct"},           /* broadcast */
      {colt, {2, 64, 64, 64, 0}, "tma-32x64-direct"},
      {colt, {2, 64, 64, INT64_C(1) << 39, 64}, "any-128x128"}, /* 2^40 bytes */
      {colt, {2, 64, 64, (INT64_C(1) << 39) - 8, 64}, "tma-32x64-direct"},
      {row, {2, 64, 64, 64 * 72, 72}, "tma-8x512"},
      {row, {2, 64, 64, 64 * 72, 68}, "any-64x256"},
      {row, {2, 64, 64, 64 * 64 + 4, 64}, "any-64x256"},
      {row, {2, 64, 64, 0, 0}, "tma-8x512"},
      {row, {2, 64, 64, INT64_C(1) << 39, 64}, "tma-8x512"}, /* no map, no limit */
      {row, {1, 1, 64, 3, 5}, "tma-8x512"},
  };
  for (size_t i = 0; i < COUNT(rows); i++)
    selects(rows[i].name, &rows[i].shape, NULL, "90a", rows[i].kernel);
}

static void addresses_select_kernels(void **state) {
  (void)state;
  static const char *const names[] = {colt, row, sq};
  static const char *const fast[] = {"tma-32x64-direct", "tma-8x512", "tma-128x128"};
  static const char *const generic[] = {"any-128x128", "any-64x256", "any-128x128"};
  /* What one more than these bytes misaligns: in, out and scale of each name. */
  static const uintptr_t alignments[][3] = {{16, 16, 2}, {16, 16, 1}, {16, 16, 8}};
  const struct mxq_shape shape = mxq_shape_dense(2, 128, 128);
  for (size_t i = 0; i < COUNT(names); i++)
    for (int tensor = 0; tensor < 3; tensor++) {
      const uintptr_t step = alignments[i][tensor];
      for (uintptr_t offset = step / 2; offset && offset <= step; offset *= 2) {
        uintptr_t at[3] = {4096, 8192, 1 << 20};
        at[tensor] += offset;
        const struct mxq_pointers pointers = {
            (const void *)at[0], NULL, {(void *)at[1], NULL}, {(void *)at[2], NULL}};
        selects(names[i], &shape, &pointers, "90a", offset == step ? fast[i] : generic[i]);
      }
    }
}

/* Contract, section 5, for dense tensors: the smallest lengths that the fast kernel takes. */
static void smallest_fast(const struct mxq_variant *variant, int64_t *n, int64_t *k) {
  const int quantize = variant->op == MXQ_OP_QUANTIZE;
  const int64_t values = 128 / (int64_t)mxq_type_facts(quantize ? variant->in : variant->out)->bits;
  const int64_t codes = 128 / (int64_t)mxq_type_facts(quantize ? variant->out : variant->in)->bits;
  *n = 2;
  *k = values;
  for (unsigned part = 0; part < 2; part++) {
    const unsigned kind = mxq_layout_part(variant->layout, part);
    if (kind & MXQ_PART_COLUMN_MAJOR)
      *n = codes;
    else if (kind)
      *k = codes;
  }
}

/* What preparing and prebuilt sets go by has the kernel. */
static void is_selectable(const struct mxq_kernel_id *id, const struct mxq_arch *arch) {
  struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST];
  size_t count = 0, found = 0;
  assert_int_equal(mxq_selectable(&id->variant, arch, ids, &count), MXQ_OK);
  for (size_t i = 0; i < count; i++) found += memcmp(&ids[i], id, sizeof *id) == 0;
  assert_int_equal(found, 1);
  /* The kernel that moves scales comes last, where they can be moved. */
  const int moved = id->variant.scales != MXQ_SCALES_LIN;
  assert_int_equal(ids[count - 1].family == MXQ_FAMILY_RELAYOUT, moved);
  if (!moved) return;
  assert_int_equal(ids[count - 1].variant.scales, id->variant.scales);
  assert_int_equal(mxq_mode_scale_bits(ids[count - 1].variant.mode),
                   mxq_mode_scale_bits(id->variant.mode));
}

/* Every variant, on every arch: fast where the arch and the shape allow it, else generic, and never
 * more shared memory than a block has. */
static void every_variant_runs_everywhere(void **state) {
  (void)state;
  struct mxq_variant variant;
  const struct mxq_arch *arch;
  memset(&variant, 0, sizeof variant);
  while (mxq_variant_next(&variant)) {
    int64_t n, k;
    smallest_fast(&variant, &n, &k);
    const int turned = (mxq_layout_part(variant.layout, 0) | mxq_layout_part(variant.layout, 1)) &
                       MXQ_PART_COLUMN_MAJOR;
    const struct mxq_shape fast[] = {mxq_shape_dense(3, n, k), mxq_shape_dense(2, 17 * n, 33 * k)};
    const struct mxq_shape ragged[] = {mxq_shape_dense(3, n, k / 2),
                                       mxq_shape_dense(3, turned ? n / 2 : n, turned ? k : k / 2)};
    for (size_t a = 0; (arch = mxq_arch_at(a)); a++)
      for (size_t i = 0; i < 2; i++) {
        const struct mxq_tensor_plan one = select_for(&variant, arch, &fast[i], NULL);
        const struct mxq_tensor_plan other = select_for(&variant, arch, &ragged[i], NULL);
        assert_int_equal(one.kernel.family, arch->has_tma ? MXQ_FAMILY_TMA : MXQ_FAMILY_ANY);
        assert_int_equal(other.kernel.family, MXQ_FAMILY_ANY);
        assert_true(one.geometry.shared_bytes <= arch->shared_max);
        assert_true(other.geometry.shared_bytes <= arch->shared_max);
        assert_true(one.grid > 0 && other.grid > 0);
        is_selectable(&one.kernel, arch);
        is_selectable(&other.kernel, arch);
      }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_select_kernels),    cmocka_unit_test(sizes_select_kernels),
      cmocka_unit_test(devices_decide_on_sizes),  cmocka_unit_test(strides_select_kernels),
      cmocka_unit_test(addresses_select_kernels), cmocka_unit_test(every_variant_runs_everywhere),
  };
  return cmocka_run_group_tests_name("plan_select", tests, NULL, NULL);
}
