/* SPDX-License-Identifier: MIT
 *
 * Which kernels planning can select: what preparing compiles and what a prebuilt set must hold.
 */
#ifndef MXQ_GEN_SELECTABLE_H
#define MXQ_GEN_SELECTABLE_H

#include <stddef.h>

#include "kernel_id.h"

#define MXQ_SELECTABLE_MOST 16

/* Every kernel that mxq_plan_select can return for a variant on an arch, at any shape, any
 * addresses and on any device, the preferred ones first, each once. MXQ_UNSUPPORTED: the arch can
 * run none. */
enum mxq_status mxq_selectable_by_plans(const struct mxq_variant *variant,
                                        const struct mxq_arch *arch,
                                        struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST],
                                        size_t *count);

/* And last the kernel of mxq_relayout for its scales,
 * unless they are linear, which other variants share. Whoever makes selection choose among more
 * kernels makes this list longer; a test walks shapes and addresses and compares. */
enum mxq_status mxq_selectable(const struct mxq_variant *variant, const struct mxq_arch *arch,
                               struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST], size_t *count);

#endif
