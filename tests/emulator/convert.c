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
  if (shift > 40) return 0; /* values have at most 24 bits */
  const uint64_t quotient = value >> shift, rest = value - (quotient << shift);
  const uint64_t half = shift ? UINT64_C(1) << (shift - 1) : 0;
  return quotient + (shift && (rest > half || (rest == half && quotient % 2)));
}

/* The code of significand * 2^unit, as if there were no largest number. */
static uint64_t round_to_code(uint64_t significand, int unit, unsigned exponent_bits,
                              unsigned mantissa_bits) {
  /* Below the smallest normal exponent the codes stay as far apart as there. */
  const int smallest = 2 - (1 << (exponent_bits - 1));
  if (significand == 0) return 0;
  const int leading = unit + 63 - __builtin_clzll(significand);
  const int base = leading > smallest ? leading : smallest;
  const int shift = base - (int)mantissa_bits - unit;
  const uint64_t rounded =
      shift < 0 ? significand << -shift : shift_right(significand, (unsigned)shift);
  return rounded + ((uint64_t)(base - smallest) << mantissa_bits);
}

/* A finite magnitude is significand * 2^unit. */
static void take_apart(uint32_t magnitude, uint64_t *significand, int *unit) {
  const uint32_t field = magnitude >> float_mantissa;
  *significand = (magnitude & 0x7FFFFF) | (field ? UINT64_C(1) << float_mantissa : UINT64_C(0));
  *unit = (int)(field ? field : 1) - float_bias - float_mantissa;
}

unsigned emu_narrow(float value, unsigned exponent_bits, unsigned mantissa_bits) {
  const uint32_t bits = bits_of(value), magnitude = bits & 0x7FFFFFFF;
  const unsigned codes = 1u << (exponent_bits + mantissa_bits);
  const uint64_t largest = codes - 1 - reserved_codes(exponent_bits, mantissa_bits);
  uint64_t significand;
  int unit;
  if (magnitude > 0x7F800000) return codes - 1; /* every type's NaN, or its stand-in */
  take_apart(magnitude, &significand, &unit);   /* infinity as 2^128, which is too large too */
  const uint64_t code = round_to_code(significand, unit, exponent_bits, mantissa_bits);
  return (bits >> 31 ? codes : 0) | (unsigned)(code < largest ? code : largest);
}

float emu_widen_f16(unsigned bits) {
  const uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const float magnitude = exponent == 31  ? (mantissa ? NAN : INFINITY)
                          : exponent == 0 ? (float)mantissa * 0x1p-24f
                                          : float_of((exponent + 112) << 23 | mantissa << 13);
  return bits >> 15 & 1 ? -magnitude : magnitude;
}

/* The product of two significands of eight bits is exact: one rounding, to bf16. */
unsigned emu_multiply_bf16(unsigned a, unsigned b) {
  const uint32_t x = (a & 0x7FFF) << 16, y = (b & 0x7FFF) << 16, infinity = 0x7F800000;
  const unsigned sign = (a ^ b) & 0x8000;
  uint64_t significand_x, significand_y;
  int unit_x, unit_y;
  if (x > infinity || y > infinity) return 0x7FFF;
  if (x == infinity || y == infinity) return x && y ? sign | 0x7F80 : 0x7FFF;
  take_apart(x, &significand_x, &unit_x);
  take_apart(y, &significand_y, &unit_y);
  const uint64_t product = (significand_x >> 16) * (significand_y >> 16);
  const uint64_t code = round_to_code(product, unit_x + unit_y + 32, 8, 7);
  return sign | (unsigned)(code < 0x7F80 ? code : 0x7F80);
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
