/* SPDX-License-Identifier: MIT
 *
 * Kernels to compile, and for which archs.
 */
#ifndef MXQ_TESTS_KERNEL_CASES_H
#define MXQ_TESTS_KERNEL_CASES_H

#include <stddef.h>

#include "kernel_id.h"

struct kernel_case {
  struct mxq_kernel_id id;
  struct mxq_arch arch; /* a copy: use_narrow may differ from that of the table */
  int quickly;          /* only whether it compiles, without the optimizer, to PTX */
  char name[MXQ_KERNEL_NAME_SIZE + 16];
  char fault[512]; /* what compile_cases found; empty for a good kernel */
};

struct kernel_cases {
  struct kernel_case *list;
  size_t count, capacity;
};

void kernel_cases_add(struct kernel_cases *cases, const struct mxq_kernel_id *id,
                      const struct mxq_arch *arch);

/* Which of the kernels that plans select on an arch: of the default ones, each variant's for large
 * tensors, those of one variant in one_in[0], of the others those of one in one_in[1] (0: none),
 * and the `part`-th of `parts` of these; those of one variant in `whole` as users compile them, the
 * others quickly. As many turns, one after the other, as the largest of the three take each
 * kernel once. */
struct kernel_share {
  unsigned one_in[2], turn, part, parts, whole;
};
void kernel_cases_add_share(struct kernel_cases *cases, const char *arch,
                            const struct kernel_share *share);

/* A set of all kernels on all archs, or of those that `keep` takes (NULL: all), with conversions of
 * narrow types by the hardware and without where it has them, in which every pair of two properties
 * that a kernel can have occurs: types, block, mode, layout, family and tile, arch and setting. */
void kernel_cases_add_pairs(struct kernel_cases *cases, unsigned seed,
                            int (*keep)(const struct mxq_kernel_id *id));

/* Compiles all of them on some threads (0: as many as there are processors) and fills in what is
 * wrong. */
struct mxq_nvrtc;
void compile_cases(struct kernel_cases *cases, const struct mxq_nvrtc *nvrtc, unsigned threads);

#endif
