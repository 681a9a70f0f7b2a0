/* SPDX-License-Identifier: MIT
 *
 * Inputs that hold everything of a kind: every pattern of 16 bits as the maximum of a block, and
 * every tie between two codes with its neighbours.
 */
#ifndef MXQ_TESTS_EXHAUSTIVE_INPUTS_H
#define MXQ_TESTS_EXHAUSTIVE_INPUTS_H

#include <mxq/mxq.h>

enum exhaustive_kind { EXHAUSTIVE_PATTERNS, EXHAUSTIVE_TIES, EXHAUSTIVE_KINDS };
extern const char *const exhaustive_names[EXHAUSTIVE_KINDS];

/* A dense shape of blocks along K, or along N: one matrix whose other axis counts the blocks. */
struct mxq_shape exhaustive_shape(const struct mxq_variant *variant, enum exhaustive_kind kind);

/* Writes the variant's input at that shape. Patterns: block i has the maximum i, in a place that
 * changes, over elements of at most 12 binades less; of f32, i is the upper half and the lower one
 * is all zeros or all ones. Ties: the output type's values and the middles between them, each one
 * unit up and down, in both signs, under maxima that make the scale 2^q for several q. */
void exhaustive_fill(const struct mxq_variant *variant, enum exhaustive_kind kind, void *in);

#endif
