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
  unsigned grid; /* blocks; 0: one for each tile */
};

/* The index-th, a small one first; 0 past the last. */
int emu_case_at(const struct mxq_kernel_id *kernel, size_t index, struct emu_case *out);

#endif
