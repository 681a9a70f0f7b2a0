/* SPDX-License-Identifier: MIT
 *
 * Inputs that are hard to round.
 */
#ifndef MXQ_CHECK_FILL_H
#define MXQ_CHECK_FILL_H

#include <stdint.h>

#include <mxq/mxq.h>

uint64_t check_random(uint64_t *state);

/* Writes the input of a quantize variant at a shape: every block with its own scale, and among them
 * zeros of both signs, subnormals, NaN, infinities, powers of two, ties and their neighbours. The
 * blocks are those of the layout's first part, with an odd seed those of the second if there is
 * one. Gaps between rows stay as they are. */
void check_fill_values(const struct mxq_variant *variant, const struct mxq_shape *shape,
                       uint64_t seed, void *in);

/* Writes the inputs of a dequantize variant: codes of every kind, and scales near 1 for most
 * blocks, of every kind for the others. Padding and copies of a scale beside the first hold
 * anything. */
void check_fill_codes(const struct mxq_variant *variant, uint64_t code_bytes, uint64_t scale_bytes,
                      uint64_t seed, void *codes, void *scales);

#endif
