/* SPDX-License-Identifier: MIT
 *
 * The choice of schedules: its table, its rule, its size classes, and how --tune decides.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "axes.h"
#include "schedule.h"
#include "tune.h"
#include "tuning.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct mxq_arch *arch_of(const char *name) {
  const struct mxq_arch *arch = NULL;
  if (mxq_arch_parse(name, &arch) != MXQ_OK) fail_msg("%s", mxq_last_error());
  return arch;
}

static int is_same_key(const struct mxq_tune_row *a, const struct mxq_tune_row *b) {
  return a->arch == b->arch && a->size == b->size && a->op == b->op && a->layout == b->layout &&
         a->in_bits == b->in_bits && a->out_bits == b->out_bits;
}

/* Whether the row's schedule is what some variant gets on its arch. */
static int is_used(const struct mxq_tune_row *row) {
  struct mxq_variant variant = {0};
  while (mxq_variant_next(&variant)) {
    const struct mxq_arch *arch;
    struct mxq_kernel_id id;
    const struct mxq_traits traits = mxq_traits_of(&variant);
    if (variant.op != row->op || variant.layout != row->layout || traits.in_bits != row->in_bits ||
        traits.out_bits != row->out_bits)
      continue;
    for (size_t a = 0; (arch = mxq_arch_at(a)); a++)
      if (arch->number == row->arch &&
          mxq_tune_choose(&variant, MXQ_FAMILY_TMA, arch, row->size, &id) == MXQ_OK &&
          id.tile_n == row->tile_n && id.tile_k == row->tile_k && id.path == row->path)
        return 1;
  }
  return 0;
}

static void every_line_chooses(void **state) {
  (void)state;
  const struct mxq_tune_row *row, *other;
  assert_non_null(mxq_tune_at(0));
  for (size_t i = 0; (row = mxq_tune_at(i)); i++) {
    if (!is_used(row)) fail_msg("line %zu of tune.def chooses a schedule that nothing has", i + 1);
    for (size_t j = 0; j < i && (other = mxq_tune_at(j)); j++)
      if (is_same_key(row, other)) fail_msg("lines %zu and %zu of tune.def are for the same", j, i);
  }
}

/* Every variant has a kernel of each size wherever it has one at all, among its schedules. */
static void every_size_has_a_kernel(void **state) {
  (void)state;
  struct mxq_variant variant = {0};
  const struct mxq_arch *arch;
  const struct mxq_family_facts *family;
  while (mxq_variant_next(&variant))
    for (size_t a = 0; (arch = mxq_arch_at(a)); a++) {
      struct mxq_choices choices;
      mxq_tune_choose_all(&variant, arch, &choices);
      for (size_t f = 0; (family = mxq_family_at(f)); f++)
        for (unsigned size = 0; size < MXQ_SIZE_CLASSES; size++) {
          const struct mxq_kernel_id *chosen = &choices.kernels[f][size];
          struct mxq_kernel_id id;
          const enum mxq_status status =
              mxq_tune_choose(&variant, family->family, arch, (enum mxq_size_class)size, &id);
          if (family->needs_tma && !arch->has_tma) {
            assert_int_equal(status, MXQ_UNSUPPORTED);
            assert_int_equal(chosen->tile_n, 0);
            continue;
          }
          if (status != MXQ_OK) fail_msg("%s", mxq_last_error());
          assert_int_equal(mxq_kernel_id_check(&id), MXQ_OK);
          assert_int_equal(mxq_kernel_id_check_arch(&id, arch), MXQ_OK);
          assert_memory_equal(&id.variant, &variant, sizeof variant);
          assert_int_equal(id.family, family->family);
          assert_memory_equal(chosen, &id, sizeof id);
        }
    }
}

/* The rule, on an arch that was never measured. */
static void the_rule_is_as_stated(void **state) {
  (void)state;
  static const struct {
    const char *variant;
    const char *kernels[MXQ_SIZE_CLASSES]; /* tiny, cached, large */
  } rows[] = {
      {"quantize_bf16_e4m3_b32_rceil_colt_lin", {"tma-32x64-direct", "tma-64x64", "tma-128x128"}},
      {"quantize_f32_e5m2_b64_rceil_sq_blk", {"tma-64x64-direct", "tma-64x64", "tma-128x64"}},
      {"quantize_f16_e2m1_b32_even_colt_lin", {"tma-32x64-direct", "tma-128x64", "tma-256x64"}},
      {"quantize_bf16_e4m3_b128_rceil_sqt_mn", {"tma-128x128", "tma-128x128", "tma-128x128"}},
      {"quantize_bf16_e4m3_b32_rceil_rowcolt_lin", {"tma-64x64", "tma-64x64", "tma-128x128"}},
      {"quantize_bf16_e4m3_b32_rceil_row_lin", {"tma-4x512", "tma-8x512", "tma-8x512"}},
      {"quantize_bf16_e4m3_b32_rceil_row_blk", {"tma-8x128", "tma-32x128", "tma-32x128"}},
      {"dequantize_e4m3_f32_b32_e8m0_colt_lin", {"tma-128x32", "tma-128x32", "tma-128x64"}},
  };
  for (size_t i = 0; i < COUNT(rows); i++)
    for (unsigned size = 0; size < MXQ_SIZE_CLASSES; size++) {
      struct mxq_variant variant;
      struct mxq_kernel_id id;
      char name[MXQ_KERNEL_NAME_SIZE];
      assert_int_equal(mxq_variant_parse(rows[i].variant, &variant), MXQ_OK);
      assert_int_equal(mxq_tune_choose(&variant, MXQ_FAMILY_TMA, arch_of("100a"),
                                       (enum mxq_size_class)size, &id),
                       MXQ_OK);
      assert_int_equal(mxq_kernel_id_name(&id, name, sizeof name), MXQ_OK);
      if (strcmp(strchr(name, '.') + 1, rows[i].kernels[size]) != 0)
        fail_msg("%s, %s: expected %s", name, mxq_size_class_name(size), rows[i].kernels[size]);
    }
}

