/* SPDX-License-Identifier: MIT
 *
 * Families and the tiles that each has kernels for.
 */
#ifndef MXQ_GEN_SCHEDULE_H
#define MXQ_GEN_SCHEDULE_H

#include <stddef.h>

#include "kernel_id.h"

struct mxq_family_facts {
  enum mxq_family family;
  const char *token;
  const char *template_file;
  unsigned needs_tma;
};

/* NULL for a number that is no family; by index NULL past the end. */
const struct mxq_family_facts *mxq_family_facts(unsigned family);
const struct mxq_family_facts *mxq_family_at(size_t index);

struct mxq_schedule {
  enum mxq_family family;
  unsigned in_bits;
  uint16_t tile_n;
  uint16_t tile_k;
};

/* The index-th schedule of a family for a variant, the default first; NULL past the end. */
const struct mxq_schedule *mxq_schedule_at(const struct mxq_variant *variant,
                                           enum mxq_family family, size_t index);

#endif
