/* SPDX-License-Identifier: MIT */
#include "cpu_decode.h"

#include <string.h>

#include "cpu_bits.h"

#define NAN_F32 0x7FFFFFFFu
#define NAN_16  0x7FFFu
#define SIGN    0x80000000u

void mxq_cpu_coding_of(const struct mxq_type_facts *type, struct mxq_cpu_coding *coding) {
  const unsigned sign_bit = type->exponent_bits + type->mantissa_bits;
  const uint32_t bias = (1u << (type->exponent_bits - 1)) - 1;
  *coding = (struct mxq_cpu_coding){
      .magnitude = (1u << sign_bit) - 1,
      .sign = 1u << sign_bit,
      .magnitude_shift = 23 - type->mantissa_bits,
      .sign_shift = 31 - sign_bit,
      .rebias = (127 - bias) << 23,
      .max = (float)type->max,
      .f16_infinite = 0x1p16f,
      .f16_smallest_normal = 0x1p-14f,
  };
}

/* A subnormal has the exponent field 0 but the scale of field 1, without the implicit one: the
 * difference of two normals. Of a normal that difference is not the smaller one: 2 * x less the
 * smallest normal. What comes out above the type's maximum stands for infinity, if its mantissa is
 * 0, or NaN. */
static inline float decode(const struct mxq_cpu_coding *coding, uint32_t code) {
  const uint32_t one = 1u << 23; /* of the exponent */
  const uint32_t a = (code & coding->magnitude) << coding->magnitude_shift;
  const float normal = mxq_cpu_float(a + coding->rebias);
  const float subnormal =
      mxq_cpu_float(a + coding->rebias + one) - mxq_cpu_float(coding->rebias + one);
  const float x = normal < subnormal ? normal : subnormal;
  const uint32_t special = x > coding->max ? MXQ_CPU_INFINITY : 0;
  return mxq_cpu_float(mxq_cpu_bits(x) | special | (code & coding->sign) << coding->sign_shift);
}

/* e8m0: 2^(byte - 127), of which byte 0 is the subnormal 0x00400000. */
void mxq_cpu_decode_scales(unsigned scale_bits, const uint32_t *scales, size_t count,
                           float *restrict values) {
  if (scale_bits == 32) {
    memcpy(values, scales, count * sizeof *values);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    const int32_t byte = (int32_t)scales[i];
    const uint32_t finite = byte > 0 ? (uint32_t)byte << 23 : 0x00400000u;
    values[i] = mxq_cpu_float(byte == 255 ? NAN_F32 : finite);
  }
}

/* What is written of a pair of float32 numbers. */
typedef void pair_fn(const struct mxq_cpu_coding *coding, float even, float odd, unsigned char *to);

static inline void write_f32(const struct mxq_cpu_coding *coding, float even, float odd,
                             unsigned char *to) {
  (void)coding;
  const uint32_t low = even != even ? NAN_F32 : mxq_cpu_bits(even);
  const uint32_t high = odd != odd ? NAN_F32 : mxq_cpu_bits(odd);
  memcpy(to, &low, sizeof low);
  memcpy(to + sizeof low, &high, sizeof high);
}

/* In the upper half. Half a place, less one unit for an even result, carries where it should: into
 * the exponent too, and from there into infinity. */
static uint32_t round_bf16(float y) {
  const uint32_t bits = mxq_cpu_bits(y);
  return y != y ? NAN_F32 : bits + 0x7FFFu + (bits >> 16 & 1);
}

static inline void write_bf16(const struct mxq_cpu_coding *coding, float even, float odd,
                              unsigned char *to) {
  (void)coding;
  const uint32_t word = round_bf16(even) >> 16 | (round_bf16(odd) & 0xFFFF0000u);
  memcpy(to, &word, sizeof word);
}

/* In the lower half. As cpu_convert.c rounds to codes. From 2^16 on, for which f16 would need one
 * more exponent, all gets the code that 2^16 gets. */