static void classes_have_their_borders(void **state) {
  (void)state;
  const struct mxq_capacity capacity = {.l2_bytes = 1000000, .multiprocessors = 10};
  const struct mxq_capacity nothing = {0};
  static const struct {
    uint64_t bytes;
    enum mxq_size_class size;
  } rows[] = {{0, MXQ_SIZE_TINY},        {40960, MXQ_SIZE_TINY},   {40961, MXQ_SIZE_CACHED},
              {500000, MXQ_SIZE_CACHED}, {500001, MXQ_SIZE_LARGE}, {UINT64_MAX, MXQ_SIZE_LARGE}};
  for (size_t i = 0; i < COUNT(rows); i++)
    assert_int_equal(mxq_size_class_of(rows[i].bytes, &capacity), rows[i].size);
  assert_int_equal(mxq_size_class_of(1, &nothing), MXQ_SIZE_LARGE);
  const struct mxq_arch *arch;
  for (size_t a = 0; (arch = mxq_arch_at(a)); a++) {
    const struct mxq_capacity usual = mxq_capacity_of(arch);
    assert_true(usual.multiprocessors >= 48 && usual.l2_bytes >= 24 << 20);
  }
  assert_int_equal(mxq_capacity_of(arch_of("90a")).multiprocessors, 132);
  assert_string_equal(mxq_size_class_name(MXQ_SIZE_CACHED), "cached");
  assert_string_equal(mxq_size_class_name(MXQ_SIZE_CLASSES), "unknown");
}

/* Candidates with these times; the chosen one. */
static size_t decide(enum mxq_size_class size, size_t now, const double (*us)[8], size_t count) {
  static struct tune_case one;
  memset(&one, 0, sizeof one);
  one.size = size;
  one.count = count;
  one.now = now;
  for (size_t i = 0; i < count; i++) {
    one.candidates[i].us.count = 8;
    memcpy(one.candidates[i].us.us, us[i], sizeof us[i]);
  }
  tune_decide(&one);
  return one.best;
}

static void noise_changes_no_choice(void **state) {
  (void)state;
#define EIGHT(a) \
  { a, a, a, a, a, a, a, a }
  const double close[][8] = {EIGHT(100), EIGHT(98.5), EIGHT(99.7)};
  assert_int_equal(decide(MXQ_SIZE_TINY, 0, close, 3), 0);   /* 2 percent */
  assert_int_equal(decide(MXQ_SIZE_CACHED, 2, close, 3), 2); /* the present one stays */
  assert_int_equal(decide(MXQ_SIZE_LARGE, 0, close, 3), 1);  /* half a percent */
  assert_int_equal(decide(MXQ_SIZE_LARGE, 1, close, 3), 1);
  const double apart[][8] = {EIGHT(100), EIGHT(90), EIGHT(80), EIGHT(85)};
  assert_int_equal(decide(MXQ_SIZE_TINY, 0, apart, 4), 2);
  /* A median far below, but not in seven of eight rounds. */
  const double noisy[][8] = {EIGHT(100), {80, 80, 80, 80, 80, 80, 120, 120}};
  assert_int_equal(decide(MXQ_SIZE_TINY, 0, noisy, 2), 0);
  const double once[][8] = {EIGHT(100), {80, 80, 80, 80, 80, 80, 80, 120}};
  assert_int_equal(decide(MXQ_SIZE_TINY, 0, once, 2), 1);
#undef EIGHT
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_line_chooses),      cmocka_unit_test(every_size_has_a_kernel),
      cmocka_unit_test(the_rule_is_as_stated),   cmocka_unit_test(classes_have_their_borders),
      cmocka_unit_test(noise_changes_no_choice),
  };
  return cmocka_run_group_tests_name("tune", tests, NULL, NULL);
}
