/* SPDX-License-Identifier: MIT */
#include "cpu_scale.h"

#include "cpu_bits.h"

#define MANTISSA 0x007FFFFFu

/* What a scale is stored as. */
struct scale_type {
  uint32_t nan;
  float (*multiplier)(uint32_t scale);
};

static float e8m0_multiplier(uint32_t byte) {
  return mxq_cpu_float(byte == 254 ? 0x00400000u : (254 - byte) << 23); /* 2^(127 - byte), exact */
}

static float f32_multiplier(uint32_t scale) { return 1.0f / mxq_cpu_float(scale); }

static const struct scale_type e8m0 = {255, e8m0_multiplier};
static const struct scale_type f32 = {0x7FC00000u, f32_multiplier};

/* A scale byte from its exponent. */
static uint32_t clamp(int exponent) {
  return (uint32_t)(exponent < 0 ? 0 : exponent > 254 ? 254 : exponent);
}

/* E - emax */
static uint32_t scale_floor(uint32_t a, const struct mxq_type_facts *out) {
  return clamp((int)(a >> 23) - out->emax);
}

/* E + (m != 0) - emax */
static uint32_t scale_ceil(uint32_t a, const struct mxq_type_facts *out) {
  return clamp((int)(a >> 23) + ((a & MANTISSA) != 0) - out->emax);
}

/* d = a * (1/max), in float32: the exponent of d, rounded up to the next power of two. 2^-127,
 * byte 0, is the subnormal 0x00400000. */
static uint32_t scale_rceil(uint32_t a, const struct mxq_type_facts *out) {
  const float inverse_max = 1.0f / (float)out->max;
  const uint32_t d = mxq_cpu_bits(mxq_cpu_float(a) * inverse_max);
  const uint32_t exponent = d >> 23, mantissa = d & MANTISSA;
  return clamp((int)(exponent + (exponent ? mantissa != 0 : mantissa > 0x00400000u)));
}

/* The floor of the maximum rounded to the output's mantissa, half away from zero. A maximum that
 * rounds beyond float32 keeps the largest finite exponent. */
static uint32_t scale_even(uint32_t a, const struct mxq_type_facts *out) {
  const uint32_t exponent = (a + (1u << (22 - out->mantissa_bits))) >> 23;
  return clamp((int)(exponent > 254 ? 254 : exponent) - out->emax);
}

/* a / max. At least 2^-100 as `a` keeps the scale and its reciprocal normal. */
static uint32_t scale_amax(uint32_t a, const struct mxq_type_facts *out) {
  const uint32_t least = (127 - 100) << 23;
  return mxq_cpu_bits(mxq_cpu_float(a > least ? a : least) / (float)out->max);
}

/* The same, up to a power of two. */
static uint32_t scale_pow2(uint32_t a, const struct mxq_type_facts *out) {
  const uint32_t s = scale_amax(a, out);
  return ((s >> 23) + ((s & MANTISSA) != 0)) << 23;
}

/* Each mode: the scale of a block whose maximum is the finite float32 of bits `a` (contract,
 * section 2), and the type that it is stored in. */
static const struct {
  uint32_t (*scale)(uint32_t a, const struct mxq_type_facts *out);
  const struct scale_type *type;
} modes[] = {
    [MXQ_MODE_FLOOR] = {scale_floor, &e8m0}, [MXQ_MODE_CEIL] = {scale_ceil, &e8m0},
    [MXQ_MODE_RCEIL] = {scale_rceil, &e8m0}, [MXQ_MODE_EVEN] = {scale_even, &e8m0},
    [MXQ_MODE_AMAX] = {scale_amax, &f32},    [MXQ_MODE_POW2] = {scale_pow2, &f32},
};

size_t mxq_cpu_scale(unsigned mode, const struct mxq_type_facts *out, const float *maxima,
                     size_t count, uint32_t *scales, float *multipliers) {
  size_t not_finite = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t a = mxq_cpu_bits(maxima[i]);
    const int finite = a < MXQ_CPU_INFINITY;
    scales[i] = finite ? modes[mode].scale(a, out) : modes[mode].type->nan;
    multipliers[i] = finite ? modes[mode].type->multiplier(scales[i]) : 0.0f;
    not_finite += !finite;
  }
  return not_finite;
}
