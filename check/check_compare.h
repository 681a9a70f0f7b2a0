/* SPDX-License-Identifier: MIT
 *
 * Where two runs of a variant differ, bit for bit.
 */
#ifndef MXQ_CHECK_COMPARE_H
#define MXQ_CHECK_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/mxq.h>

enum check_place {
  CHECK_ELEMENT, /* a code, or an element of the wide tensor */
  CHECK_SCALE,
  CHECK_BESIDE, /* a byte of an output that no element or block has: padding, copies, gaps */
  CHECK_OUTSIDE /* a byte that no output has: an input, or beside a tensor */
};

struct check_difference {
  enum check_place place;
  const char *tensor; /* "out[0]" */
  uint64_t e, n, k;   /* of an element, or of the first element of a scale's block */
  int64_t byte;       /* of the others: from the tensor's begin */
  unsigned bits;
  uint32_t expected, actual;
};

enum { CHECK_SHOWN = 6, CHECK_TEXT_SIZE = 160 };

/* The first differences, and how many there are. Start with {0}. */
struct check_differences {
  uint64_t count;
  struct check_difference shown[CHECK_SHOWN];
};

/* How many differences are in `shown`. */
size_t check_shown(const struct check_differences *differences);
/* "scale[0] at (e, n, k) = (0, 32, 5): expected 0x7F, got 0xFF" */
void check_difference_text(const struct check_difference *difference, char text[CHECK_TEXT_SIZE]);
void check_difference_add(struct check_differences *differences,
                          const struct check_difference *difference);

/* Adds the differences of the outputs. What no element or block has a place in is looked at where
 * elements or blocks are all equal. */
void check_compare(const struct mxq_variant *variant, const struct mxq_shape *shape,
                   const struct mxq_pointers *expected, const struct mxq_pointers *actual,
                   struct check_differences *differences);

/* The same of the scales of one part alone. */
void check_compare_scales(const struct mxq_variant *variant, const struct mxq_shape *shape,
                          unsigned part, const void *expected, const void *actual,
                          struct check_differences *differences);

#endif
