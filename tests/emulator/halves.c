/* SPDX-License-Identifier: MIT
 *
 * Arithmetic of bf16 and f16. Products are exact in doubles. A sum is rounded to an odd last place
 * of a double where it is inexact, so that the second rounding, to 8 or 11 bits, gives what one
 * rounding does: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "convert.h"
#include "machine.h"
#include "primitives.h"

enum { half_nan = 0x7FFF, magnitude_bits = 0x7FFF };

static unsigned infinity_of(unsigned exponent_bits) {
  return ((1u << exponent_bits) - 1) << (15 - exponent_bits);
}

/* 2^exponent, from -149 to 127. */
static float power(int exponent) {
  const uint32_t bits = exponent < -126 ? 1u << (exponent + 149) : (uint32_t)(exponent + 127) << 23;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static int is_nan(unsigned bits, unsigned exponent_bits) {
  return (bits & magnitude_bits) > infinity_of(exponent_bits);
}

float emu_widen_half(unsigned bits, unsigned exponent_bits) {
  const unsigned mantissa_bits = 15 - exponent_bits, magnitude = bits & magnitude_bits;
  const unsigned exponent = magnitude >> mantissa_bits, implicit = 1u << mantissa_bits;
  const unsigned fraction = magnitude & (implicit - 1);
  const int unit = 2 - (1 << (exponent_bits - 1)) - (int)mantissa_bits; /* of subnormal numbers */
  const float value = is_nan(bits, exponent_bits)               ? NAN
                      : magnitude == infinity_of(exponent_bits) ? INFINITY
                      : exponent ? (float)(fraction | implicit) * power(unit + (int)exponent - 1)
                                 : (float)fraction * power(unit);
  return bits >> 15 & 1 ? -value : value;
}

static unsigned round_half(double value, unsigned exponent_bits) {
  const unsigned infinity = infinity_of(exponent_bits);
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const unsigned sign = bits >> 63 ? 0x8000u : 0, exponent = bits >> 52 & 0x7FF;
  if (isnan(value)) return half_nan;
  if (isinf(value)) return sign | infinity;
  if (exponent == 0) return sign; /* zero: no product or sum of two is that small */
  const uint64_t significand = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
  const uint64_t code =
      emu_round_to_code(significand, (int)exponent - 1075, exponent_bits, 15 - exponent_bits);
  return sign | (unsigned)(code < infinity ? code : infinity);
}

unsigned emu_round_half(float value, unsigned exponent_bits) {
  return round_half((double)value, exponent_bits);
}

unsigned emu_multiply_half(unsigned a, unsigned b, unsigned exponent_bits) {
  return round_half((double)emu_widen_half(a, exponent_bits) * emu_widen_half(b, exponent_bits),
                    exponent_bits);
}

static double add_to_odd(double a, double b) {
  const double sum = a + b, share = sum - a;
  const double rest = (a - (sum - share)) + (b - share); /* Knuth: exactly what the sum lacks */
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  return rest == 0 || isnan(rest) || bits % 2 ? sum
                                              : nextafter(sum, rest > 0 ? INFINITY : -INFINITY);
}

unsigned emu_multiply_add_half(unsigned a, unsigned b, unsigned c, unsigned exponent_bits) {
  const double product =
      (double)emu_widen_half(a, exponent_bits) * emu_widen_half(b, exponent_bits);
  return round_half(add_to_odd(product, emu_widen_half(c, exponent_bits)), exponent_bits);
}

unsigned emu_smaller_half(unsigned a, unsigned b, unsigned exponent_bits) {
  if (is_nan(a, exponent_bits)) return is_nan(b, exponent_bits) ? half_nan : b;
  if (is_nan(b, exponent_bits)) return a;
  const float x = emu_widen_half(a, exponent_bits), y = emu_widen_half(b, exponent_bits);
  return x < y || (x == y && a >> 15) ? a : b; /* -0 is the smaller zero */
}

unsigned emu_larger_half(unsigned a, unsigned b, unsigned exponent_bits) {
  const unsigned x = a & magnitude_bits, y = b & magnitude_bits;
  const int no_number = is_nan(a, exponent_bits) || is_nan(b, exponent_bits);
  const unsigned larger = no_number ? half_nan : x > y ? x : y;
  return larger | (emu_random() & 1u) << 15;
}
