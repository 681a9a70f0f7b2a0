/* SPDX-License-Identifier: MIT
 *
 * Sections 3 and 4 of the contract a second time: places of codes as the contract writes them, and
 * scales the other way round, from each place of the stored scales to the block whose scale stands
 * there. Knows layouts by their tokens.
 */
#ifndef MXQ_TESTS_ORACLE_LAYOUT_H
#define MXQ_TESTS_ORACLE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/mxq.h>

/* One part of a variant's layout at a shape. */
struct oracle_layout {
  uint64_t E, N, K;
  uint64_t block_n, block_k;   /* 1 on an axis that blocks do not lie along */
  uint64_t blocks_n, blocks_k; /* of a matrix */
  uint64_t R, C;               /* rows and columns of scales, section 4 */
  int column_major;
  int rows_of_k; /* R counts along K */
  unsigned scale_bits;
  const char *scales; /* the token */
};

/* 0 if the variant's layout has no such part; 1, or -1 for a layout that is not known. */
int oracle_layout_make(const struct mxq_variant *variant, const struct mxq_shape *shape,
                       unsigned part, struct oracle_layout *layout);

/* The place of a code. */
uint64_t oracle_code_place(const struct oracle_layout *layout, uint64_t e, uint64_t n, uint64_t k);

/* How many scales are stored for all matrices, padding included. */
uint64_t oracle_scale_count(const struct oracle_layout *layout);

/* What stands at a place among them. */
struct oracle_source {
  int padding;
  int first; /* not a copy: the row is the first of its block, or has no copies */
  uint64_t e, block_n, block_k; /* the block */
};
struct oracle_source oracle_scale_source(const struct oracle_layout *layout, uint64_t place);

#endif
