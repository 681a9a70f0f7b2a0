/* SPDX-License-Identifier: MIT */
#include "kernel_args.h"

#include "dequant_plan.h"

struct mxq_divisor mxq_kernel_args_divisor(uint64_t value) {
  const uint64_t most = UINT64_C(1) << 31;
  struct mxq_divisor divisor = {0, 0, (unsigned)(value < most ? value : most), 0};
  mxq_divisor_make(divisor.value, &divisor.multiplier, &divisor.shift);
  return divisor;
}

/* Kernels speak of the second of two parts as the main one, and of the first as another. */
static unsigned main_part(const struct mxq_tensor_plan *plan) {
  return mxq_layout_part(plan->kernel.variant.layout, 1) ? 1 : 0;
}

static void fill_scale(const struct mxq_tensor_plan *plan, unsigned part,
                       struct mxq_scale_args *scale) {
  scale->stride_e = plan->scale[part].stride_e;
  scale->pitch = plan->scale[part].pitch;
}

static void fill_tile(const struct mxq_tensor_plan *plan, union mxq_kernel_args *args) {
  fill_scale(plan, main_part(plan), &args->tile.scale);
  fill_scale(plan, 0, &args->tile.also_scale);
  args->tile.n = (unsigned)plan->n;
  args->tile.k = (unsigned)plan->k;
  args->tile.tiles = (unsigned)plan->tiles;
  args->tile.tiles_n = mxq_kernel_args_divisor(plan->tiles_n);
  args->tile.tiles_k = mxq_kernel_args_divisor(plan->tiles_k);
}

static void fill_row(const struct mxq_tensor_plan *plan, union mxq_kernel_args *args) {
  args->row.stride_e_bytes = plan->stride_e_bytes;
  args->row.stride_n_bytes = plan->stride_n_bytes;
  fill_scale(plan, main_part(plan), &args->row.scale);
  args->row.n = (unsigned)plan->n;
  args->row.k = (unsigned)plan->k;
  args->row.tiles_n = mxq_kernel_args_divisor(plan->tiles_n);
  args->row.tiles_k = mxq_kernel_args_divisor(plan->tiles_k);
}

static void fill_any(const struct mxq_tensor_plan *plan, union mxq_kernel_args *args) {
  args->any.stride_e_bytes = plan->stride_e_bytes;
  args->any.stride_n_bytes = plan->stride_n_bytes;
  fill_scale(plan, main_part(plan), &args->any.scale);
  fill_scale(plan, 0, &args->any.also_scale);
  args->any.n = plan->n;
  args->any.k = plan->k;
  args->any.tiles_n = plan->tiles_n;
  args->any.tiles_k = plan->tiles_k;
  args->any.tiles = plan->tiles;
  args->any.by_tiles_n = mxq_kernel_args_divisor(plan->tiles_n);
  args->any.by_tiles_k = mxq_kernel_args_divisor(plan->tiles_k);
}

void mxq_kernel_args_fill(const struct mxq_tensor_plan *plan, union mxq_kernel_args *args) {
  static void (*const fill[])(const struct mxq_tensor_plan *, union mxq_kernel_args *) = {
      [MXQ_FORM_TILE] = fill_tile,
      [MXQ_FORM_ROW] = fill_row,
      [MXQ_FORM_STRIP] = fill_row,
      [MXQ_FORM_ANY] = fill_any,
      [MXQ_FORM_ANY_ROW] = fill_any,
      [MXQ_FORM_DEQUANT_TILE] = mxq_dequant_fill_tile,
      [MXQ_FORM_DEQUANT_ROW] = mxq_dequant_fill_row,
      [MXQ_FORM_DEQUANT_ANY] = mxq_dequant_fill_any,
  };
  fill[plan->form](plan, args);
}

void mxq_kernel_args_point(const struct mxq_tensor_plan *plan, const struct mxq_pointers *pointers,
                           union mxq_kernel_args *args) {
  const unsigned part = main_part(plan);
  if (plan->kernel.variant.op == MXQ_OP_DEQUANTIZE) {
    mxq_dequant_point(plan->form, pointers, args);
  } else if (plan->form == MXQ_FORM_TILE) {
    args->tile.scale.to = pointers->scale[part];
    args->tile.also_scale.to = pointers->scale[0];
  } else if (plan->form == MXQ_FORM_ROW || plan->form == MXQ_FORM_STRIP) {
    args->row.in = pointers->in;
    args->row.out = pointers->out[0];
    args->row.scale.to = pointers->scale[0];
  } else {
    args->any.in = pointers->in;
    args->any.out = pointers->out[part];
    args->any.also = pointers->out[0];
    args->any.scale.to = pointers->scale[part];
    args->any.also_scale.to = pointers->scale[0];
  }
}

struct mxq_tensor_map *mxq_kernel_args_out_map(const struct mxq_tensor_plan *plan, unsigned part,
                                               union mxq_kernel_args *args) {
  return part == main_part(plan) ? &args->tile.out : &args->tile.also;
}
