/* SPDX-License-Identifier: MIT
 *
 * Sums and products of lengths and strides, 64 bits, overflow seen. Offsets of the library stay
 * below 2^63, so that they fit a signed pointer difference too.
 */
#ifndef MXQ_CHECKED_H
#define MXQ_CHECKED_H

#include <stdint.h>

#define MXQ_OFFSET_MAX ((uint64_t)INT64_MAX)

/* 1 and the result if it is at most MXQ_OFFSET_MAX, 0 otherwise. */
static inline int mxq_checked_multiply(uint64_t a, uint64_t b, uint64_t *result) {
  return !__builtin_mul_overflow(a, b, result) && *result <= MXQ_OFFSET_MAX;
}
static inline int mxq_checked_add(uint64_t a, uint64_t b, uint64_t *result) {
  return !__builtin_add_overflow(a, b, result) && *result <= MXQ_OFFSET_MAX;
}

static inline uint64_t mxq_round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

#endif
