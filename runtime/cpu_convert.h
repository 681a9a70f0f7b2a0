/* SPDX-License-Identifier: MIT
 *
 * Reference path, the types: rows of wide elements to their maxima, rows times multipliers to
 * codes.
 *
 * All loops are over whole rows and of forms that compilers vectorize for baseline x86-64: minima
 * and maxima of floats and of 16-bit integers, and pairs (cpu_pairs.h). Limits come from a struct:
 * where they are constants, compilers sink arithmetic into the branches of a minimum.
 */
#ifndef MXQ_CPU_CONVERT_H
#define MXQ_CPU_CONVERT_H

#include <stddef.h>
#include <stdint.h>

#include "axes.h"
#include "cpu_pairs.h"

/* A code's layout in the terms that rounding works with. */
struct mxq_cpu_format {
  unsigned dropped_bits; /* mantissa bits of float32 that the type lacks */
  unsigned sign_shift;   /* from bit 15 to the code's sign */
  uint32_t first;        /* what stands for the code 0 before it is taken off, in both halves */
  float smallest_normal;
  float anchor; /* two to the power of dropped_bits */
  float max;
};

void mxq_cpu_format_of(const struct mxq_type_facts *type, struct mxq_cpu_format *format);

enum { MXQ_CPU_CHUNK = 16 }; /* blocks that are rounded as such are a multiple of it */

/* How rows of one wide type are read. Magnitudes have the type's width, and as integers the order
 * of their values, with those that are not finite at the end. */
struct mxq_cpu_reader {
  size_t element_bytes;
  /* magnitudes[i] = max(magnitudes[i], |row[i]|) */
  void (*fold)(const void *row, size_t count, void *magnitudes);
  /* magnitudes[j] = max of |row[j * block ...]|, the last block being what is left. In place too.
   */
  void (*reduce)(const void *row, size_t count, size_t block, void *magnitudes);
  /* x[i] = row[i], exact; what is not finite stays so */
  void (*widen)(const void *row, size_t count, float *x);
  /* words[i]: the codes of the i-th of `count` pairs as 16-bit numbers. */
  void (*round)(const void *row, size_t count, const struct mxq_cpu_multipliers *multipliers,
                const struct mxq_cpu_format *format, uint32_t *words);
  /* The same of `blocks` whole blocks, each with its multiplier: a multiple of MXQ_CPU_CHUNK. */
  void (*round_blocks)(const void *row, size_t blocks, size_t block, const float *multipliers,
                       const struct mxq_cpu_format *format, uint32_t *words);
};

const struct mxq_cpu_reader *mxq_cpu_reader(unsigned type);

/* codes[i]: the float32 product of row[i] and its multiplier, rounded to nearest, ties to even,
 * saturating, subnormals and -0 kept. The product must be below twice the power of two at or below
 * the type's maximum, as it is of the multiplier of a finite block; what another one and a NaN
 * give is not defined. `words`: room for (count + 1) / 2. */
void mxq_cpu_convert(const struct mxq_cpu_reader *reader, const struct mxq_cpu_format *format,
                     const void *row, const struct mxq_cpu_multipliers *multipliers, size_t count,
                     uint32_t *words, uint8_t *codes);

/* The same of a row of whole blocks of `block` elements, a multiple of MXQ_CPU_CHUNK, which have a
 * multiplier each. */
void mxq_cpu_convert_blocks(const struct mxq_cpu_reader *reader,
                            const struct mxq_cpu_format *format, const void *row, size_t block,
                            const float *multipliers, size_t count, uint32_t *words,
                            uint8_t *codes);

#endif
