/* SPDX-License-Identifier: MIT
 *
 * The rows of axes.def as C tables.
 */
#ifndef MXQ_GEN_AXES_H
#define MXQ_GEN_AXES_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/variant.h>

struct mxq_type_facts {
  const char *token;
  unsigned number;
  unsigned bits;
  unsigned wide;
  unsigned mantissa_bits;
  int emax;
  double max;
  unsigned nan_code;
  const char *c_type;
  const char *dtype;
};

struct mxq_mode_facts {
  const char *token;
  unsigned number;
  unsigned scale_bits;
  unsigned op;
};

/* The facts of a value; NULL for a number that is not in axes.def. */
const struct mxq_type_facts *mxq_type_facts(unsigned type);
const struct mxq_mode_facts *mxq_mode_facts(unsigned mode);

/* ceil(a / b), b > 0. */
static inline uint64_t mxq_ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

#endif
