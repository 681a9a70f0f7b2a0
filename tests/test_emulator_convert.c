/* SPDX-License-Identifier: MIT
 *
 * The conversions of the emulator's primitives against exact arithmetic. Every rounding boundary of
 * every type, and the floats around it; rounding is monotone, so that decides the rest.
 * test_emulator_exhaustive goes through all floats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "emulator/code_values.h"
#include "emulator/primitives.h"
#include "support.h"

static uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static float bits_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void check(const struct code_type *type, uint32_t magnitude, unsigned code) {
  const unsigned sign = 1u << (type->exponent_bits + type->mantissa_bits);
  const unsigned plus = emu_narrow(bits_float(magnitude), type->exponent_bits, type->mantissa_bits);
  const unsigned minus =
      emu_narrow(bits_float(magnitude | 0x80000000), type->exponent_bits, type->mantissa_bits);
  if (plus != code || minus != (code | sign))
    fail_msg("%s of %a: 0x%X and 0x%X, not 0x%X", type->name, bits_float(magnitude), plus, minus,
             code);
}

static void test_boundaries(void **state) {
  enum { around = 3 };
  (void)state;
  for (const struct code_type *type = code_types; type->name; type++) {
    for (unsigned code = 0; code < type->largest; code++) {
      const uint32_t middle = code_boundary(type, code);
      for (uint32_t i = 1; i <= around; i++) {
        check(type, middle - i, code);
        check(type, middle + i, code + 1);
      }
      check(type, middle, code + code % 2);
      check(type, float_bits((float)code_value(type, code)), code);
    }
    check(type, float_bits((float)code_value(type, type->largest)), type->largest);
    check(type, 0x7F7FFFFF, type->largest);
    check(type, 0x7F800000, type->largest);
    check(type, 1, 0);
  }
}

static void test_nan(void **state) {
  static const uint32_t nans[] = {0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF, 0x7FFFFFFF};
  (void)state;
  for (const struct code_type *type = code_types; type->name; type++)
    for (size_t i = 0; i < sizeof nans / sizeof nans[0]; i++)
      assert_int_equal(emu_narrow(bits_float(nans[i]), type->exponent_bits, type->mantissa_bits),
                       type->nan_code);
}

static void test_widen(void **state) {
  (void)state;
  for (unsigned exponent_bits = 5; exponent_bits <= 8; exponent_bits += 3)
    for (unsigned bits = 0; bits < 65536; bits++) {
      const float value = emu_widen_half(bits, exponent_bits);
      const double wanted = widened(bits, exponent_bits);
      assert_int_equal(signbit(value) != 0, bits >> 15);
      assert_true(isnan(wanted) ? isnan(value) : (double)value == wanted);
    }
}

/* The order of sum + rest, exactly, and a double: the rest is less than half of a unit of the sum's
 * last place, or nothing. */
static int compare_exact(double sum, double rest, double with) {
  return sum != with ? (sum > with ? 1 : -1) : (rest > 0) - (rest < 0);
}

/* The code is the nearest of sum + rest, and even if two are. */
static int is_nearest(unsigned code, double sum, double rest, unsigned exponent_bits) {
  const unsigned magnitude = code & 0x7FFF, even = magnitude % 2 == 0;
  const double sign = signbit(sum) ? -1 : 1, here = half_value(magnitude, exponent_bits);
  sum *= sign;
  rest *= sign;
  if (code >> 15 != (sign < 0) || is_nan_half(code, exponent_bits)) return 0;
  if (magnitude) {
    const double below = half_value(magnitude - 1, exponent_bits);
    const int order = compare_exact(sum, rest, (below + here) / 2);
    if (order < 0 || (order == 0 && !even)) return 0;
  }
  if (magnitude == infinity_of(exponent_bits)) return 1;
  const double above = half_value(magnitude + 1, exponent_bits);
  const int order = compare_exact(sum, rest, (here + above) / 2);
  return order < 0 || (order == 0 && even);
}

static void check_half(const char *what, unsigned a, unsigned b, unsigned code, double sum,
                       double rest, unsigned exponent_bits) {
  const int right = isnan(sum) ? code == 0x7FFF
                    : isinf(sum)
                        ? code == (infinity_of(exponent_bits) | (signbit(sum) ? 0x8000 : 0))
                        : is_nearest(code, sum, rest, exponent_bits);
  if (!right) fail_msg("%s of 0x%04X and 0x%04X: 0x%04X", what, a, b, code);
}

