/* SPDX-License-Identifier: MIT */
#include "cpu_convert.h"

#include <string.h>

#include "cpu_bits.h"

/* The caller's tensors have whatever type the caller gave them: read them as bytes. */
static inline uint16_t load16(const void *row, size_t i) {
  uint16_t bits;
  memcpy(&bits, (const unsigned char *)row + i * sizeof bits, sizeof bits);
  return bits;
}
static inline uint32_t load32(const void *row, size_t i) {
  uint32_t bits;
  memcpy(&bits, (const unsigned char *)row + i * sizeof bits, sizeof bits);
  return bits;
}

/* Magnitudes are compared as signed integers: the sign is gone, and baseline x86-64 has a maximum
 * of signed 16-bit integers only. */
static void fold16(const void *row, size_t count, void *magnitudes) {
  int16_t *restrict m = magnitudes;
  for (size_t i = 0; i < count; ++i) {
    const int16_t a = (int16_t)(load16(row, i) & 0x7FFF);
    m[i] = a > m[i] ? a : m[i];
  }
}

static void fold32(const void *row, size_t count, void *magnitudes) {
  int32_t *restrict m = magnitudes;
  for (size_t i = 0; i < count; ++i) {
    const int32_t a = (int32_t)(load32(row, i) & 0x7FFFFFFF);
    m[i] = a > m[i] ? a : m[i];
  }
}

static void reduce16(void *magnitudes, size_t count, size_t block) {
  int16_t *m = magnitudes;
  for (size_t first = 0, j = 0; first < count; first += block, ++j) {
    const size_t length = count - first < block ? count - first : block;
    int16_t largest = 0;
    for (size_t i = 0; i < length; ++i) largest = m[first + i] > largest ? m[first + i] : largest;
    m[j] = largest;
  }
}

static void reduce32(void *magnitudes, size_t count, size_t block) {
  int32_t *m = magnitudes;
  for (size_t first = 0, j = 0; first < count; first += block, ++j) {
    const size_t length = count - first < block ? count - first : block;
    int32_t largest = 0;
    for (size_t i = 0; i < length; ++i) largest = m[first + i] > largest ? m[first + i] : largest;
    m[j] = largest;
  }
}

static void widen_f32(const void *row, size_t count, float *restrict x) {
  memcpy(x, row, count * sizeof *x);
}

static void widen_bf16(const void *row, size_t count, float *restrict x) {
  for (size_t i = 0; i < count; ++i) x[i] = mxq_cpu_float((uint32_t)load16(row, i) << 16);
}

/* Moves the exponent from f16's bias, 15, to float32's, 127. A subnormal has the exponent field 0
 * but the scale of field 1, without the implicit one: the difference of two normals makes it exact,
 * with no subnormal float32 on the way. */
static void widen_f16(const void *row, size_t count, float *restrict x) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t h = load16(row, i);
    const uint32_t a = (h & 0x7FFFu) << 13;
    const uint32_t normal = a + (112u << 23);
    const uint32_t special = a | MXQ_CPU_INFINITY;
    const uint32_t subnormal =
        mxq_cpu_bits(mxq_cpu_float(a + (113u << 23)) - mxq_cpu_float(113u << 23));
    const uint32_t magnitude = a < 1u << 23 ? subnormal : (a >= 31u << 23 ? special : normal);
    x[i] = mxq_cpu_float(magnitude | (h & 0x8000u) << 16);
  }
}

static const struct mxq_cpu_reader readers[] = {
    [MXQ_TYPE_F32] = {4, fold32, reduce32, widen_f32},
    [MXQ_TYPE_BF16] = {2, fold16, reduce16, widen_bf16},
    [MXQ_TYPE_F16] = {2, fold16, reduce16, widen_f16},
};

const struct mxq_cpu_reader *mxq_cpu_reader(unsigned type) { return &readers[type]; }

void mxq_cpu_format_of(const struct mxq_type_facts *type, struct mxq_cpu_format *format) {
  const uint32_t bias = (1u << (type->exponent_bits - 1)) - 1;
  format->dropped_bits = 23 - type->mantissa_bits;
  format->sign_shift = 31 - type->exponent_bits - type->mantissa_bits;
  format->smallest_normal = (127 + 1 - bias) << 23;
  format->max = (float)type->max;
}

/* `exponent` is the power of two at or below the product, at least the smallest normal: the last
 * place of the result is that power shifted by the mantissa's width. Adding the power of two whose
 * own last place is that one rounds there, ties to even, by the addition's own rounding; what the
 * sum has beyond that power counts those last places. A carry out of the mantissa runs into the
 * exponent field as it should. */
void mxq_cpu_round(const struct mxq_cpu_format *format, const float *x,
                   const float *restrict multiplier, size_t count, uint8_t *restrict codes) {
  const unsigned dropped = format->dropped_bits, sign_shift = format->sign_shift;
  const uint32_t smallest = format->smallest_normal;
  const float max = format->max, smallest_normal = mxq_cpu_float(smallest);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t y = mxq_cpu_bits(x[i] * multiplier[i]);
    const float magnitude = mxq_cpu_float(y & 0x7FFFFFFFu);
    const float a = magnitude < max ? magnitude : max;
    const float power = mxq_cpu_float(mxq_cpu_bits(a) & MXQ_CPU_INFINITY);
    const uint32_t exponent = mxq_cpu_bits(power > smallest_normal ? power : smallest_normal);
    const uint32_t addend = exponent + ((uint32_t)dropped << 23);
    const uint32_t places = mxq_cpu_bits(a + mxq_cpu_float(addend)) - addend;
    const uint32_t code = places + ((exponent - smallest) >> dropped);
    codes[i] = (uint8_t)(code | (y & 0x80000000u) >> sign_shift);
  }
}
