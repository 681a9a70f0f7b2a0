/* SPDX-License-Identifier: MIT
 *
 * Which kernels a pattern or an edited expansion means.
 */
#ifndef EMU_SELECT_H
#define EMU_SELECT_H

#include <stddef.h>

#include "kernel_id.h"

struct emu_selection {
  struct mxq_kernel_id *kernels;
  size_t count, room;
};

/* Adds the default kernel of each variant whose name matches the glob. A pattern with a dot is
 * one of kernel names, and adds every schedule that matches. Returns how many it found. */
size_t emu_select_pattern(struct emu_selection *selection, const char *pattern);

/* The kernel whose symbol a source defines with MXQ_KERNEL. 0: none that exists. */
int emu_select_source(const char *text, struct mxq_kernel_id *kernel);

void emu_select_free(struct emu_selection *selection);

#endif
