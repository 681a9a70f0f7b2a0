/* SPDX-License-Identifier: MIT
 *
 * How much of a tensor its quantized form keeps.
 */
#ifndef MXQ_CLI_QUALITY_H
#define MXQ_CLI_QUALITY_H

#include <stdint.h>

#include <mxq/mxq.h>

/* Sums over all elements that are finite and whose block is. x: the input, y: what the output
 * decodes to. */
struct quality {
  double signal;           /* sum of x^2 */
  double noise;            /* sum of (x - y)^2 */
  double largest_relative; /* max of |x - y| / |x| where x is not 0 */
  double largest_error;    /* max of |x - y| */
  double largest_input;    /* max of |x| */
  uint64_t elements;
  uint64_t excluded; /* not finite, or in a block that has such an element */
};

/* Compares output `part` with its dense input, on `threads` threads. The same numbers for any
 * number of threads. */
struct quality quality_measure(const struct mxq_variant *variant, const struct mxq_shape *shape,
                               unsigned part, const void *in, const void *codes, const void *scales,
                               unsigned threads);
void quality_add(struct quality *sum, const struct quality *part);

/* 10 log10(signal / noise): infinity without noise, NaN without elements. */
double quality_decibels(const struct quality *quality);

#endif
