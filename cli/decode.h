/* SPDX-License-Identifier: MIT
 *
 * Numbers of every type as floats, exact: what a reader of the output will see.
 */
#ifndef MXQ_CLI_DECODE_H
#define MXQ_CLI_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "axes.h"

/* A table of all 2^bits values of a type of at most 16 bits, for decode_wide and for codes. What
 * lies above the type's maximum is NaN. The caller frees it. */
float *decode_table(const struct mxq_type_facts *type);

/* `count` wide elements at `bytes`, which need not be aligned. `table`: of a 16-bit type. */
void decode_wide(const struct mxq_type_facts *type, const float *table, const unsigned char *bytes,
                 size_t count, float *values);

/* The code at a place of an output: a byte, or four bits of one, the low ones at even places. */
static inline unsigned decode_code_at(unsigned bits, const unsigned char *codes, uint64_t place) {
  if (bits == 8) return codes[place];
  return (unsigned)codes[place / 2] >> place % 2 * 4 & 15u;
}

/* All e8m0 scales, 255 as NaN, for the caller to free. */
float *decode_scales(void);
/* One float32 scale. */
float decode_scale(const unsigned char *scales, uint64_t index);

#endif
