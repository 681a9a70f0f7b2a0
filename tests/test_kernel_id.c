/* SPDX-License-Identifier: MIT
 *
 * Names, schedules and geometry of kernels, and the archs that they are made for.
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

static const char bf16_name[] = "quantize_bf16_e4m3_b32_rceil_colt_lin";
static const char f32_name[] = "quantize_f32_e5m2_b32_floor_colt_lin";

static struct mxq_kernel_id kernel_of(const char *name) {
  struct mxq_kernel_id id;
  if (mxq_kernel_id_parse(name, &id) != MXQ_OK) fail_msg("%s", mxq_last_error());
  return id;
}

static const struct mxq_arch *arch_of(const char *name) {
  const struct mxq_arch *arch = NULL;
  if (mxq_arch_parse(name, &arch) != MXQ_OK) fail_msg("%s", mxq_last_error());
  return arch;
}

static void names_the_default_kernel(void **state) {
  (void)state;
  char text[MXQ_KERNEL_NAME_SIZE];
  struct mxq_kernel_id id = kernel_of(bf16_name);
  assert_int_equal(sizeof id, 48);
  assert_int_equal(mxq_kernel_id_name(&id, text, sizeof text), MXQ_OK);
  assert_string_equal(text, "quantize_bf16_e4m3_b32_rceil_colt_lin.tma-128x128");
  assert_int_equal(mxq_kernel_id_symbol(&id, text, sizeof text), MXQ_OK);
  assert_string_equal(text, "quantize_bf16_e4m3_b32_rceil_colt_lin_tma_128x128");
  id = kernel_of(f32_name);
  assert_int_equal(mxq_kernel_id_name(&id, text, sizeof text), MXQ_OK);
  assert_string_equal(text, "quantize_f32_e5m2_b32_floor_colt_lin.tma-128x64");
}

/* The i-th kernel of a variant, families and schedules in order of preference. */
static int kernel_at(const struct mxq_variant *variant, size_t index, struct mxq_kernel_id *id) {
  const struct mxq_family_facts *family;
  const struct mxq_schedule *row;
  for (size_t f = 0; (family = mxq_family_at(f)); ++f)
    for (size_t i = 0; (row = mxq_schedule_at(variant, family->family, i)); ++i) {
      if (index-- > 0) continue;
      *id = (struct mxq_kernel_id){.variant = *variant,
                                   .family = (uint8_t)family->family,
                                   .tile_n = row->tile_n,
                                   .tile_k = row->tile_k};
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
       "tma-128x128 tma-128x64 tma-256x64 any-64x64 any-128x64 any-128x128"},
      {"quantize_f16_e5m2_b128_amax_col_lin",
       "tma-128x128 tma-128x64 tma-256x64 any-128x64 any-128x128"},
      {"quantize_f32_e2m3_b64_even_sq_lin",
       "tma-128x64 tma-256x64 tma-128x128 any-64x64 any-128x64 any-128x128"},
      {"quantize_bf16_e4m3_b128_pow2_sqt_lin", "tma-128x128 any-128x128"},
      {"quantize_f16_e2m1_b16_ceil_colt_lin",
       "tma-256x64 tma-128x128 tma-128x64 any-64x64 any-128x64 any-128x128"},
      {"quantize_f32_e2m1_b32_floor_sqt_lin",
       "tma-256x32 tma-256x64 tma-128x64 tma-128x128 any-64x64 any-128x64 any-128x128"},
      {"quantize_f32_e2m1_b128_floor_sqt_lin", "tma-128x128 any-128x128"},
      {"quantize_bf16_e2m1_b32_floor_col_lin",
       "tma-128x128 tma-128x64 any-64x64 any-128x64 any-128x128"},
      {"quantize_bf16_e3m2_b16_rceil_row_lin", "tma-8x512 any-32x128"},
      {"quantize_f16_e2m1_b128_even_row_lin", "tma-16x512 any-32x128"},
      {"quantize_f32_e2m1_b64_even_row_lin", "tma-8x512 any-32x128"},
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
       {128, 128, 256, 2, 32, 0, 0, 32768, 32768, 16384, 49152, 49152, 49152, 49152, 49160, 4}},
      {"quantize_bf16_e4m3_b32_floor_colt_lin.tma-256x64",
       {256, 64, 256, 2, 32, 0, 0, 32768, 32768, 16384, 49152, 49152, 49152, 49152, 49160, 4}},
      {"quantize_f32_e4m3_b128_amax_sq_lin.tma-128x128",
       {128, 128, 512, 1, 32, 0, 0, 65536, 65536, 16384, 81920, 81920, 83968, 83968, 83976, 2}},
      {"quantize_f16_e2m1_b16_even_colt_lin.tma-256x64",
       {256, 64, 256, 2, 32, 0, 0, 32768, 32768, 8192, 40960, 40960, 40960, 40960, 40968, 3}},
      {"quantize_f32_e2m1_b64_ceil_sqt_lin.tma-256x64",
       {256, 64, 512, 1, 32, 0, 0, 65536, 65536, 8192, 73728, 73728, 75776, 75776, 75784, 2}},
      {"quantize_bf16_e4m3_b128_amax_row_lin.tma-8x512",
       {8, 512, 256, 1, 1, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}},
      {"quantize_f16_e2m1_b32_even_row_lin.tma-16x512",
       {16, 512, 256, 1, 1, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3}},
      {"quantize_bf16_e4m3_b32_rceil_colt_lin.any-64x64",
       {64, 64, 256, 1, 1, 0, 0, 8448, 0, 0, 0, 8448, 0, 0, 8960, 6}},
      {"quantize_f32_e5m2_b128_pow2_sqt_lin.any-128x128",
       {128, 128, 256, 1, 1, 0, 0, 66048, 0, 0, 0, 66048, 0, 0, 66052, 3}},
      {"quantize_bf16_e4m3_b32_rceil_rowcolt_blk.tma-128x128",
       {128, 128, 256, 2, 32, 0, 0, 32768, 32768, 16384, 49152, 65536, 65536, 67584, 67592, 3}},
      {"quantize_f32_e4m3_b128_rceil_sqsqt_mn.tma-128x128",
       {128, 128, 512, 1, 32, 0, 0, 65536, 65536, 16384, 81920, 98304, 100352, 100360, 100368, 2}},
      {"quantize_bf16_e4m3_b32_rceil_row_blk.tma-32x128",
       {32, 128, 256, 1, 1, 16, 0, 0, 0, 0, 0, 0, 0, 0, 128, 7}},
      {"dequantize_e4m3_bf16_b32_e8m0_colt_blk.tma-128x64",
       {128, 64, 128, 8, 4, 0, 0, 8192, 8192, 16384, 0, 0, 0, 24576, 24584, 8}},
      {"dequantize_e2m1_f32_b16_e8m0_row_mn.tma-8x512",
       {8, 512, 128, 4, 8, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8}},
      {"dequantize_e5m2_f16_b64_f32_sqt_lin.any-128x64",
       {128, 64, 256, 1, 1, 0, 0, 8448, 0, 0, 0, 8448, 0, 0, 8456, 4}},
      {"dequantize_e4m3_f32_b16_e8m0_row_blk.relayout-1x256",
       {1, 256, 256, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8}},
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
  struct mxq_variant variant = {0};
  struct mxq_kernel_id id;
  while (mxq_variant_next(&variant))
    for (size_t i = 0; kernel_at(&variant, i, &id); ++i) {
      struct mxq_geometry geometry;
      mxq_geometry_of(&id, &geometry);
      assert_int_equal(geometry.in_offset % 1024, 0);
      assert_int_equal(geometry.out_offset % 1024, 0);
      assert_int_equal(geometry.barrier_offset % 8, 0);
      assert_in_range(geometry.threads, 32, 1024);
      assert_int_equal(geometry.threads % 32, 0);
      assert_true(geometry.shared_bytes <= 99 * 1024); /* every arch has so much */
      assert_true(geometry.blocks_per_sm >= 1);
      assert_true(geometry.blocks_per_sm * (geometry.shared_bytes + 1024) <= 228 * 1024);
      assert_true(geometry.blocks_per_sm * geometry.threads <= 2048);
    }
}

