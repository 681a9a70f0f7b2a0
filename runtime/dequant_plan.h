/* SPDX-License-Identifier: MIT
 *
 * Planning and arguments of the kernels of dequantize.
 */
#ifndef MXQ_DEQUANT_PLAN_H
#define MXQ_DEQUANT_PLAN_H

#include "kernel_args.h"
#include "tensor_plan.h"

/* Checks a plan that has its lengths, strides and geometry; plans the maps of the form that has
 * them. */
enum mxq_status mxq_dequant_plan_make(struct mxq_tensor_plan *plan);

/* What the fast kernels need of addresses beyond mxq_pointers_check. */
enum mxq_status mxq_dequant_check_pointers(const struct mxq_pointers *pointers);

/* The arguments of each form: all but tensor maps and addresses; then the addresses. */
void mxq_dequant_fill_tile(const struct mxq_tensor_plan *plan, union mxq_kernel_args *args);
void mxq_dequant_fill_row(const struct mxq_tensor_plan *plan, union mxq_kernel_args *args);
void mxq_dequant_fill_any(const struct mxq_tensor_plan *plan, union mxq_kernel_args *args);
void mxq_dequant_point(enum mxq_form form, const struct mxq_pointers *pointers,
                       union mxq_kernel_args *args);

#endif
