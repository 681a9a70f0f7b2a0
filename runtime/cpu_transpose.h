/* SPDX-License-Identifier: MIT */
#ifndef MXQ_CPU_TRANSPOSE_H
#define MXQ_CPU_TRANSPOSE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What is transposed at once: so many rows, and at most so many columns. */
enum { MXQ_CPU_TRANSPOSED = 16, MXQ_CPU_LINE = 128 };

/* Each two of `rows` rows to one of both in turns, `unit` bytes of each; a row has `count` units.
 */
static inline void mxq_cpu_interleave(size_t unit, const uint8_t *from, size_t pitch, size_t rows,
                                      size_t count, uint8_t *restrict to) {
  for (size_t row = 0; row < rows; row += 2, to += 2 * count * unit) {
    const uint8_t *a = from + row * pitch, *b = a + pitch;
    for (size_t i = 0; i < count; ++i) {
      memcpy(to + 2 * i * unit, a + i * unit, unit);
      memcpy(to + (2 * i + 1) * unit, b + i * unit, unit);
    }
  }
}

/* to[j * to_pitch + i] = from[i * from_pitch + j] for j < count. Compilers know the steps: they are
 * what the unpack instructions do. */
static inline void mxq_cpu_transpose(const uint8_t *from, size_t from_pitch, size_t count,
                                     uint8_t *to, size_t to_pitch) {
  uint8_t pairs[MXQ_CPU_TRANSPOSED * MXQ_CPU_LINE], fours[MXQ_CPU_TRANSPOSED * MXQ_CPU_LINE];
  uint8_t *eights = pairs;
  mxq_cpu_interleave(1, from, from_pitch, 16, count, pairs);
  mxq_cpu_interleave(2, pairs, 2 * count, 8, count, fours);
  mxq_cpu_interleave(4, fours, 4 * count, 4, count, eights);
  for (size_t j = 0; j < count; ++j) {
    memcpy(to + j * to_pitch, eights + 8 * j, 8);
    memcpy(to + j * to_pitch + 8, eights + 8 * (count + j), 8);
  }
}

#endif