static void knows_the_archs(void **state) {
  (void)state;
  static const struct {
    const char *name, *short_name;
    unsigned number, shared_kb, has_tma, has_fp8, has_narrow;
  } rows[] = {
      {"80", "80", 80, 163, 0, 0, 0},     {"89", "89", 89, 99, 0, 1, 0},
      {"90a", "90", 90, 227, 1, 1, 0},    {"100a", "100", 100, 227, 1, 1, 1},
      {"103a", "103", 103, 227, 1, 1, 1}, {"120a", "120", 120, 99, 1, 1, 1},
  };
  static const char *const unknown[] = {"", "9", "90b", "90aa", "sm_90a", " 90a", "1000", "\xFF"};
  const struct mxq_arch *arch;
  for (size_t i = 0; i < COUNT(rows); ++i) {
    arch = arch_of(rows[i].name);
    assert_ptr_equal(arch, arch_of(rows[i].short_name));
    assert_ptr_equal(arch, mxq_arch_at(i));
    assert_string_equal(arch->name, rows[i].name);
    assert_int_equal(arch->number, rows[i].number);
    assert_int_equal(arch->shared_max, rows[i].shared_kb * 1024);
    assert_int_equal(arch->has_tma, rows[i].has_tma);
    assert_int_equal(arch->has_fp8, rows[i].has_fp8);
    assert_int_equal(arch->has_narrow, rows[i].has_narrow);
    assert_int_equal(arch->use_narrow, 0); /* verified on no arch yet */
    const int number = (int)rows[i].number;
    assert_int_equal(mxq_arch_of_device(number / 10, number % 10, &arch), MXQ_OK);
    assert_ptr_equal(arch, mxq_arch_at(i));
  }
  assert_null(mxq_arch_at(COUNT(rows)));
  arch = NULL;
  for (size_t i = 0; i < COUNT(unknown); ++i) {
    assert_int_equal(mxq_arch_parse(unknown[i], &arch), MXQ_INVALID_ARGUMENT);
    assert_non_null(strstr(mxq_last_error(), "80 89 90a 100a 103a 120a"));
  }
  assert_int_equal(mxq_arch_parse(NULL, &arch), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_arch_of_device(7, 5, &arch), MXQ_INVALID_ARGUMENT);
  assert_non_null(strstr(mxq_last_error(), "7.5"));
  assert_int_equal(mxq_arch_of_device(-9, 10, &arch), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_arch_of_device(8, 10, &arch), MXQ_INVALID_ARGUMENT);
  assert_null(arch);
}

