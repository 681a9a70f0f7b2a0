/* SPDX-License-Identifier: MIT
 *
 * Lengths, strides, sizes and offsets of contract sections 3 to 5, and the divisors that kernels
 * turn tile numbers into coordinates with.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axes.h"
#include "support.h"
#include "tensor_plan.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define TWO(power)   (INT64_C(1) << (power))

static struct mxq_variant variant_of(const char *name) {
  struct mxq_variant variant;
  assert_int_equal(mxq_variant_parse(name, &variant), MXQ_OK);
  return variant;
}

static const char bf16_name[] = "quantize_bf16_e4m3_b32_rceil_colt_lin";

static const struct check {
  const char *refusal;    /* a part of the text; NULL: the shape is good */
  struct mxq_shape shape; /* e, n, k, stride_e, stride_n */
} checks[] = {
    {NULL, {3, 5, 7, 35, 7}},
    {"a length is negative", {-1, 5, 7, 35, 7}},
    {"a length is negative", {3, -5, 7, 35, 7}},
    {"a length is negative", {3, 5, INT64_MIN, 35, 7}},
    {"a length is negative", {0, -1, 7, 35, 7}},
    {"a stride is negative", {3, 5, 7, -1, 7}},
    {"a stride is negative", {3, 5, 7, 35, -1}},
    {"a stride is negative", {3, 5, 0, 35, INT64_MIN}},
    {NULL, {1, 5, 7, -1, 7}}, /* no step along E */
    {NULL, {3, 1, 7, 7, -1}},
    {NULL, {0, 0, 0, -1, -1}},
    {NULL, {3, 5, 7, 0, 0}},
    {NULL, {3, 5, 7, 7, 21}},
    /* Elements of two bytes: 2^62 - 1 of them end just below 2^63. */
    {NULL, {1, 1, TWO(62) - 1, 0, 0}},
    {"2^63", {1, 1, TWO(62), 0, 0}},
    {NULL, {2, 1, 7, TWO(62) - 8, 0}},
    {"2^63", {2, 1, 7, TWO(62) - 7, 0}},
    {NULL, {1, 2, 7, 0, TWO(62) - 8}},
    {"2^63", {1, 2, 7, 0, TWO(62) - 7}},
    {"2^63", {3, 5, 7, INT64_MAX, 7}},
    {"2^63", {INT64_MAX, 1, 7, INT64_MAX, 7}},
    /* A broadcast input is small; the dense output is not. */
    {NULL, {TWO(31) - 1, TWO(31), 2, 0, 0}},
    {"2^63", {TWO(31), TWO(31), 2, 0, 0}},
    {"2^63", {TWO(33), TWO(31), 2, 0, 0}}, /* the product wraps to 0 */
    {"2^63", {TWO(40), TWO(40), TWO(40), 0, 0}},
    {NULL, {0, TWO(40), TWO(40), 0, 0}}, /* nothing to do */
};

static void test_checks(void **state) {
  const struct mxq_variant variant = variant_of(bf16_name);
  (void)state;
  for (size_t i = 0; i < COUNT(checks); i++) {
    const enum mxq_status status = mxq_shape_check(&variant, &checks[i].shape);
    const char *wanted = checks[i].refusal;
    if (status != (wanted ? MXQ_INVALID_ARGUMENT : MXQ_OK) ||
        (wanted && !strstr(mxq_last_error(), wanted)))
      fail_msg("row %zu: wanted %s, got %s: %s", i, wanted ? wanted : "success",
               mxq_status_name(status), mxq_last_error());
  }
}

static void test_dense_overflow(void **state) {
  const struct mxq_variant variant = variant_of(bf16_name);
  struct mxq_shape shape = mxq_shape_dense(2, TWO(32), TWO(31));
  (void)state;
  assert_int_equal(mxq_shape_check(&variant, &shape), MXQ_INVALID_ARGUMENT);
  shape = mxq_shape_dense(1, TWO(32), TWO(31)); /* the stride does not matter, the product does */
  assert_int_equal(mxq_shape_check(&variant, &shape), MXQ_INVALID_ARGUMENT);
}

