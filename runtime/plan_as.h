/* SPDX-License-Identifier: MIT */
#ifndef MXQ_PLAN_AS_H
#define MXQ_PLAN_AS_H

#include <mxq/mxq.h>

#include "tensor_plan.h"
#include "tune.h"

/* The kernel that a variant's tensors of a shape take on an arch, and its plan: the first family
 * that takes the shape and, unless `pointers` is NULL, the addresses, with the schedule of their
 * size. `capacity`: of the device; NULL: of the one that the arch stands for. */
enum mxq_status mxq_plan_select(const struct mxq_variant *variant, const struct mxq_arch *arch,
                                const struct mxq_capacity *capacity, const struct mxq_shape *shape,
                                const struct mxq_pointers *pointers,
                                struct mxq_tensor_plan *tensor);
/* mxq_plan_select for a kernel on a GPU, whose choices are known; `bytes` are those of the shape.
 */
enum mxq_status mxq_plan_select_of(const struct mxq_kernel *kernel,
                                   const struct mxq_byte_counts *bytes,
                                   const struct mxq_shape *shape,
                                   const struct mxq_pointers *pointers,
                                   struct mxq_tensor_plan *tensor);
/* One family of mxq_plan_select; the variant is legal, and `bytes` are those of the shape. */
enum mxq_status mxq_plan_try(const struct mxq_variant *variant, enum mxq_family family,
                             const struct mxq_arch *arch, enum mxq_size_class size,
                             const struct mxq_shape *shape, const struct mxq_pointers *pointers,
                             struct mxq_tensor_plan *tensor);
/* The size class of tensors whose bytes mxq_shape_measure tells. */
enum mxq_size_class mxq_plan_size(const struct mxq_variant *variant,
                                  const struct mxq_byte_counts *bytes,
                                  const struct mxq_capacity *capacity);

/* mxq_plan_create with a kernel of the caller's choice among those of the variant; NULL: the one
 * that the shape selects. For trying schedules out. */
enum mxq_status mxq_plan_create_as(struct mxq_kernel *kernel, const struct mxq_kernel_id *id,
                                   const struct mxq_shape *shape,
                                   const struct mxq_pointers *pointers, struct mxq_plan **plan);

/* Takes an arch of the caller's own in place of the device's, such as one with other conversions;
 * it must outlive the context. Before any plan of the kernel. */
void mxq_kernel_set_arch(struct mxq_kernel *kernel, const struct mxq_arch *arch);

/* The kernel that a plan on a GPU launches. */
const struct mxq_kernel_id *mxq_plan_kernel(const struct mxq_plan *plan);

#endif