static void chooses_what_the_arch_can_run(void **state) {
  (void)state;
  struct mxq_kernel_id id = kernel_of(bf16_name), chosen;
  memset(&chosen, 0xA5, sizeof chosen);
  const struct mxq_kernel_id untouched = chosen;
  const struct mxq_variant variant = id.variant;
  assert_int_equal(mxq_kernel_id_choose(&variant, MXQ_FAMILY_TMA, arch_of("80"), &chosen),
                   MXQ_UNSUPPORTED);
  assert_non_null(strstr(mxq_last_error(), "arch 80 has no tensor copy engine"));
  const struct mxq_arch small = {.name = "small", .number = 90, .shared_max = 30000, .has_tma = 1};
  const struct mxq_arch none = {.name = "none", .number = 90, .shared_max = 1000, .has_tma = 1};
  assert_int_equal(mxq_kernel_id_choose(&variant, MXQ_FAMILY_TMA, &none, &chosen), MXQ_UNSUPPORTED);
  assert_non_null(strstr(mxq_last_error(), "1000"));
  assert_int_equal(mxq_kernel_id_choose(&variant, (enum mxq_family)77, &small, &chosen),
                   MXQ_INVALID_ARGUMENT);
  assert_memory_equal(&chosen, &untouched, sizeof chosen);
  assert_int_equal(mxq_kernel_id_choose(&variant, MXQ_FAMILY_TMA, &small, &chosen), MXQ_OK);
  assert_int_equal(chosen.tile_n, 128);
  assert_int_equal(chosen.tile_k, 64);
  assert_int_equal(mxq_kernel_id_choose(&variant, MXQ_FAMILY_TMA, arch_of("120a"), &chosen),
                   MXQ_OK);
  assert_memory_equal(&chosen, &id, sizeof id);
}

static void refuses_what_is_no_kernel(void **state) {
  (void)state;
  static const char *const unknown[] = {
      ".tma-128x128",
      "quantize_bf16_e4m3_b32_rceil_colt_lin.",
      "quantize_bf16_e4m3_b32_rceil_colt_lin.tma",
      "quantize_bf16_e4m3_b32_rceil_colt_lin.tma-128x128x",
      "quantize_bf16_e4m3_b32_rceil_colt_lin.tma-0128x128",
      "quantize_bf16_e4m3_b32_rceil_colt_lin.any",
      "quantize_f32_e4m3_b32_rceil_colt_lin.tma-256x32",
      "quantize_bf16_e4m3_b32_rceil_colt_linxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.tma-128x128",
  };
  struct mxq_kernel_id id, legal = kernel_of(bf16_name);
  char text[2 * MXQ_VARIANT_NAME_SIZE];
  char name[MXQ_KERNEL_NAME_SIZE];
  for (size_t i = 0; i < COUNT(unknown); ++i)
    if (mxq_kernel_id_parse(unknown[i], &id) != MXQ_UNKNOWN_NAME) fail_msg("%s", unknown[i]);
  assert_int_equal(mxq_kernel_id_parse(unknown[6], &id), MXQ_UNKNOWN_NAME);
  assert_non_null(strstr(mxq_last_error(), "allowed: tma-128x64 tma-256x64 tma-128x128 any-64x64"));
  for (size_t length = 1; length < sizeof text; ++length) {
    memset(text, 'q', sizeof text);
    text[length - 1] = '.';
    text[length] = 0;
    assert_int_equal(mxq_kernel_id_parse(text, &id), MXQ_UNKNOWN_NAME);
  }
  assert_int_equal(mxq_kernel_id_parse(NULL, &id), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_kernel_id_name(NULL, name, sizeof name), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_kernel_id_name(&legal, name, 20), MXQ_INVALID_ARGUMENT);
  for (size_t byte = 32; byte < sizeof legal; ++byte) {
    id = legal;
    ((unsigned char *)&id)[byte] ^= 0x10;
    assert_int_equal(mxq_kernel_id_name(&id, name, sizeof name), MXQ_INVALID_ARGUMENT);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_the_default_kernel),
      cmocka_unit_test(every_schedule_reads_back),
      cmocka_unit_test(variants_have_their_kernels),
      cmocka_unit_test(geometry_keeps_its_promises),
      cmocka_unit_test(every_geometry_fits),
      cmocka_unit_test(knows_the_archs),
      cmocka_unit_test(chooses_what_the_arch_can_run),
      cmocka_unit_test(refuses_what_is_no_kernel),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
