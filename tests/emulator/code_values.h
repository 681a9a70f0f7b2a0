/* SPDX-License-Identifier: MIT
 *
 * What codes mean, in doubles, which hold every value and every boundary exactly. Written from the
 * contract's table, apart from convert.c, whose proof it is.
 */
#ifndef EMU_CODE_VALUES_H
#define EMU_CODE_VALUES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

struct code_type {
  const char *name;
  unsigned exponent_bits, mantissa_bits;
  unsigned largest; /* the code of the largest finite number */
  unsigned nan_code;
};

static const struct code_type code_types[] = {
    {"e4m3", 4, 3, 0x7E, 0x7F}, {"e5m2", 5, 2, 0x7B, 0x7F}, {"e2m3", 2, 3, 0x1F, 0x1F},
    {"e3m2", 3, 2, 0x1F, 0x1F}, {"e2m1", 2, 1, 0x7, 0x7},   {0, 0, 0, 0, 0},
};

/* The value of a code without its sign. */
static inline double code_value(const struct code_type *type, unsigned code) {
  const int bias = (1 << (type->exponent_bits - 1)) - 1, ones = 1 << type->mantissa_bits;
  const int exponent = (int)code / ones, mantissa = (int)code % ones;
  if (exponent == 0) return ldexp((double)mantissa / ones, 1 - bias);
  return ldexp(1.0 + (double)mantissa / ones, exponent - bias);
}

/* The float half way from a code to the next: it has one bit more than they have. */
static inline uint32_t code_boundary(const struct code_type *type, unsigned code) {
  const float middle = (float)((code_value(type, code) + code_value(type, code + 1)) / 2);
  uint32_t bits;
  memcpy(&bits, &middle, sizeof bits);
  return bits;
}

/* What the bits of a 16-bit float of one sign mean; of infinity's, where the numbers would go on.
 */
static inline double half_value(unsigned magnitude, unsigned exponent_bits) {
  const int mantissa_bits = 15 - (int)exponent_bits, ones = 1 << mantissa_bits;
  const int exponent = (int)magnitude / ones, mantissa = (int)magnitude % ones;
  const int unit = 2 - (1 << (exponent_bits - 1)) - mantissa_bits;
  return exponent ? ldexp(ones + mantissa, unit + exponent - 1) : ldexp(mantissa, unit);
}

static inline unsigned infinity_of(unsigned exponent_bits) {
  return exponent_bits == 8 ? 0x7F80 : 0x7C00;
}

static inline int is_nan_half(unsigned bits, unsigned exponent_bits) {
  return (bits & 0x7FFF) > infinity_of(exponent_bits);
}

static inline double widened(unsigned bits, unsigned exponent_bits) {
  const unsigned magnitude = bits & 0x7FFF;
  const double value = magnitude > infinity_of(exponent_bits) ? NAN
                       : magnitude == infinity_of(exponent_bits)
                           ? INFINITY
                           : half_value(magnitude, exponent_bits);
  return bits >> 15 ? -value : value;
}

#endif
