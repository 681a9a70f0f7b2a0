/* SPDX-License-Identifier: MIT
 *
 * Conversions from the definitions of the formats: sign, exponent and mantissa fields, a bias of
 * 2^(exponent bits - 1) - 1, subnormals, rounding to nearest with ties to even.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "machine.h"
#include "primitives.h"

enum { float_mantissa = 23, float_bias = 127 };

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Codes of one sign at the top that are no finite number. e4m3 has one NaN; e5m2 is laid out as the
 * types of IEEE 754: infinity and NaN take the last exponent. Shorter types have only numbers. */
static unsigned reserved_codes(unsigned exponent_bits, unsigned mantissa_bits) {
  if (exponent_bits + mantissa_bits != 7) return 0;
  return exponent_bits == 4 ? 1 : 1u << mantissa_bits;
}

/* value / 2^shift, to nearest, ties to even. */
static uint64_t shift_right(uint64_t value, unsigned shift) {
  if (shift > 40) return 0; /* values have 24 bits */
  const uint64_t quotient = value >> shift, rest = value - (quotient << shift);
  const uint64_t half = shift ? UINT64_C(1) << (shift - 1) : 0;
  return quotient + (shift && (rest > half || (rest == half && quotient % 2)));
}

unsigned emu_narrow(float value, unsigned exponent_bits, unsigned mantissa_bits) {
  const uint32_t bits = bits_of(value), magnitude = bits & 0x7FFFFFFF;
  const unsigned width = exponent_bits + mantissa_bits, codes = 1u << width;
  const unsigned sign = bits >> 31 ? codes : 0;
  if (magnitude > 0x7F800000) return codes - 1; /* every type's NaN, or its stand-in */
  const int field = (int)(magnitude >> float_mantissa);
  const int exponent = (field ? field : 1) - float_bias;
  const uint64_t significand =
      (magnitude & 0x7FFFFF) | (field ? UINT64_C(1) << float_mantissa : UINT64_C(0));
  /* Below the smallest normal exponent the codes stay as far apart as there. */
  const int smallest = 2 - (1 << (exponent_bits - 1));
  const int base = exponent > smallest ? exponent : smallest;
  const unsigned shift = (unsigned)(base - exponent + float_mantissa - (int)mantissa_bits);
  const uint64_t code =
      shift_right(significand, shift) + ((uint64_t)(base - smallest) << mantissa_bits);
  const uint64_t largest = codes - 1 - reserved_codes(exponent_bits, mantissa_bits);
  return sign | (unsigned)(code < largest ? code : largest);
}

float emu_widen_f16(unsigned bits) {
  const unsigned exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const float magnitude = exponent == 31  ? (mantissa ? NAN : INFINITY)
                          : exponent == 0 ? ldexpf((float)mantissa, -24)
                                          : ldexpf((float)(mantissa + 1024), (int)exponent - 25);
  return bits >> 15 & 1 ? -magnitude : magnitude;
}

/* The product of two 8-bit significands is exact in a double: one rounding, to bf16. */
unsigned emu_multiply_bf16(unsigned a, unsigned b) {
  const double product = (double)float_of(a << 16) * (double)float_of(b << 16);
  const double magnitude = fabs(product);
  const unsigned sign = signbit(product) ? 0x8000 : 0;
  int exponent;
  if (isnan(product)) return 0x7FFF;
  if (isinf(product)) return sign | 0x7F80;
  frexp(magnitude, &exponent); /* magnitude < 2^exponent */
  const int unit = (exponent > -125 ? exponent : -125) - 8;
  const double rounded = ldexp(nearbyint(ldexp(magnitude, -unit)), unit);
  if (rounded >= ldexp(1.0, 128)) return sign | 0x7F80;
  return sign | bits_of((float)rounded) >> 16;
}

float emu_larger_magnitude(float a, float b) {
  if (isnan(a) || isnan(b)) return float_of(0x7FFFFFFF);
  return fabsf(a) > fabsf(b) ? fabsf(a) : fabsf(b);
}

unsigned emu_larger_half(unsigned a, unsigned b, unsigned exponent_bits) {
  const unsigned infinity = ((1u << exponent_bits) - 1) << (15 - exponent_bits);
  const unsigned x = a & 0x7FFF, y = b & 0x7FFF;
  const unsigned larger = x > infinity || y > infinity ? 0x7FFFu : x > y ? x : y;
  return larger | (emu_random() & 1u) << 15;
}
