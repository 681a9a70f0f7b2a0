/* SPDX-License-Identifier: MIT */
#include "cpu_decode.h"

#include <string.h>

#include "cpu_bits.h"

#define NAN_F32    0x7FFFFFFFu
#define NAN_16     0x7FFFu
#define F16_LARGE  0x47800000u /* 2^16, from where all is infinite */
#define F16_NORMAL 0x38800000u /* 2^-14, the smallest normal */
#define F16_HALF   0x3F000000u /* 0.5: its last place as float32 is f16's smallest subnormal */
#define F16_REBIAS (112u << 23)

/* Field by field. A subnormal has the scale of exponent field 1 without the implicit one. What
 * comes out above the type's maximum stands for infinity, if its mantissa is 0, or NaN. */
static float decode(const struct mxq_type_facts *type, uint32_t code) {
  const uint32_t mantissa = code & ((1u << type->mantissa_bits) - 1);
  const uint32_t exponent = code >> type->mantissa_bits & ((1u << type->exponent_bits) - 1);
  const uint32_t sign = code >> (type->exponent_bits + type->mantissa_bits) & 1;
  const uint32_t bias = (1u << (type->exponent_bits - 1)) - 1;
  const uint32_t units = mantissa + (exponent ? 1u << type->mantissa_bits : 0);
  const uint32_t place = 127 + (exponent ? exponent : 1) - bias - type->mantissa_bits;
  const float magnitude = (float)units * mxq_cpu_float(place << 23);
  uint32_t bits = mxq_cpu_bits(magnitude);
  if (magnitude > (float)type->max) bits = mantissa ? NAN_F32 : MXQ_CPU_INFINITY;
  return mxq_cpu_float(bits | sign << 31);
}

void mxq_cpu_decode_codes(const struct mxq_type_facts *type, float values[256]) {
  for (uint32_t code = 0; code < 256; ++code) values[code] = decode(type, code);
}

/* e8m0: 2^(byte - 127), of which byte 0 is the subnormal 0x00400000. */
float mxq_cpu_decode_scale(unsigned scale_bits, uint32_t scale) {
  if (scale_bits == 32) return mxq_cpu_float(scale);
  if (scale == 255) return mxq_cpu_float(NAN_F32);
  return mxq_cpu_float(scale ? scale << 23 : 0x00400000u);
}

static int is_nan(uint32_t bits) { return (bits & 0x7FFFFFFFu) > MXQ_CPU_INFINITY; }

static void narrow_f32(const float *y, size_t count, void *row) {
  unsigned char *out = row;
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = mxq_cpu_bits(y[i]);
    if (is_nan(bits)) bits = NAN_F32;
    memcpy(out + i * sizeof bits, &bits, sizeof bits);
  }
}

/* Half a place, less one unit for an even result, carries where it should: into the exponent too,
 * and from there into infinity. */
static void narrow_bf16(const float *y, size_t count, void *row) {
  unsigned char *out = row;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = mxq_cpu_bits(y[i]);
    const uint32_t rounded = (bits + 0x7FFFu + (bits >> 16 & 1)) >> 16;
    const uint16_t half = (uint16_t)(is_nan(bits) ? NAN_16 : rounded);
    memcpy(out + i * sizeof half, &half, sizeof half);
  }
}

static uint32_t f16_magnitude(uint32_t a) {
  if (a >= F16_LARGE) return 0x7C00;
  if (a >= F16_NORMAL) return (a - F16_REBIAS + 0xFFFu + (a >> 13 & 1)) >> 13;
  return mxq_cpu_bits(mxq_cpu_float(a) + mxq_cpu_float(F16_HALF)) - F16_HALF;
}

static void narrow_f16(const float *y, size_t count, void *row) {
  unsigned char *out = row;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = mxq_cpu_bits(y[i]);
    const uint32_t rounded = f16_magnitude(bits & 0x7FFFFFFFu) | (bits >> 16 & 0x8000u);
    const uint16_t half = (uint16_t)(is_nan(bits) ? NAN_16 : rounded);
    memcpy(out + i * sizeof half, &half, sizeof half);
  }
}

static const struct mxq_cpu_writer writers[] = {
    [MXQ_TYPE_F32] = {4, narrow_f32},
    [MXQ_TYPE_BF16] = {2, narrow_bf16},
    [MXQ_TYPE_F16] = {2, narrow_f16},
};

const struct mxq_cpu_writer *mxq_cpu_writer(unsigned type) { return &writers[type]; }
