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

static void test_widen_f16(void **state) {
  (void)state;
  for (unsigned bits = 0; bits < 65536; bits++) {
    const int exponent = (int)(bits >> 10 & 31), mantissa = (int)(bits & 1023);
    const float value = emu_widen_f16(bits);
    assert_int_equal(signbit(value) != 0, bits >> 15);
    if (exponent == 31 && mantissa)
      assert_true(isnan(value));
    else if (exponent == 31)
      assert_true(isinf(value));
    else
      assert_true(fabs((double)value) ==
                  (exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24)));
  }
}

static double bf16_value(unsigned bits) { return (double)bits_float(bits << 16); }

/* The product's code is the nearest of itself and its neighbours, and even if two are. */
static void check_product(unsigned a, unsigned b) {
  const double exact = bf16_value(a) * bf16_value(b); /* 16 bits: exact */
  const unsigned code = emu_multiply_bf16(a, b);
  const unsigned magnitude = code & 0x7FFF;
  if (isnan(exact)) {
    assert_int_equal(code, 0x7FFF);
    return;
  }
  assert_int_equal(code >> 15, signbit(exact) != 0);
  if (magnitude == 0x7F80) {
    assert_true(fabs(exact) >= 0x1.FFp127); /* half way from the largest to 2^128 */
    return;
  }
  const double wanted = fabs(exact), here = fabs(wanted - bf16_value(magnitude));
  const double above = magnitude == 0x7F7F ? 0x1p128 : bf16_value(magnitude + 1);
  const double up = above - wanted;
  const double down = magnitude ? fabs(wanted - bf16_value(magnitude - 1)) : INFINITY;
  if (here > up || here > down || ((here == up || here == down) && magnitude % 2))
    fail_msg("bf16 0x%04X * 0x%04X: 0x%04X", a, b, code);
}

static void test_multiply_bf16(void **state) {
  uint64_t random = 5;
  (void)state;
  for (int i = 0; i < 3000000; i++) {
    const uint64_t bits = support_random(&random);
    check_product(bits & 0xFFFF, bits >> 16 & 0xFFFF);
    /* Exponents whose product is small: subnormal results. */
    check_product((unsigned)(bits >> 32) % 0x3000, (unsigned)(bits >> 48) % 0x2800 + 0x1000);
  }
}

static void test_larger(void **state) {
  uint64_t random = 6;
  (void)state;
  for (int i = 0; i < 1000000; i++) {
    const uint64_t bits = support_random(&random);
    const unsigned a = bits & 0xFFFF, b = bits >> 16 & 0xFFFF;
    const unsigned bf16 = emu_larger_half(a, b, 8) & 0x7FFF;
    const unsigned f16 = emu_larger_half(a, b, 5) & 0x7FFF;
    const float x = bits_float(a << 16), y = bits_float(b << 16);
    const float u = emu_widen_f16(a), v = emu_widen_f16(b);
    if (isnan(x) || isnan(y)) {
      assert_int_equal(bf16, 0x7FFF);
      assert_true(isnan(emu_larger_magnitude(x, y)));
    } else {
      assert_true(bits_float(bf16 << 16) == fmaxf(fabsf(x), fabsf(y)));
      assert_true(emu_larger_magnitude(x, y) == fmaxf(fabsf(x), fabsf(y)));
    }
    if (isnan(u) || isnan(v))
      assert_int_equal(f16, 0x7FFF);
    else
      assert_true(emu_widen_f16(f16) == fmaxf(fabsf(u), fabsf(v)));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_boundaries), cmocka_unit_test(test_nan),
      cmocka_unit_test(test_widen_f16),  cmocka_unit_test(test_multiply_bf16),
      cmocka_unit_test(test_larger),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
