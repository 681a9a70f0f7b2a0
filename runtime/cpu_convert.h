/* SPDX-License-Identifier: MIT
 *
 * Reference path, the types: rows of wide elements to float32, float32 to codes.
 */
#ifndef MXQ_CPU_CONVERT_H
#define MXQ_CPU_CONVERT_H

#include <stddef.h>
#include <stdint.h>

#include "axes.h"

/* How rows of one wide type are read. Magnitudes keep the type's own bits: their order as integers
 * is finite < infinity < NaN, so a maximum of them loses nothing. */
struct mxq_cpu_reader {
  size_t element_bytes;
  /* magnitudes[i] = max(magnitudes[i], |row[i]|) */
  void (*fold)(const void *row, size_t count, void *magnitudes);
  /* magnitudes[j] = max of magnitudes[j * block ...], the last block being what is left */
  void (*reduce)(void *magnitudes, size_t count, size_t block);
  /* x[i] = row[i], exact; NaN stays NaN */
  void (*widen)(const void *row, size_t count, float *x);
};

const struct mxq_cpu_reader *mxq_cpu_reader(unsigned type);

/* A code's layout in the terms that rounding works with. */
struct mxq_cpu_format {
  unsigned dropped_bits;    /* mantissa bits of float32 that the type lacks */
  unsigned sign_shift;      /* from float32's sign to the code's */
  uint32_t smallest_normal; /* bits of it, as float32 */
  float max;
};

void mxq_cpu_format_of(const struct mxq_type_facts *type, struct mxq_cpu_format *format);

/* codes[i]: the float32 product x[i] * multiplier[i], rounded to nearest, ties to even,
 * saturating, subnormals and -0 kept. What a NaN product gives is not defined. */
void mxq_cpu_round(const struct mxq_cpu_format *format, const float *x, const float *multiplier,
                   size_t count, uint8_t *codes);

#endif
