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
  unsigned exponent_bits;
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
  unsigned power_of_two;
  unsigned op;
};

/* The facts of a value; NULL for a number that is not in axes.def. */
const struct mxq_type_facts *mxq_type_facts(unsigned type);
const struct mxq_mode_facts *mxq_mode_facts(unsigned mode);

/* The parts of a name, in its order. */
enum mxq_axis {
  MXQ_AXIS_OP,
  MXQ_AXIS_IN,
  MXQ_AXIS_OUT,
  MXQ_AXIS_BLOCK,
  MXQ_AXIS_MODE,
  MXQ_AXIS_LAYOUT,
  MXQ_AXIS_SCALES,
  MXQ_AXIS_COUNT
};

struct mxq_axis_value {
  const char *token;
  unsigned number; /* what struct mxq_variant stores */
};

/* What a message calls an axis, such as "output type". */
const char *mxq_axis_name(enum mxq_axis axis);

/* The index-th value of an axis, in the order of axes.def, among those that names of `op` may
 * use (0: of any op); NULL past the end. */
const struct mxq_axis_value *mxq_axis_at(enum mxq_axis axis, unsigned op, size_t index);

/* A variant's field, by axis. */
unsigned mxq_axis_get(const struct mxq_variant *variant, enum mxq_axis axis);
void mxq_axis_set(struct mxq_variant *variant, enum mxq_axis axis, unsigned number);

/* ceil(a / b), b > 0. */
static inline uint64_t mxq_ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

#endif
