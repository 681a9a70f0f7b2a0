/* SPDX-License-Identifier: MIT
 *
 * How far the tensors of two checkpoints are from each other.
 */
#ifndef MXQ_CLI_COMPARE_H
#define MXQ_CLI_COMPARE_H

#include "quality.h"
#include "values.h"

enum compare_kind {
  COMPARE_NUMBERS,   /* compared as numbers: see the quality */
  COMPARE_EQUAL,     /* no numbers, and the same bytes */
  COMPARE_DIFFERENT, /* no numbers, and other bytes or another type */
  COMPARE_SHAPES,    /* of other lengths */
  COMPARE_NOT_IN_A,
  COMPARE_NOT_IN_B,
};

/* One tensor of either checkpoint. */
struct comparison {
  const struct values *a, *b; /* NULL where it is missing */
  enum compare_kind kind;
  struct quality quality; /* with a as the original */
};

/* Compares what stands behind one name. */
enum mxq_status compare_one(struct comparison *comparison, struct mxq_context *context);

/* Whether that is a difference which no rounding makes. */
int compare_is_mismatch(const struct comparison *comparison);

/* The table, or JSON, on standard output. */
void compare_print(const char *const paths[2], const struct comparison *list, size_t count);
void compare_print_json(const char *const paths[2], const struct comparison *list, size_t count);

#endif
