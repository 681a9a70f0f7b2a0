/* SPDX-License-Identifier: MIT
 *
 * Float32 values as bit patterns and back.
 */
#ifndef MXQ_CPU_BITS_H
#define MXQ_CPU_BITS_H

#include <float.h>
#include <stdint.h>
#include <string.h>

/* A product kept in more than float32 would be rounded twice (contract, section 2). */
_Static_assert(FLT_EVAL_METHOD == 0, "float arithmetic must round to float");

#define MXQ_CPU_INFINITY 0x7F800000u /* bits of a magnitude: finite below, NaN above */

static inline float mxq_cpu_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint32_t mxq_cpu_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

#endif
