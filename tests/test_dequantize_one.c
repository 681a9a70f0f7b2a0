/* SPDX-License-Identifier: MIT
 *
 * dequantize on the CPU path, one variant at a time: values by hand, callers that round in their
 * own way, strides beyond 32 bits, and what the public functions refuse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fenv.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu.h"
#include "oracle.h"
#include "support.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static struct mxq_variant variant_of(const char *name) {
  struct mxq_variant variant;
  assert_int_equal(mxq_variant_parse(name, &variant), MXQ_OK);
  return variant;
}

/* What the bytes of the tables in docs/semantics.md are, by hand. */
static void test_by_hand(void **state) {
  static const struct {
    const char *name;
    unsigned char code, scale;
    uint32_t f32, bf16, f16;
  } rows[] = {
      {"e4m3", 0x78, 127, 0x43800000, 0x4380, 0x5C00}, /* 256 */
      {"e4m3", 0x00, 0, 0x00000000, 0x0000, 0x0000},
      {"e4m3", 0x80, 254, 0x80000000, 0x8000, 0x8000},
      {"e4m3", 0x38, 0, 0x00400000, 0x0040, 0x0000}, /* 1 * 2^-127 */
      {"e4m3", 0x01, 0, 0x00002000, 0x0000, 0x0000}, /* 2^-136, a tie of bf16 beside 0 */
      {"e4m3", 0x03, 0, 0x00006000, 0x0000, 0x0000},
      {"e4m3", 0x7E, 254, 0x7F800000, 0x7F80, 0x7C00}, /* 448 * 2^127 overflows */
      {"e4m3", 0xFE, 254, 0xFF800000, 0xFF80, 0xFC00},
      {"e4m3", 0x7F, 127, 0x7FFFFFFF, 0x7FFF, 0x7FFF},
      {"e4m3", 0xFF, 127, 0x7FFFFFFF, 0x7FFF, 0x7FFF},
      {"e4m3", 0x38, 255, 0x7FFFFFFF, 0x7FFF, 0x7FFF},
      {"e5m2", 0x7C, 127, 0x7F800000, 0x7F80, 0x7C00},
      {"e5m2", 0xFC, 0, 0xFF800000, 0xFF80, 0xFC00},
      {"e5m2", 0x7C, 255, 0x7FFFFFFF, 0x7FFF, 0x7FFF},
      {"e5m2", 0xFD, 127, 0x7FFFFFFF, 0x7FFF, 0x7FFF},
      {"e5m2", 0x7B, 127, 0x47600000, 0x4760, 0x7B00}, /* 57344 */
      {"e5m2", 0x7B, 128, 0x47E00000, 0x47E0, 0x7C00}, /* beyond f16 */
      {"e2m3", 0xC8, 127, 0x3F800000, 0x3F80, 0x3C00}, /* bits 6 and 7 mean nothing */
      {"e2m3", 0x3F, 127, 0xC0F00000, 0xC0F0, 0xC780}, /* -7.5 */
      {"e3m2", 0x5F, 127, 0x41E00000, 0x41E0, 0x4F00}, /* 28 */
  };
  (void)state;
  for (size_t i = 0; i < COUNT(rows); ++i)
    for (unsigned type = 0; type < 3; ++type) {
      static const char *const types[] = {"f32", "bf16", "f16"};
      const uint32_t wanted[] = {rows[i].f32, rows[i].bf16, rows[i].f16};
      char name[MXQ_VARIANT_NAME_SIZE];
      snprintf(name, sizeof name, "dequantize_%s_%s_b32_e8m0_row_lin", rows[i].name, types[type]);
      const struct mxq_variant variant = variant_of(name);
      const struct mxq_shape shape = mxq_shape_dense(1, 1, 1);
      uint32_t got = 0;
      const struct mxq_pointers pointers = {
          &rows[i].code, &rows[i].scale, {&got, NULL}, {NULL, NULL}};
      mxq_cpu_run(&variant, &shape, &pointers);
      if (got != wanted[type])
        fail_msg("%s: code %02x, scale %d: wanted %08x, got %08x", name, rows[i].code,
                 rows[i].scale, wanted[type], got);
    }
}

