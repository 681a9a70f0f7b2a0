/* SPDX-License-Identifier: MIT
 *
 * Reference path, the types read back: codes and scales to float32, float32 to wide elements.
 */
#ifndef MXQ_CPU_DECODE_H
#define MXQ_CPU_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "axes.h"

/* What every byte means as a code of a type; bits above the type's own are ignored. */
void mxq_cpu_decode_codes(const struct mxq_type_facts *type, float values[256]);

/* A scale from the bits that are stored. */
float mxq_cpu_decode_scale(unsigned scale_bits, uint32_t scale);

/* How rows of one wide type are written: rounded to nearest, ties to even; what is too large
 * becomes infinite; every NaN becomes the one of contract, section 2. */
struct mxq_cpu_writer {
  size_t element_bytes;
  void (*narrow)(const float *y, size_t count, void *row);
};

const struct mxq_cpu_writer *mxq_cpu_writer(unsigned type);

#endif
