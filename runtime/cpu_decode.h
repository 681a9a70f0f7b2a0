/* SPDX-License-Identifier: MIT
 *
 * Reference path, the types read back: codes and scales to float32, float32 to wide elements.
 */
#ifndef MXQ_CPU_DECODE_H
#define MXQ_CPU_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "axes.h"
#include "cpu_pairs.h"

/* A code's layout in the terms that decoding works with; bits above the type's own are ignored. */
struct mxq_cpu_coding {
  uint32_t magnitude, sign; /* bits of a code */
  unsigned magnitude_shift; /* from the code's mantissa to float32's */
  unsigned sign_shift;
  uint32_t rebias; /* from its exponent to float32's, in place */
  float max;
  /* 2^16 and 2^-14: of constants in the code compilers make branches. */
  float f16_infinite, f16_smallest_normal;
};

void mxq_cpu_coding_of(const struct mxq_type_facts *type, struct mxq_cpu_coding *coding);

/* values[i]: a scale from the bits that are stored. */
void mxq_cpu_decode_scales(unsigned scale_bits, const uint32_t *scales, size_t count,
                           float *values);

/* How rows of one wide type are written. */
struct mxq_cpu_writer {
  size_t element_bytes;
  /* row[i], `count` pairs of them: the float32 product of what codes[i] means and its multiplier,
   * rounded to nearest, ties to even; what is too large becomes infinite; every NaN becomes the one
   * of contract, section 2. */
  void (*decode)(const struct mxq_cpu_coding *coding, const uint8_t *codes,
                 const struct mxq_cpu_multipliers *multipliers, size_t count, void *row);
};

const struct mxq_cpu_writer *mxq_cpu_writer(unsigned type);

/* The same for `count` elements. */
void mxq_cpu_decode(const struct mxq_cpu_writer *writer, const struct mxq_cpu_coding *coding,
                    const uint8_t *codes, const struct mxq_cpu_multipliers *multipliers,
                    size_t count, void *row);

#endif
