/* SPDX-License-Identifier: MIT
 *
 * Names of kernels, and the archs that they are made for.
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

static void knows_the_archs(void **state) {
  (void)state;
  static const struct {
    const char *name, *short_name;
    unsigned number, shared_kb, has_tma, has_fp8, has_narrow;
  } rows[] = {
      {"80", "80", 80, 163, 0, 0, 0},     {"89", "89", 89, 99, 0, 1, 0},
      {"90a", "90", 90, 227, 1, 1, 0},    {"100a", "100", 100, 227, 1, 1, 1},
      {"103a", "103", 103, 227, 1, 1, 1}, {"120a", "120", 120, 99, 1, 1, 1},
      {"121a", "121", 121, 99, 1, 1, 1},
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
    assert_non_null(strstr(mxq_last_error(), "80 89 90a 100a 103a 120a 121a"));
  }
  assert_int_equal(mxq_arch_parse(NULL, &arch), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_arch_of_device(7, 5, &arch), MXQ_INVALID_ARGUMENT);
  assert_non_null(strstr(mxq_last_error(), "7.5"));
  assert_int_equal(mxq_arch_of_device(-9, 10, &arch), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_arch_of_device(8, 10, &arch), MXQ_INVALID_ARGUMENT);
  assert_null(arch);
}

static void devices_take_the_newest_arch_that_they_run(void **state) {
  (void)state;
  static const struct {
    int major, minor;
    const char *name; /* NULL: none */
  } rows[] = {{8, 0, "80"},  {8, 6, "80"},    {8, 7, "80"},  {8, 8, "80"},    {8, 9, "89"},
              {9, 0, "90a"}, {9, 1, NULL},    {7, 5, NULL},  {7, 9, NULL},    {10, 0, "100a"},
              {10, 1, NULL}, {10, 3, "103a"}, {11, 0, NULL}, {12, 0, "120a"}, {12, 1, "121a"},
              {12, 2, NULL}, {8, 10, NULL},   {8, -1, NULL}, {0, 80, NULL}};
  for (size_t i = 0; i < COUNT(rows); ++i) {
    const struct mxq_arch *arch = NULL;
    const enum mxq_status status = mxq_arch_of_device(rows[i].major, rows[i].minor, &arch);
    assert_int_equal(status, rows[i].name ? MXQ_OK : MXQ_INVALID_ARGUMENT);
    if (rows[i].name) assert_string_equal(arch->name, rows[i].name);
  }
}

/* Code for 80 runs on devices of 8.6, whose blocks have 99 KB of shared memory. */
static void kernels_of_80_fit_every_device_of_8(void **state) {
  (void)state;
  struct mxq_variant variant = {0};
  const struct mxq_family_facts *family;
  struct mxq_geometry geometry;
  struct mxq_kernel_id id;
  unsigned kernels = 0;
  while (mxq_variant_next(&variant))
    for (size_t f = 0; (family = mxq_family_every(f)); f++)
      if (mxq_kernel_id_choose(&variant, family->family, arch_of("80"), &id) == MXQ_OK) {
        mxq_geometry_of(&id, &geometry);
        assert_in_range(geometry.shared_bytes, 0, 99 * 1024);
        kernels++;
      }
  assert_in_range(kernels, 1, UINT32_MAX);
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
  const struct mxq_variant two_parts =
      kernel_of("quantize_bf16_e4m3_b32_rceil_rowcolt_lin").variant;
  assert_int_equal(mxq_kernel_id_choose(&two_parts, MXQ_FAMILY_TMA, &none, &chosen),
                   MXQ_UNSUPPORTED);
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
      "quantize_bf16_e4m3_b32_rceil_colt_lin.tma-64x64-direct",
      "quantize_bf16_e4m3_b32_rceil_colt_lin.tma-32x64-",
      "quantize_bf16_e4m3_b32_rceil_rowcolt_lin.tma-32x64-direct",
      "quantize_bf16_e4m3_b32_rceil_colt_linxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.tma-128x128",
  };
  struct mxq_kernel_id id, legal = kernel_of(bf16_name);
  char text[2 * MXQ_VARIANT_NAME_SIZE];
  char name[MXQ_KERNEL_NAME_SIZE];
  for (size_t i = 0; i < COUNT(unknown); ++i)
    if (mxq_kernel_id_parse(unknown[i], &id) != MXQ_UNKNOWN_NAME) fail_msg("%s", unknown[i]);
  assert_int_equal(mxq_kernel_id_parse(unknown[6], &id), MXQ_UNKNOWN_NAME);
  assert_non_null(strstr(mxq_last_error(),
                         "allowed: tma-128x64 tma-256x64 tma-128x128 tma-64x64 "
                         "tma-32x32 tma-32x32-direct any-128x64"));
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
      cmocka_unit_test(knows_the_archs),
      cmocka_unit_test(devices_take_the_newest_arch_that_they_run),
      cmocka_unit_test(kernels_of_80_fit_every_device_of_8),
      cmocka_unit_test(chooses_what_the_arch_can_run),
      cmocka_unit_test(refuses_what_is_no_kernel),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
