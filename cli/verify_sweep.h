/* SPDX-License-Identifier: MIT
 *
 * What the checks of --exhaustive share: one dense matrix a launch, filled block by block.
 */
#ifndef MXQ_CLI_VERIFY_SWEEP_H
#define MXQ_CLI_VERIFY_SWEEP_H

#include "verify_batch.h"

#define VERIFY_PATTERNS 65536u /* of 16 bits */

/* The matrix of most launches; blocks of the casts, and what their floats are cut into. */
enum { VERIFY_N = 2048, VERIFY_K = 1024, VERIFY_CAST_BLOCK = 32, VERIFY_CAST_PARTS = 64 };

/* The blocks of a matrix, of the first part of a layout. */
struct verify_blocks {
  struct mxq_scale_grid grid;
  uint64_t elements; /* of a block */
  uint64_t count;
};
struct verify_blocks verify_blocks_of(const struct mxq_variant *variant,
                                      const struct mxq_shape *shape);
/* The block of an element, and its number in the block. */
static inline uint64_t verify_block_at(const struct verify_blocks *blocks, uint64_t n, uint64_t k) {
  return n / blocks->grid.block_n * blocks->grid.blocks_k + k / blocks->grid.block_k;
}

static inline uint64_t verify_element_at(const struct verify_blocks *blocks, uint64_t n,
                                         uint64_t k) {
  return n % blocks->grid.block_n * blocks->grid.block_k + k % blocks->grid.block_k;
}

/* Fills a region's input with the bits that a function gives for each element. */
typedef uint32_t (*verify_bits_fn)(void *user, uint64_t block, uint64_t element);
void verify_fill_wide(const struct check_region *region, unsigned char *base,
                      verify_bits_fn bits_of, void *user);

/* The fills of the checks. Seeds count maxima (262,144 of float32, with several lower halves each),
 * scales, and float32 patterns. */
void verify_fill_maxima(const struct check_region *region, uint64_t seed, unsigned char *base);
void verify_fill_codes(const struct check_region *region, uint64_t seed, unsigned char *base);
void verify_fill_casts(const struct check_region *region, uint64_t seed, unsigned char *base);
/* The end of the patterns that may share a block with `first`: those whose multiplier is 1, those
 * of other finite values, those of infinities and NaN, of one sign. */
uint64_t verify_casts_end(uint64_t first, unsigned out);

/* Batches of one launch each, seeds from `first` on in steps, below `end`. */
struct verify_sweep {
  const char *what;
  int64_t n, k;
  uint64_t first, end, step;
  void (*fill)(const struct check_region *region, uint64_t seed, unsigned char *base);
};

/* Runs them, up to the first that differs. */
enum mxq_status verify_sweep_run(struct verify_runner *runner, const struct verify_sweep *sweep,
                                 struct verify_task *task);

#endif
