/* SPDX-License-Identifier: MIT
 *
 * dequantize on the CPU path against the oracle: every code under every scale byte and under the
 * float scales that are hard; every variant on ragged shapes with strides; the bytes between rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <string.h>

#include "axes.h"
#include "cpu.h"
#include "oracle.h"
#include "support.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void name_of(const struct mxq_variant *variant, char name[MXQ_VARIANT_NAME_SIZE]) {
  assert_int_equal(mxq_variant_name(variant, name, MXQ_VARIANT_NAME_SIZE), MXQ_OK);
}

/* Zeros, subnormals, the ends of every range, ties of bf16 and f16 beside them, infinities, NaN. */
static uint32_t hard_float(size_t i) {
  static const uint32_t hard[] = {
      0x00000000, 0x00000001, 0x00000002, 0x00200000, 0x00400000, 0x007FFFFF, 0x00800000,
      0x00800001, 0x0D800000, 0x33000000, 0x33800001, 0x38000000, 0x387FE000, 0x3F7FFFFF,
      0x3F800000, 0x3F808000, 0x3F818000, 0x3F801000, 0x3F803000, 0x3F800001, 0x3FC00000,
      0x477FE000, 0x477FEFFF, 0x477FF000, 0x7E800000, 0x7F000000, 0x7F7F0000, 0x7F7F7FFF,
      0x7F7F8000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF};
  static uint64_t state = 9;
  if (i < 2 * COUNT(hard)) return hard[i / 2] | (uint32_t)(i % 2) << 31;
  return (uint32_t)(support_random(&state) >> 32);
}

/* A row for each scale, a column for each byte of codes, in blocks along K. */
static void check_every_code(const struct mxq_variant *variant) {
  const unsigned bits = mxq_mode_facts(variant->mode)->scale_bits;
  const unsigned code_bits = mxq_type_facts(variant->in)->bits;
  const struct mxq_shape shape = mxq_shape_dense(1, bits == 8 ? 256 : 2000, 256 * 8 / code_bits);
  const uint64_t blocks = (uint64_t)shape.k / variant->block;
  struct support_tensors tensors;
  char name[MXQ_VARIANT_NAME_SIZE];
  assert_int_equal(support_tensors_make(variant, &shape, 1, &tensors), MXQ_OK);
  for (uint64_t row = 0; row < (uint64_t)shape.n; ++row) {
    const uint32_t scale = bits == 8 ? (uint32_t)row : hard_float(row);
    for (unsigned code = 0; code < 256; ++code)
      tensors.in.data[row * 256 + code] = (unsigned char)code;
    for (uint64_t b = 0; b < blocks; ++b)
      memcpy(tensors.in_scale.data + (row * blocks + b) * (bits / 8), &scale, bits / 8);
  }
  const struct mxq_pointers pointers = support_tensors_pointers(&tensors);
  mxq_cpu_run(variant, &shape, &pointers);
  const uint64_t differences = oracle_compare_decoded(variant, &shape, &pointers);
  support_tensors_free(&tensors);
  name_of(variant, name);
  if (differences) fail_msg("%s: %" PRIu64 " differ", name, differences);
}

static void test_every_code(void **state) {
  struct mxq_variant variant = {0};
  size_t count = 0;
  (void)state;
  while (mxq_variant_next(&variant)) {
    if (variant.op != MXQ_OP_DEQUANTIZE || variant.layout != MXQ_LAYOUT_ROW ||
        variant.block != 16 || variant.scales != MXQ_SCALES_LIN)
      continue;
    check_every_code(&variant);
    ++count;
  }
  assert_int_equal(count, 3 * (5 + 2));
}

