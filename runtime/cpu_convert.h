/* SPDX-License-Identifier: MIT
 *
 * Reference path, the types: rows of wide elements to their maxima, rows times multipliers to
 * codes.
 *
 * All loops are over whole rows and of the forms that compilers vectorize for baseline x86-64:
 * minima and maxima of floats and of 16-bit integers, no narrowing from 32 to 16 bits. For the
 * last, two neighbours along a row, a pair, share a 32-bit word from the reading on.
 */
#ifndef MXQ_CPU_CONVERT_H
#define MXQ_CPU_CONVERT_H

#include <stddef.h>
#include <stdint.h>

#include "axes.h"

/* A code's layout in the terms that rounding works with. */
struct mxq_cpu_format {
  unsigned dropped_bits; /* mantissa bits of float32 that the type lacks */
  unsigned sign_shift;   /* from bit 15 to the code's sign */
  uint16_t first;        /* what stands for the code 0 in mxq_cpu_pairs */
  float smallest_normal;
  float anchor; /* two to the power of dropped_bits */
  float max;
};

void mxq_cpu_format_of(const struct mxq_type_facts *type, struct mxq_cpu_format *format);

/* Multipliers of a row's elements: even[i] of element 2 * i, odd[i] of the one after it. */
struct mxq_cpu_multipliers {
  const float *even, *odd;
};

/* How rows of one wide type are read. Magnitudes have the type's width, and as integers the order
 * of their values, with those that are not finite at the end. */
struct mxq_cpu_reader {
  size_t element_bytes;
  /* magnitudes[i] = max(magnitudes[i], |row[i]|) */
  void (*fold)(const void *row, size_t count, void *magnitudes);
  /* magnitudes[j] = max of |row[j * block ...]|, the last block being what is left; may be the row
   */
  void (*reduce)(const void *row, size_t count, size_t block, void *magnitudes);
  /* x[i] = row[i], exact; what is not finite stays so */
  void (*widen)(const void *row, size_t count, float *x);
  /* words[i], of elements 2 * i (the low half) and 2 * i + 1 of a row of 2 * `count`: what
   * mxq_cpu_codes makes codes of. */
  void (*round)(const void *row, size_t count, const struct mxq_cpu_multipliers *multipliers,
                const struct mxq_cpu_format *format, uint32_t *words);
};

const struct mxq_cpu_reader *mxq_cpu_reader(unsigned type);

/* codes[i]: the float32 product of row[i] and its multiplier, rounded to nearest, ties to even,
 * saturating, subnormals and -0 kept. The product must be below twice the power of two at or below
 * the type's maximum; what others and a NaN give is not defined. `words`: room for (count + 1) / 2.
 */
void mxq_cpu_convert(const struct mxq_cpu_reader *reader, const struct mxq_cpu_format *format,
                     const void *row, const struct mxq_cpu_multipliers *multipliers, size_t count,
                     uint32_t *words, uint8_t *codes);

#endif
