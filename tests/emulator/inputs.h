/* SPDX-License-Identifier: MIT
 *
 * Inputs that tell a scale rule from its neighbours.
 */
#ifndef EMU_INPUTS_H
#define EMU_INPUTS_H

#include <mxq/mxq.h>

/* Over what support_fill wrote: in every second block along the first part's block axes the largest
 * magnitude becomes one that a rule looks at (a power of two, the type's maximum, a tie, and the
 * floats beside them), with one exponent after the other, subnormal and huge ones among them. */
void emu_inputs_mark_edges(const struct mxq_variant *variant, const struct mxq_shape *shape,
                           uint64_t seed, void *in);

#endif
