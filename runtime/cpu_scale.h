/* SPDX-License-Identifier: MIT
 *
 * Reference path, the modes: from a block's maximum to its scale and multiplier.
 */
#ifndef MXQ_CPU_SCALE_H
#define MXQ_CPU_SCALE_H

#include <stddef.h>
#include <stdint.h>

#include "axes.h"

/* For each of `count` blocks with the maximum maxima[i]: scales[i], the bits that are stored (a
 * byte of e8m0, or a float32), and the multiplier of its elements. Returns how many of the maxima
 * are not finite; the multipliers of those blocks mean nothing. */
size_t mxq_cpu_scale(unsigned mode, const struct mxq_type_facts *out, const float *maxima,
                     size_t count, uint32_t *scales, float *multipliers);

#endif