/* The caller's roundings change nothing. */
static void test_float_environment(void **state) {
  static const char *const names[] = {"dequantize_e4m3_bf16_b32_f32_colt_lin",
                                      "dequantize_e5m2_f16_b16_e8m0_sq_blk",
                                      "dequantize_e4m3_f32_b16_f32_sqt_mn"};
  (void)state;
  for (size_t i = 0; i < COUNT(names); ++i) {
    const struct mxq_variant variant = variant_of(names[i]);
    const struct mxq_shape shape = mxq_shape_dense(1, 130, 200);
    struct support_tensors tensors;
    assert_int_equal(support_tensors_make(&variant, &shape, 3, &tensors), MXQ_OK);
    const struct mxq_pointers pointers = support_tensors_pointers(&tensors);
    fesetround(FE_UPWARD);
    mxq_cpu_run(&variant, &shape, &pointers);
    const int kept = fegetround() == FE_UPWARD;
    fesetround(FE_TONEAREST);
    assert_true(kept);
    assert_int_equal(oracle_compare_decoded(&variant, &shape, &pointers), 0);
    support_tensors_free(&tensors);
  }
}

/* Output strides beyond 32 bits, over memory of which only the rows themselves exist. */
static void test_far(void **state) {
  const struct mxq_variant variant = variant_of("dequantize_e4m3_bf16_b32_e8m0_colt_mn");
  const struct mxq_shape shape = {2, 2, 10, (INT64_C(3) << 32) + 20, (INT64_C(1) << 32) + 1};
  const size_t extent = (size_t)(shape.stride_e + shape.stride_n + shape.k) * 2;
  unsigned char codes[40], scales[2 * 4 * 12];
  (void)state;
  unsigned char *out = mmap(NULL, extent, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (out == MAP_FAILED) {
    print_message("skipped: no address space for %zu bytes\n", extent);
    skip();
  }
  support_fill_codes(&variant, sizeof codes, sizeof scales, 4, codes, scales);
  const struct mxq_pointers pointers = {codes, scales, {out, NULL}, {NULL, NULL}};
  mxq_cpu_run(&variant, &shape, &pointers);
  const uint64_t differences = oracle_compare_decoded(&variant, &shape, &pointers);
  munmap(out, extent);
  assert_int_equal(differences, 0);
}

/* Through the public functions: what they want and what they refuse. */
static void test_public(void **state) {
  const struct mxq_variant variant = variant_of("dequantize_e2m1_f32_b16_e8m0_row_blk");
  const struct mxq_shape shape = {2, 3, 18, 3 * 20 + 1, 20};
  struct mxq_context *context = NULL;
  struct mxq_byte_counts bytes;
  struct support_tensors tensors;
  (void)state;
  assert_int_equal(mxq_context_create(NULL, &context), MXQ_OK);
  assert_int_equal(mxq_sizes(&variant, &shape, &bytes), MXQ_OK);
  assert_int_equal(bytes.in, 2 * 3 * 9);
  assert_int_equal(bytes.in_scale, 2 * 128 * 4);
  assert_int_equal(bytes.out[0], (61 + 2 * 20 + 18) * 4);
  assert_int_equal(bytes.out[1] + bytes.scale[0] + bytes.scale[1], 0);
  assert_int_equal(support_tensors_make(&variant, &shape, 8, &tensors), MXQ_OK);
  const struct mxq_pointers good = support_tensors_pointers(&tensors);
  struct mxq_pointers bad = good;
  static const struct {
    const char *reason;
    int field;
  } refusals[] = {{"in_scale is NULL", 0}, {"out[1] is not NULL", 1}, {"scale[0] is not NULL", 2},
                  {"overlap", 3},          {"in is NULL", 4},         {"out[0] is NULL", 5}};
  for (size_t i = 0; i < COUNT(refusals); ++i) {
    bad = good;
    if (refusals[i].field == 0) bad.in_scale = NULL;
    if (refusals[i].field == 1) bad.out[1] = tensors.in.data;
    if (refusals[i].field == 2) bad.scale[0] = tensors.in_scale.data;
    if (refusals[i].field == 3) bad.out[0] = tensors.in_scale.data;
    if (refusals[i].field == 4) bad.in = NULL;
    if (refusals[i].field == 5) bad.out[0] = NULL;
    assert_int_equal(mxq_run(context, &variant, &shape, &bad, MXQ_DEVICE_CPU, NULL),
                     MXQ_INVALID_ARGUMENT);
    if (!strstr(mxq_last_error(), refusals[i].reason))
      fail_msg("no \"%s\" in: %s", refusals[i].reason, mxq_last_error());
  }
  for (size_t i = 0; i < tensors.out[0].size; ++i) assert_int_equal(tensors.out[0].data[i], 0xFF);
  assert_int_equal(mxq_run(context, &variant, &shape, &good, MXQ_DEVICE_CPU, NULL), MXQ_OK);
  assert_int_equal(oracle_compare_decoded(&variant, &shape, &good), 0);
  support_tensors_free(&tensors);
  mxq_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_by_hand),
      cmocka_unit_test(test_float_environment),
      cmocka_unit_test(test_far),
      cmocka_unit_test(test_public),
  };
  return cmocka_run_group_tests_name("dequantize_one", tests, NULL, NULL);
}