static void test_sizes(void **state) {
  const struct mxq_variant variant = variant_of(bf16_name);
  struct mxq_shape shape = {.e = 3, .n = 100, .k = 40, .stride_e = 5000, .stride_n = 48};
  struct mxq_byte_counts bytes;
  (void)state;
  assert_int_equal(mxq_sizes(&variant, &shape, &bytes), MXQ_OK);
  assert_int_equal(bytes.in, (2 * 5000 + 99 * 48 + 40) * 2);
  assert_int_equal(bytes.out[0], 3 * 100 * 40);
  assert_int_equal(bytes.scale[0], 3 * 4 * 40);
  assert_int_equal(bytes.out[1], 0);
  assert_int_equal(bytes.scale[1], 0);
  shape = mxq_shape_dense(5, 0, 40);
  assert_int_equal(mxq_sizes(&variant, &shape, &bytes), MXQ_OK);
  assert_int_equal(bytes.in + bytes.out[0] + bytes.scale[0], 0);
  shape = mxq_shape_dense(1, TWO(30), TWO(31)); /* 2^61 codes */
  assert_int_equal(mxq_sizes(&variant, &shape, &bytes), MXQ_OK);
  assert_true(bytes.in == UINT64_C(1) << 62 && bytes.out[0] == UINT64_C(1) << 61);
}

static void test_sizes_refused(void **state) {
  struct mxq_variant variant = variant_of(bf16_name);
  const struct mxq_shape good = mxq_shape_dense(3, 100, 40), bad = mxq_shape_dense(3, -1, 40);
  const struct mxq_byte_counts before = {1, 2, {3, 4}, {5, 6}};
  struct mxq_byte_counts bytes = before;
  (void)state;
  assert_int_equal(mxq_sizes(NULL, &good, &bytes), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_sizes(&variant, NULL, &bytes), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_sizes(&variant, &good, NULL), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_sizes(&variant, &bad, &bytes), MXQ_INVALID_ARGUMENT);
  variant.reserved[3] = 1;
  assert_int_equal(mxq_sizes(&variant, &good, &bytes), MXQ_INVALID_ARGUMENT);
  assert_memory_equal(&bytes, &before, sizeof bytes);
}

/* Codes of four bits fill whole bytes along the axis that is contiguous in the output (contract,
 * section 3); others do not care. */
static const struct packing {
  const char *name;
  int64_t n, k;
  const char *refusal; /* a part of the text; NULL: the shape is good */
  uint64_t bytes, scale_bytes;
} packings[] = {
    {"quantize_bf16_e2m1_b32_rceil_row_lin", 5, 8, NULL, 3 * 20, 3 * 5 * 1},
    {"quantize_bf16_e2m1_b32_rceil_row_lin", 6, 7, "packed along K", 0, 0},
    {"quantize_bf16_e2m1_b32_rceil_col_lin", 5, 8, NULL, 3 * 20, 3 * 1 * 8},
    {"quantize_bf16_e2m1_b32_rceil_col_lin", 6, 7, "packed along K", 0, 0},
    {"quantize_bf16_e2m1_b32_rceil_sq_lin", 65, 34, NULL, 3 * 65 * 17, 3 * 3 * 2},
    {"quantize_bf16_e2m1_b32_rceil_sq_lin", 6, 7, "packed along K", 0, 0},
    {"quantize_bf16_e2m1_b32_rceil_colt_lin", 6, 7, NULL, 3 * 21, 3 * 1 * 7},
    {"quantize_bf16_e2m1_b32_rceil_colt_lin", 5, 8, "packed along N", 0, 0},
    {"quantize_bf16_e2m1_b32_rceil_sqt_lin", 66, 33, NULL, 3 * 33 * 33, 3 * 3 * 2},
    {"quantize_bf16_e2m1_b32_rceil_sqt_lin", 5, 8, "packed along N", 0, 0},
    {"quantize_bf16_e2m1_b32_rceil_row_lin", 0, 7, "packed along K", 0, 0},
    {"quantize_bf16_e2m1_b32_rceil_colt_lin", 0, 7, NULL, 0, 0},
    {"quantize_bf16_e2m3_b32_rceil_row_lin", 5, 7, NULL, 3 * 35, 3 * 5 * 1},
    {"quantize_bf16_e3m2_b16_rceil_sqt_lin", 17, 33, NULL, 3 * 17 * 33, 3 * 2 * 3},
    {"quantize_bf16_e4m3_b128_amax_row_lin", 5, 129, NULL, 3 * 5 * 129, 4 * 3 * 5 * 2},
    {"quantize_bf16_e2m1_b32_rceil_rowcolt_lin", 6, 8, NULL, 3 * 24, 3 * 6 * 1},
    {"quantize_bf16_e2m1_b32_rceil_rowcolt_lin", 5, 8, "packed along N", 0, 0},
    {"quantize_bf16_e2m1_b32_rceil_rowcolt_lin", 6, 7, "packed along K", 0, 0},
    {"quantize_bf16_e2m1_b32_rceil_sqsqt_lin", 5, 8, "packed along N", 0, 0},
    {"quantize_bf16_e2m1_b32_rceil_rowcol_lin", 5, 8, NULL, 3 * 20, 3 * 5 * 1},
    {"quantize_bf16_e5m2_b64_pow2_sq_lin", 65, 129, NULL, 3 * 65 * 129, 4 * 3 * 2 * 3},
};

