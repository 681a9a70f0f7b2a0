/* SPDX-License-Identifier: MIT
 *
 * What a plan hands to its kernel, without the tensor maps: those need an encoder.
 */
#ifndef MXQ_KERNEL_ARGS_H
#define MXQ_KERNEL_ARGS_H

#include <mxq/mxq.h>

#include "args.h"
#include "tensor_plan.h"

/* The arguments of each form (templates/args.h). */
union mxq_kernel_args {
  struct mxq_tma_args tile;
  struct mxq_vector_args row;
  struct mxq_any_args any;
  struct mxq_dequant_tile_args dequant_tile;
  struct mxq_dequant_row_args dequant_row;
  struct mxq_dequant_any_args dequant_any;
};

/* Everything but tensor maps and addresses, for a plan with something to launch. */
void mxq_kernel_args_fill(const struct mxq_tensor_plan *plan, union mxq_kernel_args *args);

/* Division by a number from 1 on, of one below 2^31 (templates/args.h). */
struct mxq_divisor mxq_kernel_args_divisor(uint64_t value);

/* The addresses that are no part of a tensor map. */
void mxq_kernel_args_point(const struct mxq_tensor_plan *plan, const struct mxq_pointers *pointers,
                           union mxq_kernel_args *args);

/* Where the tensor map of a part's output goes, for the form that has them. */
struct mxq_tensor_map *mxq_kernel_args_out_map(const struct mxq_tensor_plan *plan, unsigned part,
                                               union mxq_kernel_args *args);

#endif
