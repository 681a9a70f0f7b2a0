/* SPDX-License-Identifier: MIT */
#ifndef MXQ_PLAN_AS_H
#define MXQ_PLAN_AS_H

#include <mxq/mxq.h>

#include "kernel_id.h"

/* mxq_plan_create with a kernel of the caller's choice among those of the variant; NULL: the one
 * that the shape selects. For trying schedules out. */
enum mxq_status mxq_plan_create_as(struct mxq_kernel *kernel, const struct mxq_kernel_id *id,
                                   const struct mxq_shape *shape,
                                   const struct mxq_pointers *pointers, struct mxq_plan **plan);

/* Takes an arch of the caller's own in place of the device's, such as one with other conversions;
 * it must outlive the context. Before any plan of the kernel. */
void mxq_kernel_set_arch(struct mxq_kernel *kernel, const struct mxq_arch *arch);

#endif
