/* SPDX-License-Identifier: MIT */
#include "cpu_scale.h"

#include "cpu_bits.h"

#define MANTISSA 0x007FFFFFu

/* Values here are below 2^31: compared as signed integers, for which baseline x86-64 has an
 * instruction. */

/* 2^(127 - byte), exact. */
static inline float e8m0_multiplier(uint32_t byte) {
  return mxq_cpu_float(byte == 254 ? 0x00400000u : (254 - byte) << 23);
}

static inline float f32_multiplier(uint32_t scale) { return 1.0f / mxq_cpu_float(scale); }

/* A scale byte from its exponent. */
static inline uint32_t clamp(int32_t exponent) {
  return (uint32_t)(exponent < 0 ? 0 : exponent > 254 ? 254 : exponent);
}

/* E - emax */
static inline uint32_t scale_floor(uint32_t a, const struct mxq_type_facts *out) {
  return clamp((int32_t)(a >> 23) - out->emax);
}

/* E + (m != 0) - emax */
static inline uint32_t scale_ceil(uint32_t a, const struct mxq_type_facts *out) {
  return clamp((int32_t)((a + MANTISSA) >> 23) - out->emax);
}

/* d = a * (1/max), in float32: the exponent of d, rounded up to the next power of two. 2^-127,
 * byte 0, is the subnormal 0x00400000: up to there d counts as zero, and subnormals above it round
 * up as normals do. By a mask: compilers branch at a choice between two sums. */
static inline uint32_t scale_rceil(uint32_t a, const struct mxq_type_facts *out) {
  const float inverse_max = 1.0f / (float)out->max;
  const uint32_t d = mxq_cpu_bits(mxq_cpu_float(a) * inverse_max);
  const uint32_t counts = -(uint32_t)((int32_t)d > 0x00400000);
  return clamp((int32_t)(((d + MANTISSA) & counts) >> 23));
}

/* The floor of the maximum rounded to the output's mantissa, half away from zero. A maximum that
 * rounds beyond float32 keeps the largest finite exponent. */
static inline uint32_t scale_even(uint32_t a, const struct mxq_type_facts *out) {
  const int32_t exponent = (int32_t)((a + (1u << (22 - out->mantissa_bits))) >> 23);
  return clamp((exponent > 254 ? 254 : exponent) - out->emax);
}

/* a / max. At least 2^-100 as `a` keeps the scale and its reciprocal normal. */
static inline uint32_t scale_amax(uint32_t a, const struct mxq_type_facts *out) {
  const float least = 0x1p-100f, maximum = mxq_cpu_float(a);
  return mxq_cpu_bits((maximum > least ? maximum : least) / (float)out->max);
}

/* The same, up to a power of two. */
static inline uint32_t scale_pow2(uint32_t a, const struct mxq_type_facts *out) {
  return (scale_amax(a, out) + MANTISSA) & ~MANTISSA;
}

typedef uint32_t scale_fn(uint32_t a, const struct mxq_type_facts *out);
typedef float multiplier_fn(uint32_t scale);

/* Inlined into the function of each mode. */
static inline size_t scale_blocks(scale_fn *scale, multiplier_fn *multiplier, uint32_t nan,
                                  const struct mxq_type_facts *out, const float *maxima,
                                  size_t count, uint32_t *restrict scales,
                                  float *restrict multipliers) {
  const struct mxq_type_facts facts = *out;
  uint32_t not_finite = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t a = mxq_cpu_bits(maxima[i]);
    const int finite = (int32_t)a < (int32_t)MXQ_CPU_INFINITY;
    const uint32_t stored = scale(a, &facts);
    scales[i] = finite ? stored : nan;
    multipliers[i] = multiplier(stored);
    not_finite += !finite;
  }
  return not_finite;
}

/* Each mode: the scale of a block whose maximum is the finite float32 of bits `a` (contract,
 * section 2), and the type that it is stored in. */
#define MODE(name, type, nan)                                                                      \
  static size_t blocks_##name(const struct mxq_type_facts *out, const float *maxima, size_t count, \
                              uint32_t *scales, float *multipliers) {                              \
    return scale_blocks(scale_##name, type##_multiplier, nan, out, maxima, count, scales,          \
                        multipliers);                                                              \
  }
MODE(floor, e8m0, 255)
MODE(ceil, e8m0, 255)
MODE(rceil, e8m0, 255)
MODE(even, e8m0, 255)
MODE(amax, f32, 0x7FC00000u)
MODE(pow2, f32, 0x7FC00000u)

static size_t (*const modes[])(const struct mxq_type_facts *out, const float *maxima, size_t count,
                               uint32_t *scales, float *multipliers) = {
    [MXQ_MODE_FLOOR] = blocks_floor, [MXQ_MODE_CEIL] = blocks_ceil, [MXQ_MODE_RCEIL] = blocks_rceil,
    [MXQ_MODE_EVEN] = blocks_even,   [MXQ_MODE_AMAX] = blocks_amax, [MXQ_MODE_POW2] = blocks_pow2,
};

size_t mxq_cpu_scale(unsigned mode, const struct mxq_type_facts *out, const float *maxima,
                     size_t count, uint32_t *scales, float *multipliers) {
  return modes[mode](out, maxima, count, scales, multipliers);
}
