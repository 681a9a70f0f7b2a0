/* SPDX-License-Identifier: MIT */
#include "kernel_args.h"

static struct mxq_divisor divisor_of(uint64_t value) {
  struct mxq_divisor divisor = {0, 0, (unsigned)value, 0};
  mxq_divisor_make(divisor.value, &divisor.multiplier, &divisor.shift);
  return divisor;
}

static void fill_tile(const struct mxq_tensor_plan *plan, union mxq_kernel_args *args) {
  args->tile.scale_stride_e = plan->scale_stride_e;
  args->tile.scale_columns = plan->scale_columns;
  args->tile.n = (unsigned)plan->n;
  args->tile.k = (unsigned)plan->k;
  args->tile.tiles = (unsigned)plan->tiles;
  args->tile.tiles_n = divisor_of(plan->tiles_n);
  args->tile.tiles_k = divisor_of(plan->tiles_k);
}

static void fill_row(const struct mxq_tensor_plan *plan, union mxq_kernel_args *args) {
  args->row.stride_e_bytes = plan->stride_e_bytes;
  args->row.stride_n_bytes = plan->stride_n_bytes;
  args->row.scale_stride_e = plan->scale_stride_e;
  args->row.scale_columns = plan->scale_columns;
  args->row.n = (unsigned)plan->n;
  args->row.k = (unsigned)plan->k;
  args->row.tiles_n = divisor_of(plan->tiles_n);
  args->row.tiles_k = divisor_of(plan->tiles_k);
}

static void fill_any(const struct mxq_tensor_plan *plan, union mxq_kernel_args *args) {
  args->any.stride_e_bytes = plan->stride_e_bytes;
  args->any.stride_n_bytes = plan->stride_n_bytes;
  args->any.scale_stride_e = plan->scale_stride_e;
  args->any.scale_columns = plan->scale_columns;
  args->any.n = plan->n;
  args->any.k = plan->k;
  args->any.tiles_n = plan->tiles_n;
  args->any.tiles_k = plan->tiles_k;
  args->any.tiles = plan->tiles;
}

void mxq_kernel_args_fill(const struct mxq_tensor_plan *plan, union mxq_kernel_args *args) {
  static void (*const fill[])(const struct mxq_tensor_plan *, union mxq_kernel_args *) = {
      [MXQ_FORM_TILE] = fill_tile, [MXQ_FORM_ROW] = fill_row, [MXQ_FORM_ANY] = fill_any};
  fill[plan->form](plan, args);
}

void mxq_kernel_args_point(enum mxq_form form, const struct mxq_pointers *pointers,
                           union mxq_kernel_args *args) {
  if (form == MXQ_FORM_TILE) {
    args->tile.scale = pointers->scale[0];
  } else if (form == MXQ_FORM_ROW) {
    args->row.in = pointers->in;
    args->row.out = pointers->out[0];
    args->row.scale = pointers->scale[0];
  } else {
    args->any.in = pointers->in;
    args->any.out = pointers->out[0];
    args->any.scale = pointers->scale[0];
  }
}
