/* SPDX-License-Identifier: MIT
 *
 * Which kernels a pattern or an edited expansion means.
 */
#ifndef EMU_SELECT_H
#define EMU_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include "kernel_cases.h"

/* Adds the default kernels of each variant whose name matches the glob, one for each family that
 * the arch has. A pattern with a dot is one of <variant>.<family>; one with a hyphen behind the dot
 * is one of kernel names, and adds every schedule that matches. Returns how many it found. */
size_t emu_select_pattern(struct kernel_cases *cases, const char *pattern,
                          const struct mxq_arch *arch);

/* Keeps a seeded one in so many. */
void emu_select_sample(struct kernel_cases *cases, uint64_t one_in, uint64_t seed);

/* Keeps number `part` of every `parts`, from 1 on. */
void emu_select_part(struct kernel_cases *cases, size_t part, size_t parts);

/* The kernel whose symbol a source defines with MXQ_KERNEL. 0: none that the arch has. */
int emu_select_source(const char *text, const struct mxq_arch *arch, struct mxq_kernel_id *kernel);

#endif
