/* SPDX-License-Identifier: MIT
 *
 * All tensors of one run in one piece of memory, each between guards, so that one copy moves them
 * and one comparison finds what was written where nothing should be.
 */
#ifndef MXQ_CHECK_REGION_H
#define MXQ_CHECK_REGION_H

#include "check_compare.h"

enum { CHECK_TENSORS = 6, CHECK_GUARD_BYTES = 256, CHECK_GUARD_BYTE = 0xA5, CHECK_POISON = 0xFF };

struct check_region {
  struct mxq_variant variant;
  struct mxq_shape shape;
  uint64_t sizes[CHECK_TENSORS];   /* in, in_scale, out[0], out[1], scale[0], scale[1] */
  uint64_t offsets[CHECK_TENSORS]; /* multiples of 256 bytes, and `shift` elements */
  uint64_t bytes;                  /* a multiple of 256 */
};

/* Lays the tensors out, `shift` elements behind an address that suits every kernel. */
enum mxq_status check_region_plan(const struct mxq_variant *variant, const struct mxq_shape *shape,
                                  unsigned shift, struct check_region *region);

/* Writes guards, and poison into every tensor: NaN in the gaps of a strided input. Inputs have
 * guards of NaN, so that what reads beyond them shows. */
void check_region_poison(const struct check_region *region, unsigned char *base);
/* The same, and hard inputs (check_fill.h). */
void check_region_fill(const struct check_region *region, uint64_t seed, unsigned char *base);

/* The tensors of a region that begins at `base`, in host or device memory. */
struct mxq_pointers check_region_pointers(const struct check_region *region, void *base);

/* Compares whole regions: outputs, and that nothing else was written. Adds to `differences`. */
void check_region_compare(const struct check_region *region, const unsigned char *expected,
                          const unsigned char *actual, struct check_differences *differences);

#endif
