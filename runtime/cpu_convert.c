/* SPDX-License-Identifier: MIT */
#include "cpu_convert.h"

#include <string.h>

#include "cpu_bits.h"
#include "cpu_read.h"
#include "cpu_round.h"

/* Magnitudes of 16 bits are compared as signed integers: the sign is gone, and baseline x86-64 has
 * a maximum of signed 16-bit integers only. */
static inline int16_t magnitude16(const void *row, size_t i) {
  return (int16_t)(mxq_cpu_read16(row, i) & 0x7FFF);
}
static inline int16_t larger16(int16_t a, int16_t b) { return a > b ? a : b; }

static inline int32_t magnitude32(const void *row, size_t i) {
  return (int32_t)(mxq_cpu_read32(row, i) & MXQ_CPU_MAGNITUDE);
}
static inline int32_t larger32(int32_t a, int32_t b) { return a > b ? a : b; }

static void fold16(const void *row, size_t count, void *magnitudes) {
  int16_t *restrict m = magnitudes;
  for (size_t i = 0; i < count; ++i) m[i] = larger16(magnitude16(row, i), m[i]);
}

/* As floats, for which a NaN must not be one: it becomes infinity. */
static void fold32(const void *row, size_t count, void *magnitudes) {
  const float infinity = mxq_cpu_float(MXQ_CPU_INFINITY);
  float *restrict m = magnitudes;
  for (size_t i = 0; i < count; ++i) {
    const float x = mxq_cpu_float(mxq_cpu_read32(row, i) & MXQ_CPU_MAGNITUDE);
    const float a = x < infinity ? x : infinity;
    m[i] = a > m[i] ? a : m[i];
  }
}

/* Inlined for each size of a block: a loop over a number of elements that the compiler knows needs
 * none for what is left. */
static inline void reduce16_by(size_t block, const void *row, size_t count, int16_t *magnitudes) {
  size_t first = 0;
  for (; count - first >= block; first += block) {
    int16_t largest = 0;
    for (size_t i = 0; i < block; ++i) largest = larger16(magnitude16(row, first + i), largest);
    *magnitudes++ = largest;
  }
  if (first == count) return;
  int16_t largest = 0;
  for (; first < count; ++first) largest = larger16(magnitude16(row, first), largest);
  *magnitudes = largest;
}

static void reduce16(const void *row, size_t count, size_t block, void *magnitudes) {
  switch (block) {
#define MXQ_BLOCK(NAME, token, number)           \
  case number:                                   \
    reduce16_by(number, row, count, magnitudes); \
    break;
#include <mxq/axes.def>
  }
}

/* Only maxima of integers are vectorized along a row. */
static inline void reduce32_by(size_t block, const void *row, size_t count, int32_t *magnitudes) {
  size_t first = 0;
  for (; count - first >= block; first += block) {
    int32_t largest = 0;
    for (size_t i = 0; i < block; ++i) largest = larger32(magnitude32(row, first + i), largest);
    *magnitudes++ = largest;
  }
  if (first == count) return;
  int32_t largest = 0;
  for (; first < count; ++first) largest = larger32(magnitude32(row, first), largest);
  *magnitudes = largest;
}

static void reduce32(const void *row, size_t count, size_t block, void *magnitudes) {
  switch (block) {
#define MXQ_BLOCK(NAME, token, number)           \
  case number:                                   \
    reduce32_by(number, row, count, magnitudes); \
    break;
#include <mxq/axes.def>
  }
}

static void widen_f32(const void *row, size_t count, float *restrict x) {
  memcpy(x, row, count * sizeof *x);
}

static void widen_bf16(const void *row, size_t count, float *restrict x) {
  for (size_t i = 0; i < count; ++i) x[i] = mxq_cpu_float((uint32_t)mxq_cpu_read16(row, i) << 16);
}

static void widen_f16(const void *row, size_t count, float *restrict x) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t h = mxq_cpu_read16(row, i);
    const uint32_t special = (h & 0x7FFFu) >= 0x7C00u ? MXQ_CPU_INFINITY : 0;
    x[i] = mxq_cpu_float(mxq_cpu_bits(mxq_cpu_magnitude_f16(h)) | special | (h & 0x8000u) << 16);
  }
}

static const struct mxq_cpu_reader readers[] = {
    [MXQ_TYPE_F32] = {4, fold32, reduce32, widen_f32, mxq_cpu_round_f32, mxq_cpu_round_blocks_f32},
    [MXQ_TYPE_BF16] = {2, fold16, reduce16, widen_bf16, mxq_cpu_round_bf16,
                       mxq_cpu_round_blocks_bf16},
    [MXQ_TYPE_F16] = {2, fold16, reduce16, widen_f16, mxq_cpu_round_f16, mxq_cpu_round_blocks_f16},
};

const struct mxq_cpu_reader *mxq_cpu_reader(unsigned type) { return &readers[type]; }

void mxq_cpu_format_of(const struct mxq_type_facts *type, struct mxq_cpu_format *format) {
  const uint32_t bias = (1u << (type->exponent_bits - 1)) - 1;
  const unsigned dropped = 23 - type->mantissa_bits;
  const uint32_t smallest = 127 + 1 - bias; /* exponent field of the smallest normal */
  const uint32_t first = (smallest + dropped) << type->mantissa_bits;
  *format = (struct mxq_cpu_format){
      .dropped_bits = dropped,
      .sign_shift = 15 - type->exponent_bits - type->mantissa_bits,
      .first = first | first << 16,
      .smallest_normal = mxq_cpu_float(smallest << 23),
      .anchor = (float)(1u << dropped),
      .max = (float)type->max,
  };
}

static void narrow(const void *halves, size_t count, uint8_t *restrict codes) {
  for (size_t i = 0; i < count; ++i) codes[i] = (uint8_t)mxq_cpu_read16(halves, i);
}

void mxq_cpu_convert(const struct mxq_cpu_reader *reader, const struct mxq_cpu_format *format,
                     const void *row, const struct mxq_cpu_multipliers *multipliers, size_t count,
                     uint32_t *words, uint8_t *codes) {
  const size_t pairs = count / 2, bytes = reader->element_bytes;
  reader->round(row, pairs, multipliers, format, words);
  if (count % 2) {
    unsigned char last[2 * sizeof(float)] = {0}; /* and nothing after it */
    const struct mxq_cpu_multipliers at = {multipliers->even + pairs, multipliers->odd + pairs};
    memcpy(last, (const unsigned char *)row + 2 * pairs * bytes, bytes);
    reader->round(last, 1, &at, format, words + pairs);
  }
  narrow(words, count, codes);
}

void mxq_cpu_convert_blocks(const struct mxq_cpu_reader *reader,
                            const struct mxq_cpu_format *format, const void *row, size_t block,
                            const float *multipliers, size_t count, uint32_t *words,
                            uint8_t *codes) {
  reader->round_blocks(row, count / block, block, multipliers, format, words);
  narrow(words, count, codes);
}