/* Of the product of a and b, and c: Knuth's sum of two and its rest, exactly. */
static void check_sum(double product, unsigned a, unsigned b, unsigned c, unsigned exponent_bits) {
  const double y = widened(c, exponent_bits), sum = product + y, share = sum - product;
  check_half("sum", a, c, emu_multiply_add_half(a, b, c, exponent_bits), sum,
             (product - (sum - share)) + (y - share), exponent_bits);
}

static void check_arithmetic(unsigned a, unsigned b, unsigned c, unsigned exponent_bits) {
  const unsigned one = exponent_bits == 8 ? 0x3F80 : 0x3C00;
  const double x = widened(a, exponent_bits), y = widened(b, exponent_bits);
  check_half("product", a, b, emu_multiply_half(a, b, exponent_bits), x * y, 0, exponent_bits);
  check_sum(x, a, one, b, exponent_bits);
  check_sum(x * y, a, b, c, exponent_bits);
}

static void test_arithmetic_of_halves(void **state) {
  uint64_t random = 5;
  (void)state;
  for (int i = 0; i < 1500000; i++) {
    const uint64_t bits = support_random(&random);
    const unsigned a = bits & 0xFFFF, b = bits >> 16 & 0xFFFF, exponent_bits = i % 2 ? 8 : 5;
    const unsigned c = bits >> 24 & 0xFFFF;
    check_arithmetic(a, b, c, exponent_bits);
    /* Nearly equal, or of other sign; a sum nearly half way between two numbers. */
    check_arithmetic(a, a ^ (b & 0x8C03), c, exponent_bits);
    check_arithmetic(a, b, emu_multiply_half(a, b, exponent_bits) ^ (c & 0x9E00), exponent_bits);
    /* Exponents whose product is small: subnormal results. */
    check_arithmetic((unsigned)(bits >> 32) % 0x3000, (unsigned)(bits >> 48) % 0x2800 + 0x1000, c,
                     exponent_bits);
  }
}

static void test_smaller(void **state) {
  static const unsigned others[] = {0x3F80, 0x0001, 0x7BFF, 0x4780, 0x0000, 0x8000, 0xC001};
  (void)state;
  for (unsigned exponent_bits = 5; exponent_bits <= 8; exponent_bits += 3)
    for (size_t o = 0; o < sizeof others / sizeof others[0]; o++)
      for (unsigned bits = 0; bits < 65536; bits++) {
        const double value = widened(bits, exponent_bits);
        const double other = widened(others[o], exponent_bits);
        const int is_other = isnan(value) || value > other || (value == other && !(bits >> 15));
        const unsigned wanted = is_other ? others[o] : bits;
        assert_int_equal(emu_smaller_half(bits, others[o], exponent_bits), wanted);
        assert_int_equal(emu_smaller_half(others[o], bits, exponent_bits), wanted);
      }
  assert_int_equal(emu_smaller_half(0xFFFF, 0x7FC1, 8), 0x7FFF);
}

static void test_widen_codes(void **state) {
  (void)state;
  for (const struct code_type *type = code_types; type->name; type++) {
    const unsigned sign = 1u << (type->exponent_bits + type->mantissa_bits);
    for (unsigned code = 0; code < sign; code++) {
      const unsigned half = emu_widen_code(code, type->exponent_bits, type->mantissa_bits);
      const unsigned minus = emu_widen_code(code | sign, type->exponent_bits, type->mantissa_bits);
      if (code <= type->largest)
        assert_true(widened(half, 5) == code_value(type, code) && minus == (half | 0x8000));
      else if (type->exponent_bits == 5 && code == 0x7C)
        assert_true(half == 0x7C00 && minus == 0xFC00);
      else
        assert_true(half == 0x7FFF && minus == 0x7FFF);
    }
  }
}

static void test_round_floats(void **state) {
  uint64_t random = 7;
  (void)state;
  for (int i = 0; i < 1000000; i++) {
    const unsigned exponent_bits = i % 2 ? 8 : 5, shift = i % 2 ? 16 : 13;
    uint32_t bits = (uint32_t)support_random(&random);
    if (i % 4 < 2) bits = (bits & ~0u << shift) | 1u << (shift - 1); /* ties */
    if (i % 2 == 0) bits = (bits & 0x8FFFFFFF) | 0x30000000;         /* f16 has few exponents */
    const float value = bits_float(bits + (uint32_t)(i % 12 / 4) - 1);
    check_half("rounding", bits, 0, emu_round_half(value, exponent_bits), (double)value, 0,
               exponent_bits);
  }
  assert_int_equal(emu_round_half(bits_float(0x7F7F8000), 8), 0x7F80);
}

