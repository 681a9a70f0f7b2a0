/* SPDX-License-Identifier: MIT
 *
 * Which schedule of a family a tensor gets: a table of what was measured, and a rule for the rest.
 * Every schedule of a variant gives the same bytes; the choice is of time alone.
 */
#ifndef MXQ_GEN_TUNE_H
#define MXQ_GEN_TUNE_H

#include "kernel_id.h"
#include "schedule.h"

/* What bounds a launch: the latency of one tile; the L2 cache; the memory. */
enum mxq_size_class { MXQ_SIZE_TINY, MXQ_SIZE_CACHED, MXQ_SIZE_LARGE, MXQ_SIZE_CLASSES };
/* "tiny", "cached", "large" */
const char *mxq_size_class_name(unsigned size);

/* What of a device decides the class. */
struct mxq_capacity {
  uint64_t l2_bytes;
  unsigned multiprocessors;
};
/* Of the device that an arch stands for where none is there to be asked. */
struct mxq_capacity mxq_capacity_of(const struct mxq_arch *arch);

/* Of tensors that read and write `bytes` in all, scales included. Tiny: at most MXQ_TINY_BYTES for
 * each multiprocessor. Cached: at most one MXQ_CACHED_PART-th of the L2 cache, so that it is likely
 * to hold what was written just before. */
#define MXQ_TINY_BYTES  4096
#define MXQ_CACHED_PART 2
enum mxq_size_class mxq_size_class_of(uint64_t bytes, const struct mxq_capacity *capacity);

/* One line of the table (tune.def): the schedule of all quantizing or dequantizing variants of
 * these widths and this layout on an arch, where its tile holds their blocks. */
struct mxq_tune_row {
  unsigned arch; /* its number */
  enum mxq_size_class size;
  enum mxq_op op;
  enum mxq_layout layout;
  unsigned in_bits, out_bits;
  uint16_t tile_n, tile_k;
  enum mxq_path path;
};
/* NULL past the end. */
const struct mxq_tune_row *mxq_tune_at(size_t index);

/* The kernel of a family for a variant on an arch and a size class: the table's, if it has a line
 * for them, else the rule's. MXQ_UNSUPPORTED: the arch can run none. The variant is legal. */
enum mxq_status mxq_tune_choose(const struct mxq_variant *variant, enum mxq_family family,
                                const struct mxq_arch *arch, enum mxq_size_class size,
                                struct mxq_kernel_id *id);

/* All that mxq_tune_choose can say of a variant on an arch, for those who ask often: by the
 * family's index (mxq_family_at) and the size class. Where the arch can run none, a kernel of no
 * tile. */
struct mxq_choices {
  struct mxq_kernel_id kernels[MXQ_FAMILIES_PLANNED][MXQ_SIZE_CLASSES];
};
void mxq_tune_choose_all(const struct mxq_variant *variant, const struct mxq_arch *arch,
                         struct mxq_choices *choices);

#endif
