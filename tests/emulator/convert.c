/* SPDX-License-Identifier: MIT
 *
 * Conversions from the definitions of the formats: sign, exponent and mantissa fields, a bias of
 * 2^(exponent bits - 1) - 1, subnormals, rounding to nearest with ties to even.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "convert.h"
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
  if (shift > 60) return 0; /* values have at most 53 bits */
  const uint64_t quotient = value >> shift, rest = value - (quotient << shift);
  const uint64_t half = shift ? UINT64_C(1) << (shift - 1) : 0;
  return quotient + (shift && (rest > half || (rest == half && quotient % 2)));
}

uint64_t emu_round_to_code(uint64_t significand, int unit, unsigned exponent_bits,
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
  const uint64_t code = emu_round_to_code(significand, unit, exponent_bits, mantissa_bits);
  return (bits >> 31 ? codes : 0) | (unsigned)(code < largest ? code : largest);
}

unsigned emu_widen_code(unsigned code, unsigned exponent_bits, unsigned mantissa_bits) {
  enum { half_infinity = 0x7C00, half_nan = 0x7FFF };
  const unsigned codes = 1u << (exponent_bits + mantissa_bits), magnitude = code & (codes - 1);
  const unsigned sign = code & codes ? 0x8000 : 0, field = magnitude >> mantissa_bits;
  const unsigned finite = codes - reserved_codes(exponent_bits, mantissa_bits);
  if (code >= 2 * codes) emu_hazard("a conversion of 0x%X: the code has bits past its sign", code);
  if (magnitude >= finite)
    return exponent_bits == 5 && magnitude == finite ? sign | half_infinity : half_nan;
  const unsigned ones = 1u << mantissa_bits;
  const unsigned significand = magnitude % ones + (field ? ones : 0);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int unit = (int)(field ? field : 1) - bias - (int)mantissa_bits;
  return sign | (unsigned)emu_round_to_code(significand, unit, 5, 10);
}

unsigned emu_permute_bytes(unsigned a, unsigned b, unsigned selector) {
  const uint64_t bytes = (uint64_t)b << 32 | a;
  unsigned word = 0;
  for (unsigned i = 0; i < 4; i++) {
    const unsigned which = selector >> 4 * i & 7, byte = bytes >> 8 * which & 0xFF;
    word |= (selector >> 4 * i & 8 ? (byte >> 7) * 0xFF : byte) << 8 * i;
  }
  return word;
}

unsigned emu_ceil_e8m0(float value) {
  int exponent;
  if (isnan(value)) return 255;
  if (!(value > 0)) return 0;
  if (isinf(value)) return 254;
  /* value is fraction * 2^exponent, with a fraction from a half to below one. */
  const double fraction = frexp((double)value, &exponent);
  const int code = 127 + exponent - (fraction == 0.5);
  return code < 0 ? 0 : code > 254 ? 254 : (unsigned)code;
}

/* The NaN that the hardware's arithmetic gives: positive. */
static float nan_float(void) { return float_of(0x7FFFFFFF); }

float emu_multiply(float a, float b) {
  const float product = a * b;
  return isnan(product) ? nan_float() : product;
}

float emu_multiply_add(float a, float b, float c) {
  const float sum = fmaf(a, b, c);
  return isnan(sum) ? nan_float() : sum;
}

float emu_min_number(float a, float b) {
  if (isnan(a)) return isnan(b) ? nan_float() : b;
  if (isnan(b)) return a;
  if (a == b) return signbit(a) ? a : b; /* -0 is the smaller zero */
  return a < b ? a : b;
}

float emu_larger_magnitude(float a, float b) {
  if (isnan(a) || isnan(b)) return nan_float();
  return fabsf(a) > fabsf(b) ? fabsf(a) : fabsf(b);
}