/* What no element covers is as it was. */
static uint64_t written_between(const struct mxq_variant *variant, const struct mxq_shape *shape,
                                const struct support_buffer *out) {
  static unsigned char covered[1 << 20];
  const size_t bytes = mxq_type_facts(variant->out)->bits / 8;
  uint64_t written = 0;
  assert_true(out->size <= sizeof covered);
  memset(covered, 0, out->size);
  for (int64_t e = 0; e < shape->e; ++e)
    for (int64_t n = 0; n < shape->n; ++n) {
      const int64_t at =
          (shape->e > 1 ? e * shape->stride_e : 0) + (shape->n > 1 ? n * shape->stride_n : 0);
      memset(covered + (size_t)at * bytes, 1, (size_t)shape->k * bytes);
    }
  for (size_t i = 0; i < out->size; ++i) written += !covered[i] && out->data[i] != 0xFF;
  return written;
}

static void check_shape(const struct mxq_variant *variant, const struct mxq_shape *shape) {
  struct support_tensors tensors;
  char name[MXQ_VARIANT_NAME_SIZE];
  const enum mxq_status status =
      support_tensors_make(variant, shape, (uint64_t)(shape->n * 1000 + shape->k), &tensors);
  if (status != MXQ_OK) fail_msg("%s", mxq_last_error());
  const struct mxq_pointers pointers = support_tensors_pointers(&tensors);
  mxq_cpu_run(variant, shape, &pointers);
  const uint64_t differences = oracle_compare_decoded(variant, shape, &pointers);
  const uint64_t written = written_between(variant, shape, &tensors.out[0]);
  const int whole = support_buffer_guards(&tensors.in, "in") &&
                    support_buffer_guards(&tensors.in_scale, "in_scale") &&
                    support_buffer_guards(&tensors.out[0], "out");
  support_tensors_free(&tensors);
  name_of(variant, name);
  if (differences || written || !whole)
    fail_msg("%s: (%" PRId64 ", %" PRId64 ", %" PRId64 ") with strides (%" PRId64 ", %" PRId64
             "): %" PRIu64 " differ, %" PRIu64 " bytes between rows written",
             name, shape->e, shape->n, shape->k, shape->stride_e, shape->stride_n, differences,
             written);
}

/* Codes of four bits fill bytes. */
static void make_even(const struct mxq_variant *variant, struct mxq_shape *shape) {
  if (mxq_type_facts(variant->in)->bits == 8) return;
  if (mxq_layout_part(variant->layout, 0) & MXQ_PART_COLUMN_MAJOR)
    shape->n += shape->n % 2;
  else
    shape->k += shape->k % 2;
}

/* Around the sides of tiles; rows apart, matrices apart, and matrices within each other's rows. */
static void check_variant(const struct mxq_variant *variant) {
  static const int64_t lengths[] = {1, 2, 7, 8, 9, 15, 17, 31, 33, 63, 66, 127, 128, 129, 130, 257};
  static uint64_t state = 3;
  for (int i = 0; i < 3; ++i) {
    const uint64_t r = support_random(&state);
    struct mxq_shape shape = {
        .e = 1 + (int64_t)(r % 3), .n = lengths[r >> 8 & 15], .k = lengths[r >> 12 & 15]};
    while (shape.n * shape.k > 9000) (r >> 16 & 1 ? (shape.n /= 2) : (shape.k /= 2));
    make_even(variant, &shape);
    shape.stride_n = shape.k + (int64_t)(r >> 20 & 7) * i;
    shape.stride_e = shape.n * shape.stride_n + (int64_t)(r >> 24 & 7) * i;
    if (i == 2) {
      shape.stride_e = shape.k + 1;
      shape.stride_n = shape.e * shape.stride_e + 2;
    }
    check_shape(variant, &shape);
  }
}

static void test_every_variant(void **state) {
  struct mxq_variant variant = {0};
  size_t count = 0;
  (void)state;
  for (; mxq_variant_next(&variant); count += variant.op == MXQ_OP_DEQUANTIZE)
    if (variant.op == MXQ_OP_DEQUANTIZE) check_variant(&variant);
  assert_int_equal(count, 1140);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_code),
      cmocka_unit_test(test_every_variant),
  };
  return cmocka_run_group_tests_name("dequantize", tests, NULL, NULL);
}
