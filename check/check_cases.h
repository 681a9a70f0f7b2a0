/* SPDX-License-Identifier: MIT
 *
 * The shapes that every kernel is run on.
 */
#ifndef MXQ_CHECK_CASES_H
#define MXQ_CHECK_CASES_H

#include <mxq/mxq.h>

#include "kernel_id.h"

enum check_order {
  CHECK_DENSE,
  CHECK_E_INSIDE_N, /* neighbouring rows belong to different matrices */
  CHECK_REPEAT_E,   /* stride 0: inputs only */
  CHECK_REPEAT_N
};

enum check_weight {
  CHECK_USUAL,
  CHECK_LIGHT, /* few tiles, whole ones and parts: also for tools that slow kernels down */
  CHECK_HEAVY  /* one kernel in 16 runs it */
};

struct check_case {
  const char *what;
  enum mxq_family family;
  int64_t e, n, k;
  int64_t gap_n, gap_e; /* between rows and matrices: in elements, for fast kernels in 16 bytes */
  enum check_order order;
  unsigned shift; /* elements by which addresses miss an alignment that suits every kernel */
  enum check_weight weight;
};

/* The index-th case of all kernels; NULL past the end. */
const struct check_case *check_case_at(size_t index);
/* Whether the case is one of the kernel's. */
int check_case_applies(const struct check_case *one, const struct mxq_kernel_id *id);
/* The case's shape for a variant: lengths rounded up to what its codes' packing allows. */
struct mxq_shape check_case_shape(const struct check_case *one, const struct mxq_variant *variant);

#endif