static void test_permute(void **state) {
  (void)state;
  assert_int_equal(emu_permute_bytes(0x33221100, 0x77665544, 0x4761), 0x44776611);
  assert_int_equal(emu_permute_bytes(0x80017F00, 0x000000FF, 0xB9C8), 0xFF00FF00);
}

static void test_float_arithmetic(void **state) {
  const float nans[] = {bits_float(0x7FC00000), bits_float(0xFFC00001), bits_float(0xFF800001)};
  (void)state;
  for (size_t i = 0; i < sizeof nans / sizeof nans[0]; i++) {
    assert_int_equal(float_bits(emu_multiply(nans[i], 1)), 0x7FFFFFFF);
    assert_int_equal(float_bits(emu_multiply(0, nans[i])), 0x7FFFFFFF);
    assert_int_equal(float_bits(emu_min_number(nans[i], 3)), float_bits(3));
    assert_int_equal(float_bits(emu_min_number(3, nans[i])), float_bits(3));
    assert_int_equal(float_bits(emu_min_number(nans[i], nans[0])), 0x7FFFFFFF);
    assert_int_equal(float_bits(emu_larger_magnitude(nans[i], 3)), 0x7FFFFFFF);
  }
  assert_int_equal(float_bits(emu_multiply(INFINITY, 0)), 0x7FFFFFFF);
  assert_int_equal(float_bits(emu_multiply(bits_float(0x80000001), 0.25F)), 0x80000000);
  assert_int_equal(float_bits(emu_multiply_add(nans[1], 1, 1)), 0x7FFFFFFF);
  assert_true(emu_multiply_add(1 + 0x1p-12F, 1 + 0x1p-12F, -1) == 0x1p-11F + 0x1p-24F);
  assert_int_equal(float_bits(emu_min_number(0.0F, -0.0F)), 0x80000000);
  assert_int_equal(float_bits(emu_min_number(-2, INFINITY)), float_bits(-2));
}

static void test_ceil_e8m0(void **state) {
  (void)state;
  for (int code = 0; code < 255; code++) {
    const float value = ldexpf(1, code - 127);
    const unsigned next = code < 254 ? (unsigned)code + 1 : 254;
    assert_int_equal(emu_ceil_e8m0(value), code);
    assert_int_equal(emu_ceil_e8m0(nextafterf(value, 0)), code);
    assert_int_equal(emu_ceil_e8m0(nextafterf(value, INFINITY)), next);
  }
  assert_int_equal(emu_ceil_e8m0(0), 0);
  assert_int_equal(emu_ceil_e8m0(bits_float(1)), 0);
  assert_int_equal(emu_ceil_e8m0(INFINITY), 254);
  assert_int_equal(emu_ceil_e8m0(NAN), 255);
}

static void test_larger(void **state) {
  uint64_t random = 6;
  (void)state;
  for (int i = 0; i < 1000000; i++) {
    const uint64_t bits = support_random(&random);
    const unsigned a = bits & 0xFFFF, b = bits >> 16 & 0xFFFF, exponent_bits = i % 2 ? 8 : 5;
    const unsigned larger = emu_larger_half(a, b, exponent_bits) & 0x7FFF;
    const double x = fabs(widened(a, exponent_bits)), y = fabs(widened(b, exponent_bits));
    const float z = emu_larger_magnitude((float)x, (float)y);
    if (isnan(x) || isnan(y)) {
      assert_int_equal(larger, 0x7FFF);
      assert_int_equal(float_bits(z), 0x7FFFFFFF);
    } else {
      assert_true(widened(larger, exponent_bits) == (x > y ? x : y));
      assert_true((double)z == (x > y ? x : y));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_boundaries),  cmocka_unit_test(test_nan),
      cmocka_unit_test(test_widen),       cmocka_unit_test(test_arithmetic_of_halves),
      cmocka_unit_test(test_smaller),     cmocka_unit_test(test_float_arithmetic),
      cmocka_unit_test(test_ceil_e8m0),   cmocka_unit_test(test_larger),
      cmocka_unit_test(test_widen_codes), cmocka_unit_test(test_round_floats),
      cmocka_unit_test(test_permute),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
