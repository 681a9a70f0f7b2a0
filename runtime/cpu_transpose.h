/* SPDX-License-Identifier: MIT */
#ifndef MXQ_CPU_TRANSPOSE_H
#define MXQ_CPU_TRANSPOSE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "transposing words takes the first byte as the lowest");

/* One step of transposing 8 x 8 bytes, a word a row: exchanges the upper right and lower left
 * quarters of each square of 2 * `distance` rows; `low` has the left columns of each. */
static inline void mxq_cpu_exchange(uint64_t w[8], unsigned distance, uint64_t low) {
  for (unsigned i = 0; i < 8; ++i) {
    if (i & distance) continue;
    const uint64_t a = w[i], b = w[i + distance];
    w[i] = (a & low) | (b & low) << 8 * distance;
    w[i + distance] = (a >> 8 * distance & low) | (b & ~low);
  }
}

/* to[j * to_pitch + i] = from[i * from_pitch + j] */
static inline void mxq_cpu_transpose8(const uint8_t *from, size_t from_pitch, uint8_t *to,
                                      size_t to_pitch) {
  uint64_t w[8];
  for (size_t i = 0; i < 8; ++i) memcpy(&w[i], from + i * from_pitch, 8);
  mxq_cpu_exchange(w, 4, UINT64_C(0x00000000FFFFFFFF));
  mxq_cpu_exchange(w, 2, UINT64_C(0x0000FFFF0000FFFF));
  mxq_cpu_exchange(w, 1, UINT64_C(0x00FF00FF00FF00FF));
  for (size_t j = 0; j < 8; ++j) memcpy(to + j * to_pitch, &w[j], 8);
}

#endif