static inline uint32_t round_f16(const struct mxq_cpu_coding *coding, float y) {
  const float infinite = coding->f16_infinite, smallest_normal = coding->f16_smallest_normal;
  const uint32_t bits = mxq_cpu_bits(y), first = (127 - 14 + 13) << 10;
  const float magnitude = mxq_cpu_float(bits & ~SIGN);
  const float a = magnitude < infinite ? magnitude : infinite;
  const float exponent = mxq_cpu_float(bits & MXQ_CPU_INFINITY);
  const float below = exponent < infinite ? exponent : infinite;
  const float power = below > smallest_normal ? below : smallest_normal;
  const uint32_t sum = mxq_cpu_bits(a + power * 0x1p13f);
  const uint32_t code = (sum + (sum >> 13) - first) & 0x7FFFu;
  const uint32_t nan = (MXQ_CPU_INFINITY - (bits & ~SIGN)) >> 31; /* no branch around all above */
  return code | nan * NAN_16 | ((bits & SIGN) >> 16 & ~(nan << 15));
}

static inline void write_f16(const struct mxq_cpu_coding *coding, float even, float odd,
                             unsigned char *to) {
  const uint32_t word = round_f16(coding, even) | round_f16(coding, odd) << 16;
  memcpy(to, &word, sizeof word);
}

/* Inlined into the function of each type. */
static inline void decode_pairs(pair_fn *write, size_t pair_bytes, const struct mxq_cpu_coding *by,
                                const uint8_t *codes, const struct mxq_cpu_multipliers *multipliers,
                                size_t count, unsigned char *restrict row) {
  const struct mxq_cpu_coding coding = *by;
  const float *even = multipliers->even, *odd = multipliers->odd;
  for (size_t i = 0; i < count; ++i) {
    uint16_t pair;
    memcpy(&pair, codes + 2 * i, sizeof pair);
    write(&coding, decode(&coding, pair) * even[i], decode(&coding, (uint32_t)pair >> 8) * odd[i],
          row + i * pair_bytes);
  }
}

static void decode_f32(const struct mxq_cpu_coding *coding, const uint8_t *codes,
                       const struct mxq_cpu_multipliers *multipliers, size_t count, void *row) {
  decode_pairs(write_f32, 8, coding, codes, multipliers, count, row);
}

static void decode_bf16(const struct mxq_cpu_coding *coding, const uint8_t *codes,
                        const struct mxq_cpu_multipliers *multipliers, size_t count, void *row) {
  decode_pairs(write_bf16, 4, coding, codes, multipliers, count, row);
}

static void decode_f16(const struct mxq_cpu_coding *coding, const uint8_t *codes,
                       const struct mxq_cpu_multipliers *multipliers, size_t count, void *row) {
  decode_pairs(write_f16, 4, coding, codes, multipliers, count, row);
}

static const struct mxq_cpu_writer writers[] = {
    [MXQ_TYPE_F32] = {4, decode_f32},
    [MXQ_TYPE_BF16] = {2, decode_bf16},
    [MXQ_TYPE_F16] = {2, decode_f16},
};

const struct mxq_cpu_writer *mxq_cpu_writer(unsigned type) { return &writers[type]; }

void mxq_cpu_decode(const struct mxq_cpu_writer *writer, const struct mxq_cpu_coding *coding,
                    const uint8_t *codes, const struct mxq_cpu_multipliers *multipliers,
                    size_t count, void *row) {
  const size_t pairs = count / 2, bytes = writer->element_bytes;
  writer->decode(coding, codes, multipliers, pairs, row);
  if (count % 2) {
    const uint8_t last[2] = {codes[2 * pairs], 0};
    const struct mxq_cpu_multipliers at = {multipliers->even + pairs, multipliers->odd + pairs};
    unsigned char pair[2 * sizeof(float)];
    writer->decode(coding, last, &at, 1, pair);
    memcpy((unsigned char *)row + 2 * pairs * bytes, pair, bytes);
  }
}
