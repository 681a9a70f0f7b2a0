/* SPDX-License-Identifier: MIT
 *
 * Strides of outputs: elements that share a place are refused, all others taken.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "tensor_plan.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define TWO(power)   (INT64_C(1) << (power))

static struct mxq_variant variant_of(const char *name) {
  struct mxq_variant variant;
  assert_int_equal(mxq_variant_parse(name, &variant), MXQ_OK);
  return variant;
}

/* Whether two elements share a place, by marking them. */
static int overlaps_plainly(const struct mxq_shape *shape) {
  static unsigned char seen[4096];
  memset(seen, 0, sizeof seen);
  for (int64_t e = 0; e < shape->e; e++)
    for (int64_t n = 0; n < shape->n; n++)
      for (int64_t k = 0; k < shape->k; k++) {
        const int64_t at =
            (shape->e > 1 ? e * shape->stride_e : 0) + (shape->n > 1 ? n * shape->stride_n : 0) + k;
        assert_in_range(at, 0, sizeof seen - 1);
        if (seen[at]++) return 1;
      }
  return 0;
}

static void test_overlaps(void **state) {
  const struct mxq_variant variant = variant_of("dequantize_e4m3_bf16_b32_e8m0_row_lin");
  size_t apart = 0;
  (void)state;
  for (int64_t i = 0; i < 7 * 7 * 5 * 40 * 40; i++) {
    const struct mxq_shape shape = {1 + i % 7, 1 + i / 7 % 7, 1 + i / 49 % 5, i / 245 % 40,
                                    i / 9800 % 40};
    const int overlap = mxq_shape_check(&variant, &shape) != MXQ_OK;
    apart += !overlap;
    if (overlap != overlaps_plainly(&shape))
      fail_msg("(%d, %d, %d), strides (%d, %d): said %d", (int)shape.e, (int)shape.n, (int)shape.k,
               (int)shape.stride_e, (int)shape.stride_n, overlap);
  }
  assert_int_not_equal(apart, 0);
}

static const struct {
  const char *refusal;    /* a part of the text; NULL: the shape is good */
  struct mxq_shape shape; /* e, n, k, stride_e, stride_n */
} output_checks[] = {
    {NULL, {3, 5, 7, 35, 7}},
    {NULL, {3, 5, 7, 7, 21}},
    {NULL, {1, 5, 7, 0, 7}},
    {NULL, {0, 5, 7, 0, 0}},
    {NULL, {TWO(31) - 1, TWO(31) - 1, 1, TWO(31) - 1, 1}},
    {NULL, {TWO(30) - 1, TWO(30), 1, TWO(30), TWO(30) + 1}}, /* coprime strides: never the same */
    {"share a place", {TWO(30) + 2, TWO(30) + 1, 1, TWO(30), TWO(30) + 1}}, /* but here */
    {"share a place", {3, 5, 7, 0, 7}},
    {"share a place", {3, 5, 7, 35, 0}},
    {"share a place", {3, 5, 7, 35, 6}},
    {"share a place", {3, 5, 7, 34, 7}},
    {"share a place", {2, 2, 7, 10, 14}},
    {"a stride is negative", {3, 5, 7, -35, 7}},
    {"2^63", {3, 5, 7, INT64_MAX, 7}},
};

static void test_outputs(void **state) {
  const struct mxq_variant variant = variant_of("dequantize_e4m3_bf16_b32_e8m0_row_lin");
  (void)state;
  for (size_t i = 0; i < COUNT(output_checks); i++) {
    const enum mxq_status status = mxq_shape_check(&variant, &output_checks[i].shape);
    const char *wanted = output_checks[i].refusal;
    if (status != (wanted ? MXQ_INVALID_ARGUMENT : MXQ_OK) ||
        (wanted && !strstr(mxq_last_error(), wanted)))
      fail_msg("row %zu: wanted %s, got %s: %s", i, wanted ? wanted : "success",
               mxq_status_name(status), mxq_last_error());
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_overlaps),
      cmocka_unit_test(test_outputs),
  };
  return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}