static void test_packing(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(packings); i++) {
    const struct packing *row = &packings[i];
    const struct mxq_variant variant = variant_of(row->name);
    const struct mxq_shape shape = mxq_shape_dense(3, row->n, row->k);
    struct mxq_byte_counts bytes = {0};
    const enum mxq_status status = mxq_sizes(&variant, &shape, &bytes);
    if (status != (row->refusal ? MXQ_INVALID_ARGUMENT : MXQ_OK) ||
        (row->refusal && !strstr(mxq_last_error(), row->refusal)))
      fail_msg("row %zu: %s: %s", i, mxq_status_name(status), mxq_last_error());
    if (bytes.out[0] != row->bytes || bytes.scale[0] != row->scale_bytes)
      fail_msg("row %zu: %llu bytes of codes, %llu of scales", i, (unsigned long long)bytes.out[0],
               (unsigned long long)bytes.scale[0]);
  }
}

/* Each place of an output is some element's, and no element's lies outside. (Scales: test_scales.)
 */
static void test_offsets_fill_sizes(void **state) {
  enum { E = 3, N = 34, K = 46 };
  static unsigned char seen[E * N * K];
  const struct mxq_shape shape = mxq_shape_dense(E, N, K);
  struct mxq_variant variant;
  (void)state;
  memset(&variant, 0, sizeof variant);
  while (mxq_variant_next(&variant)) {
    const int reads = variant.op == MXQ_OP_DEQUANTIZE;
    const unsigned bits = mxq_type_facts(reads ? variant.in : variant.out)->bits;
    struct mxq_byte_counts bytes;
    if (variant.scales != MXQ_SCALES_LIN || variant.block != 32) continue;
    assert_int_equal(mxq_sizes(&variant, &shape, &bytes), MXQ_OK);
    for (unsigned part = 0; part < 2; part++) {
      uint64_t places = 0;
      if (!mxq_layout_part(variant.layout, part)) continue;
      memset(seen, 0, sizeof seen);
      for (uint64_t i = 0; i < sizeof seen; i++) {
        const uint64_t e = i / (N * K), n = i / K % N, k = i % K;
        const uint64_t data = mxq_data_offset(&variant, &shape, part, e, n, k);
        assert_in_range(data, 0, sizeof seen - 1);
        places += !seen[data]++;
      }
      assert_int_equal(places * bits / 8, reads ? bytes.in : bytes.out[part]);
    }
  }
}

/* args.h: (mulhi(x, multiplier) + x) >> shift, all in 32 bits. */
static void check_quotient(uint32_t x, uint32_t value) {
  uint32_t multiplier, shift;
  mxq_divisor_make(value, &multiplier, &shift);
  const uint32_t high = (uint32_t)(((uint64_t)x * multiplier) >> 32);
  const uint32_t quotient = (uint32_t)(high + x) >> shift;
  if (quotient != x / value) fail_msg("%u / %u = %u, not %u", x, value, x / value, quotient);
}

static void test_divisor(void **state) {
  const uint32_t top = 0x7fffffff;
  uint64_t random = 7;
  (void)state;
  for (uint32_t value = 1; value <= 2048; value++) {
    for (uint32_t x = 0; x <= 4096; x++) check_quotient(x, value);
    for (uint32_t back = 0; back <= 64; back++) check_quotient(top - back, value);
  }
  for (uint32_t power = 0; power <= 31; power++)
    for (uint32_t beside = 0; beside < 3; beside++) {
      const uint32_t value = (1u << power) + beside - 1;
      if (value == 0 || value > 1u << 31) continue;
      for (uint64_t factor = 1; factor * value <= top; factor = factor * 2 + 1) {
        check_quotient((uint32_t)(factor * value) - 1, value);
        check_quotient((uint32_t)(factor * value), value);
      }
      check_quotient(0, value);
      check_quotient(top, value);
    }
  for (int i = 0; i < 2000000; i++) {
    const uint64_t bits = support_random(&random);
    const uint32_t value = (uint32_t)(bits >> 32) >> (1 + bits % 31);
    const uint32_t x = (uint32_t)support_random(&random) >> 1;
    if (value) check_quotient(x, value);
    if (value) check_quotient(x - x % value, value);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checks),  cmocka_unit_test(test_dense_overflow),
      cmocka_unit_test(test_sizes),   cmocka_unit_test(test_sizes_refused),
      cmocka_unit_test(test_packing), cmocka_unit_test(test_offsets_fill_sizes),
      cmocka_unit_test(test_divisor),
  };
  return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
