/* SPDX-License-Identifier: MIT
 *
 * The shapes that a kernel runs at when nobody names one.
 */
#ifndef EMU_CASES_H
#define EMU_CASES_H

#include <mxq/mxq.h>

#include "kernel_id.h"

struct emu_case {
  struct mxq_shape shape;
  unsigned grid;  /* blocks; 0: one for each tile */
  unsigned ahead; /* elements that the tensors begin behind a multiple of 16 bytes */
};

/* Whether blocks walk over more tiles than one each: those of other kernels are as many as tiles.
 */
int emu_walks(const struct mxq_kernel_id *kernel);
/* How many of the first ones are small: two of generic kernels, aligned and odd. */
size_t emu_cases_small(const struct mxq_kernel_id *kernel);
/* The index-th, small ones first; 0 past the last. */
int emu_case_at(const struct mxq_kernel_id *kernel, size_t index, struct emu_case *out);

#endif
