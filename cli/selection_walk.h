/* SPDX-License-Identifier: MIT
 *
 * Proof that the list of selectable kernels is whole: planning itself is asked, at many shapes,
 * strides and addresses on both sides of every limit that it has.
 */
#ifndef MXQ_CLI_SELECTION_WALK_H
#define MXQ_CLI_SELECTION_WALK_H

#include <stddef.h>

#include "selectable.h"

/* Counts in `found` how often each of the `count` listed kernels was selected (may be NULL).
 * MXQ_INTERNAL names a kernel that was selected and is not listed. */
enum mxq_status selection_walk(const struct mxq_variant *variant, const struct mxq_arch *arch,
                               const struct mxq_kernel_id *ids, size_t count, size_t *found);

#endif
