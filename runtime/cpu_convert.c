/* SPDX-License-Identifier: MIT */
#include "cpu_convert.h"

#include <string.h>

#include "cpu_bits.h"

#define MAGNITUDE 0x7FFFFFFFu
#define SIGN      0x80000000u

enum { CHUNK = 16, MOST_ELEMENTS = 128 }; /* a part of every block, and the longest one */
#define MXQ_BLOCK(NAME, token, number)                               \
  _Static_assert((number) % CHUNK == 0 && (number) <= MOST_ELEMENTS, \
                 "a block must be made of chunks, and there must be room for it");
#include <mxq/axes.def>

/* The elements 2 * i and 2 * i + 1 of a row. */
struct pair {
  float even, odd; /* with any sign */
  uint32_t signs;  /* bits 15 and 31 */
};

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

/* Magnitudes of 16 bits are compared as signed integers: the sign is gone, and baseline x86-64 has
 * a maximum of signed 16-bit integers only. */
static inline int16_t magnitude16(const void *row, size_t i) {
  return (int16_t)(load16(row, i) & 0x7FFF);
}
static inline int16_t larger16(int16_t a, int16_t b) { return a > b ? a : b; }

static inline int32_t magnitude32(const void *row, size_t i) {
  return (int32_t)(load32(row, i) & MAGNITUDE);
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
    const float x = mxq_cpu_float(load32(row, i) & MAGNITUDE);
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

static struct pair pair_f32(const void *row, size_t i) {
  const uint32_t even = load32(row, 2 * i), odd = load32(row, 2 * i + 1);
  return (struct pair){mxq_cpu_float(even), mxq_cpu_float(odd), (even & SIGN) >> 16 | (odd & SIGN)};
}

static void widen_bf16(const void *row, size_t count, float *restrict x) {
  for (size_t i = 0; i < count; ++i) x[i] = mxq_cpu_float((uint32_t)load16(row, i) << 16);
}

static struct pair pair_bf16(const void *row, size_t i) {
  const uint32_t w = load32(row, i);
  return (struct pair){mxq_cpu_float(w << 16), mxq_cpu_float(w & 0xFFFF0000u), w & 0x80008000u};
}

/* The magnitude of a finite f16. Moves the exponent from f16's bias, 15, to float32's, 127. A
 * subnormal has the exponent field 0 but the scale of field 1, without the implicit one: the
 * difference of two normals makes it exact, with no subnormal float32 on the way. Of a normal that
 * difference is not the smaller one: 2 * x - 2^-14. */
static inline float magnitude_f16(uint32_t h) {
  const uint32_t a = (h & 0x7FFFu) << 13;
  const float normal = mxq_cpu_float(a + (112u << 23));
  const float subnormal = mxq_cpu_float(a + (113u << 23)) - mxq_cpu_float(113u << 23);
  return normal < subnormal ? normal : subnormal;
}

static void widen_f16(const void *row, size_t count, float *restrict x) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t h = load16(row, i);
    const uint32_t special = (h & 0x7FFFu) >= 0x7C00u ? MXQ_CPU_INFINITY : 0;
    x[i] = mxq_cpu_float(mxq_cpu_bits(magnitude_f16(h)) | special | (h & 0x8000u) << 16);
  }
}

static struct pair pair_f16(const void *row, size_t i) {
  const uint32_t w = load32(row, i);
  return (struct pair){magnitude_f16(w), magnitude_f16(w >> 16), w & 0x80008000u};
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
  const float magnitude = mxq_cpu_float(y & MAGNITUDE);
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

static void narrow(const void *halves, size_t count, uint8_t *restrict codes) {
  for (size_t i = 0; i < count; ++i) codes[i] = (uint8_t)load16(halves, i);
}

/* Inlined into the function of each type. */
static inline void round_pairs(pair_fn *read, const void *row, size_t count,
                               const struct mxq_cpu_multipliers *multipliers,
                               const struct mxq_cpu_format *by, uint32_t *restrict words) {
  const struct mxq_cpu_format format = *by;
  const float *even = multipliers->even, *odd = multipliers->odd;
  for (size_t i = 0; i < count; ++i) words[i] = round_pair(read(row, i), even[i], odd[i], &format);
}

/* Inlined into the function of each type: CHUNK elements at a time, a number that the compiler
 * knows. */
static inline void round_blocks(pair_fn *read, size_t bytes, const void *row, size_t blocks,
                                size_t block, const float *multipliers,
                                const struct mxq_cpu_format *by, uint32_t *restrict words) {
  const struct mxq_cpu_format format = *by;
  const unsigned char *chunk = row;
  for (size_t j = 0; j < blocks; ++j)
    for (size_t k = 0; k < block; k += CHUNK, chunk += CHUNK * bytes, words += CHUNK / 2)
      for (size_t i = 0; i < CHUNK / 2; ++i)
        words[i] = round_pair(read(chunk, i), multipliers[j], multipliers[j], &format);
}

static void round_f32(const void *row, size_t count, const struct mxq_cpu_multipliers *multipliers,
                      const struct mxq_cpu_format *format, uint32_t *words) {
  round_pairs(pair_f32, row, count, multipliers, format, words);
}

static void round_blocks_f32(const void *row, size_t blocks, size_t block, const float *multipliers,
                             const struct mxq_cpu_format *format, uint32_t *words) {
  round_blocks(pair_f32, 4, row, blocks, block, multipliers, format, words);
}

static void round_bf16(const void *row, size_t count, const struct mxq_cpu_multipliers *multipliers,
                       const struct mxq_cpu_format *format, uint32_t *words) {
  round_pairs(pair_bf16, row, count, multipliers, format, words);
}

static void round_blocks_bf16(const void *row, size_t blocks, size_t block,
                              const float *multipliers, const struct mxq_cpu_format *format,
                              uint32_t *words) {
  round_blocks(pair_bf16, 2, row, blocks, block, multipliers, format, words);
}

static void round_f16(const void *row, size_t count, const struct mxq_cpu_multipliers *multipliers,
                      const struct mxq_cpu_format *format, uint32_t *words) {
  round_pairs(pair_f16, row, count, multipliers, format, words);
}

static void round_blocks_f16(const void *row, size_t blocks, size_t block, const float *multipliers,
                             const struct mxq_cpu_format *format, uint32_t *words) {
  round_blocks(pair_f16, 2, row, blocks, block, multipliers, format, words);
}

static const struct mxq_cpu_reader readers[] = {
    [MXQ_TYPE_F32] = {4, fold32, reduce32, widen_f32, round_f32, round_blocks_f32},
    [MXQ_TYPE_BF16] = {2, fold16, reduce16, widen_bf16, round_bf16, round_blocks_bf16},
    [MXQ_TYPE_F16] = {2, fold16, reduce16, widen_f16, round_f16, round_blocks_f16},
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
  const size_t blocks = count / block, whole = blocks * block, bytes = reader->element_bytes;
  reader->round_blocks(row, blocks, block, multipliers, format, words);
  if (whole < count) {
    unsigned char last[MOST_ELEMENTS * sizeof(float)] = {0}; /* and nothing after it */
    memcpy(last, (const unsigned char *)row + whole * bytes, (count - whole) * bytes);
    reader->round_blocks(last, 1, block, multipliers + blocks, format, words + whole / 2);
  }
  narrow(words, count, codes);
}
