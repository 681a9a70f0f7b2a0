/* SPDX-License-Identifier: MIT
 *
 * Reference path, elements of the wide types as they lie in a caller's tensor.
 */
#ifndef MXQ_CPU_READ_H
#define MXQ_CPU_READ_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cpu_bits.h"

#define MXQ_CPU_MAGNITUDE 0x7FFFFFFFu /* of a float32 */

/* The caller's tensors have whatever type the caller gave them: read them as bytes. */
static inline uint16_t mxq_cpu_read16(const void *row, size_t i) {
  uint16_t bits;
  memcpy(&bits, (const unsigned char *)row + i * sizeof bits, sizeof bits);
  return bits;
}

static inline uint32_t mxq_cpu_read32(const void *row, size_t i) {
  uint32_t bits;
  memcpy(&bits, (const unsigned char *)row + i * sizeof bits, sizeof bits);
  return bits;
}

/* The magnitude of a finite f16. Moves the exponent from f16's bias, 15, to float32's, 127. A
 * subnormal has the exponent field 0 but the scale of field 1, without the implicit one: the
 * difference of two normals makes it exact, with no subnormal float32 on the way. Of a normal that
 * difference is not the smaller one: 2 * x - 2^-14. */
static inline float mxq_cpu_magnitude_f16(uint32_t h) {
  const uint32_t a = (h & 0x7FFFu) << 13;
  const float normal = mxq_cpu_float(a + (112u << 23));
  const float subnormal = mxq_cpu_float(a + (113u << 23)) - mxq_cpu_float(113u << 23);
  return normal < subnormal ? normal : subnormal;
}

#endif
