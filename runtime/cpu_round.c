/* SPDX-License-Identifier: MIT */
#include "cpu_round.h"

#include "cpu_bits.h"
#include "cpu_read.h"

#define SIGN 0x80000000u

/* The elements 2 * i and 2 * i + 1 of a row. */
struct pair {
  float even, odd; /* with any sign */
  uint32_t signs;  /* bits 15 and 31 */
};

static struct pair pair_f32(const void *row, size_t i) {
  const uint32_t even = mxq_cpu_read32(row, 2 * i), odd = mxq_cpu_read32(row, 2 * i + 1);
  return (struct pair){mxq_cpu_float(even), mxq_cpu_float(odd), (even & SIGN) >> 16 | (odd & SIGN)};
}

static struct pair pair_bf16(const void *row, size_t i) {
  const uint32_t w = mxq_cpu_read32(row, i);
  return (struct pair){mxq_cpu_float(w << 16), mxq_cpu_float(w & 0xFFFF0000u), w & 0x80008000u};
}

static struct pair pair_f16(const void *row, size_t i) {
  const uint32_t w = mxq_cpu_read32(row, i);
  return (struct pair){mxq_cpu_magnitude_f16(w), mxq_cpu_magnitude_f16(w >> 16), w & 0x80008000u};
}

/* `power` is the power of two at or below the product, at least the smallest normal: the last place
 * of the result is that power shifted by the mantissa's width. Adding the power of two whose own
 * last place is that one rounds there, ties to even, by the addition's own rounding; what the sum
 * has beyond that power, its low bits, counts those last places. Above them the code has the
 * power's exponent, counted from the smallest normal's: it is the sum's, counted from another one,
 * and comes down to its place by a shift. A carry out of the mantissa runs into the exponent as it
 * should. Returns the code without its sign, plus half of the format's `first`; above bit 15,
 * rubbish. */
static inline uint32_t round_product(float product, const struct mxq_cpu_format *format) {
  const uint32_t y = mxq_cpu_bits(product);
  const float magnitude = mxq_cpu_float(y & MXQ_CPU_MAGNITUDE);
  const float a = magnitude < format->max ? magnitude : format->max;
  const float below = mxq_cpu_float(y & MXQ_CPU_INFINITY);
  const float power = below > format->smallest_normal ? below : format->smallest_normal;
  const uint32_t sum = mxq_cpu_bits(a + power * format->anchor);
  return sum + (sum >> format->dropped_bits);
}

typedef struct pair pair_fn(const void *row, size_t i);

/* The codes of a pair as the halves of a word. */
static inline uint32_t round_pair(struct pair x, float even, float odd,
                                  const struct mxq_cpu_format *format) {
  const uint32_t low = round_product(x.even * even, format);
  const uint32_t high = round_product(x.odd * odd, format);
  return (((low & 0xFFFFu) | high << 16) - format->first) | x.signs >> format->sign_shift;
}

/* Inlined into the function of each type. */
static inline void round_pairs(pair_fn *read, const void *row, size_t count,
                               const struct mxq_cpu_multipliers *multipliers,
                               const struct mxq_cpu_format *by, uint32_t *restrict words) {
  const struct mxq_cpu_format format = *by;
  const float *even = multipliers->even, *odd = multipliers->odd;
  for (size_t i = 0; i < count; ++i) words[i] = round_pair(read(row, i), even[i], odd[i], &format);
}

/* Inlined into the function of each type: a chunk at a time, whose length the compiler knows. */
static inline void round_blocks(pair_fn *read, size_t bytes, const void *row, size_t blocks,
                                size_t block, const float *multipliers,
                                const struct mxq_cpu_format *by, uint32_t *restrict words) {
  const struct mxq_cpu_format format = *by;
  const unsigned char *chunk = row;
  for (size_t j = 0; j < blocks; ++j)
    for (size_t k = 0; k < block;
         k += MXQ_CPU_CHUNK, chunk += MXQ_CPU_CHUNK * bytes, words += MXQ_CPU_CHUNK / 2)
      for (size_t i = 0; i < MXQ_CPU_CHUNK / 2; ++i)
        words[i] = round_pair(read(chunk, i), multipliers[j], multipliers[j], &format);
}

void mxq_cpu_round_f32(const void *row, size_t count, const struct mxq_cpu_multipliers *multipliers,
                       const struct mxq_cpu_format *format, uint32_t *words) {
  round_pairs(pair_f32, row, count, multipliers, format, words);
}

void mxq_cpu_round_blocks_f32(const void *row, size_t blocks, size_t block,
                              const float *multipliers, const struct mxq_cpu_format *format,
                              uint32_t *words) {
  round_blocks(pair_f32, 4, row, blocks, block, multipliers, format, words);
}

void mxq_cpu_round_bf16(const void *row, size_t count,
                        const struct mxq_cpu_multipliers *multipliers,
                        const struct mxq_cpu_format *format, uint32_t *words) {
  round_pairs(pair_bf16, row, count, multipliers, format, words);
}

void mxq_cpu_round_blocks_bf16(const void *row, size_t blocks, size_t block,
                               const float *multipliers, const struct mxq_cpu_format *format,
                               uint32_t *words) {
  round_blocks(pair_bf16, 2, row, blocks, block, multipliers, format, words);
}

void mxq_cpu_round_f16(const void *row, size_t count, const struct mxq_cpu_multipliers *multipliers,
                       const struct mxq_cpu_format *format, uint32_t *words) {
  round_pairs(pair_f16, row, count, multipliers, format, words);
}

void mxq_cpu_round_blocks_f16(const void *row, size_t blocks, size_t block,
                              const float *multipliers, const struct mxq_cpu_format *format,
                              uint32_t *words) {
  round_blocks(pair_f16, 2, row, blocks, block, multipliers, format, words);
}
