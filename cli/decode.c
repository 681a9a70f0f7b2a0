/* SPDX-License-Identifier: MIT */
#include "decode.h"

#include <math.h>
#include <string.h>

#include "text.h"

static float decode_one(const struct mxq_type_facts *type, uint32_t code) {
  const unsigned mantissa_bits = type->mantissa_bits;
  const uint32_t mantissa = code & ((1u << mantissa_bits) - 1);
  const uint32_t exponent = code >> mantissa_bits & ((1u << type->exponent_bits) - 1);
  const int bias = (1 << (type->exponent_bits - 1)) - 1;
  const int negative = (int)(code >> (mantissa_bits + type->exponent_bits)) & 1;
  const double implicit = exponent ? (double)(1u << mantissa_bits) : 0;
  const double value =
      ldexp(implicit + mantissa, (exponent ? (int)exponent : 1) - bias - (int)mantissa_bits);
  /* Wide types end at 2^(emax + 1), the others at their largest value. */
  const int finite = type->max > 0 ? value <= type->max : value < ldexp(1, type->emax + 1);
  if (!finite) return NAN;
  return (float)(negative ? -value : value);
}

float *decode_table(const struct mxq_type_facts *type) {
  const size_t count = (size_t)1 << type->bits; /* six-bit codes: the two bits above are ignored */
  float *table = text_allocate(count, sizeof *table);
  for (size_t code = 0; code < count; code++) table[code] = decode_one(type, (uint32_t)code);
  return table;
}

void decode_wide(const struct mxq_type_facts *type, const float *table, const unsigned char *bytes,
                 size_t count, float *values) {
  if (type->bits == 32) {
    memcpy(values, bytes, count * sizeof *values);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    uint16_t code;
    memcpy(&code, bytes + 2 * i, sizeof code);
    values[i] = table[code];
  }
}

float *decode_scales(void) {
  float *table = text_allocate(256, sizeof *table);
  for (int code = 0; code < 255; code++) table[code] = ldexpf(1, code - 127);
  table[255] = NAN;
  return table;
}

float decode_scale(const unsigned char *scales, uint64_t index) {
  float scale;
  memcpy(&scale, scales + 4 * index, sizeof scale);
  return scale;
}
