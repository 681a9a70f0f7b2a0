/* SPDX-License-Identifier: MIT
 *
 * Reference path, pairs: two elements that are neighbours along a row. The conversions read and
 * write a pair at a time: two 16-bit elements are then the halves of one 32-bit word, and baseline
 * x86-64 has no cheap way to bring 32-bit lanes to 16 bits.
 */
#ifndef MXQ_CPU_PAIRS_H
#define MXQ_CPU_PAIRS_H

#include <stddef.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "a pair of elements has the first one in the low half of its word");

/* What the elements of a row are multiplied with: even[i] for element 2 * i, odd[i] for the one
 * after it. */
struct mxq_cpu_multipliers {
  const float *even, *odd;
};

/* Blocks along a row are made of whole groups. */
enum { MXQ_CPU_GROUP = 8 };

/* Gives each of `columns` elements of a row the number of its block, of `block` elements. A last
 * block that is cut short is treated as a whole one: there is room for it in `even`, and `blocks`
 * has an even number of elements. */
static inline struct mxq_cpu_multipliers mxq_cpu_spread(const float *blocks, size_t columns,
                                                        size_t block, float *restrict even,
                                                        float *restrict odd) {
  if (block == 1) {
    for (size_t i = 0; i < (columns + 1) / 2; ++i) {
      even[i] = blocks[2 * i];
      odd[i] = blocks[2 * i + 1];
    }
    return (struct mxq_cpu_multipliers){even, odd};
  }
  for (size_t k = 0; k < columns; k += block, ++blocks)
    for (size_t end = k + block, i = k; i < end; i += MXQ_CPU_GROUP)
      for (size_t j = 0; j < MXQ_CPU_GROUP / 2; ++j) even[i / 2 + j] = *blocks;
  return (struct mxq_cpu_multipliers){even, even};
}

#endif
