/* SPDX-License-Identifier: MIT
 *
 * Section 2 of the contract a second time, slowly: codes by search among all values of the type,
 * scales by comparing with powers of two, in doubles that hold everything exactly. Knows types and
 * modes by their tokens and shares nothing with the library but the variant.
 */
#ifndef MXQ_TESTS_ORACLE_H
#define MXQ_TESTS_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/mxq.h>

struct oracle {
  double (*wide)(uint32_t bits);
  const struct oracle_type *type;
  const struct oracle_mode *mode;
  double magnitudes[256]; /* the values of the type's codes without sign, in order */
  unsigned count;         /* of them, the finite ones */
};

/* The oracle of a variant's input type, output type and mode. 0 for one that it does not know: a
 * test of every variant must fail then. */
int oracle_make(const struct mxq_variant *variant, struct oracle *oracle);

/* The value of a wide element. */
double oracle_wide(const struct oracle *oracle, uint32_t bits);
/* The code nearest to a float32 product. */
unsigned oracle_cast(const struct oracle *oracle, float product);
/* The scale and the codes of one block of `count` elements, given as bits of the input type. */
void oracle_block(const struct oracle *oracle, const uint32_t *in, size_t count, uint32_t *scale,
                  unsigned *codes);

/* Compares every scale, element and byte of padding of the outputs with what section 2 gives for
 * the input, at the places that sections 3 and 4 give. Prints the first differences; returns how
 * many there are. A variant that it does not know counts as a difference. */
uint64_t oracle_compare(const struct mxq_variant *variant, const struct mxq_shape *shape,
                        const struct mxq_pointers *pointers);

/* What a code reads back as under a scale, both as they are stored: the bits of an element of the
 * output type. The variant is one of dequantize. */
uint32_t oracle_decode(const struct mxq_variant *variant, unsigned code, uint32_t scale);

/* Compares every element that dequantize wrote, at the places that the shape's strides give. */
uint64_t oracle_compare_decoded(const struct mxq_variant *variant, const struct mxq_shape *shape,
                                const struct mxq_pointers *pointers);

#endif
