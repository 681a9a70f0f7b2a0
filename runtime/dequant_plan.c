/* SPDX-License-Identifier: MIT */
#include "dequant_plan.h"

#include <inttypes.h>
#include <stddef.h>

#include "checked.h"
#include "schedule.h"
#include "status.h"

/* Rows of a tile in shared memory span a swizzle; globalAddress of cuTensorMapEncodeTiled. */
enum { span_bytes = 128, granule_bytes = 16, base_alignment = 16 };
static const uint64_t lengths_max = UINT64_C(1) << 31;

/* Whoever encodes maps finds both in one place, whatever the form. */
_Static_assert(offsetof(struct mxq_dequant_tile_args, in) == offsetof(struct mxq_tma_args, in) &&
                   offsetof(struct mxq_dequant_tile_args, out) ==
                       offsetof(struct mxq_tma_args, out),
               "the maps of both forms lie at the same places");

/* An axis of length 1 is never stepped along: whatever its stride, it gets a legal one. */
static uint64_t stride_of(uint64_t length, uint64_t stride_bytes, uint64_t legal) {
  return length > 1 ? stride_bytes : legal;
}

/* {N, K, E} column-major, dense, in bytes: one map for all matrices. */
static void plan_input(struct mxq_tensor_plan *plan, const struct mxq_traits *traits) {
  const unsigned packed = 8 / traits->in_bits; /* codes of a byte */
  const uint64_t inner = plan->n / packed;
  const uint64_t stride = stride_of(plan->k, inner, mxq_round_up(inner, granule_bytes));
  plan->in = (struct mxq_map_plan){
      .element = MXQ_MAP_U8,
      .swizzle = MXQ_MAP_SWIZZLE_128B,
      .rank = 3,
      .dims = {inner, plan->k, plan->e},
      .strides_bytes = {stride, stride_of(plan->e, inner * plan->k, stride)},
      .box = {plan->geometry.tile_n / packed, plan->geometry.tile_k, 1},
  };
}

/* {K, N, E} with the caller's strides. */
static void plan_output(struct mxq_tensor_plan *plan, const struct mxq_traits *traits) {
  const unsigned bytes = traits->out_bits / 8;
  const uint64_t row = mxq_round_up(plan->k * bytes, granule_bytes);
  const uint64_t stride_n = stride_of(plan->n, plan->stride_n_bytes, row);
  plan->out[0] = (struct mxq_map_plan){
      .element = bytes == 4 ? MXQ_MAP_F32 : MXQ_MAP_U16,
      .swizzle = MXQ_MAP_SWIZZLE_128B,
      .rank = 3,
      .dims = {plan->k, plan->n, plan->e},
      .strides_bytes = {stride_n, stride_of(plan->e, plan->stride_e_bytes, stride_n)},
      .box = {span_bytes / bytes, plan->geometry.tile_n, 1},
  };
}

static enum mxq_status plan_maps(struct mxq_tensor_plan *plan, const struct mxq_traits *traits) {
  plan_input(plan, traits);
  plan_output(plan, traits);
  MXQ_TRY(mxq_map_plan_check(&plan->in, "input map {N, K, E}"));
  return mxq_map_plan_check(&plan->out[0], "output map {K, N, E}");
}

static enum mxq_status check_multiple(uint64_t k, unsigned of, const char *what) {
  MXQ_FAIL_IF(k % of != 0, MXQ_UNSUPPORTED,
              "K is %" PRIu64 "; fast kernels take multiples of %u, 16 bytes of %s", k, of, what);
  return MXQ_OK;
}

enum mxq_status mxq_dequant_plan_make(struct mxq_tensor_plan *plan) {
  const struct mxq_traits traits = mxq_traits_of(&plan->kernel.variant);
  if (plan->form == MXQ_FORM_DEQUANT_ANY) return MXQ_OK;
  MXQ_FAIL_IF(plan->k > lengths_max || plan->n > lengths_max, MXQ_UNSUPPORTED,
              "a matrix of %" PRIu64 " x %" PRIu64 "; fast kernels count to 2^31", plan->n,
              plan->k);
  MXQ_FAIL_IF(plan->stride_n_bytes % granule_bytes || plan->stride_e_bytes % granule_bytes,
              MXQ_UNSUPPORTED,
              "the output's strides are %" PRIu64 " and %" PRIu64
              " bytes; fast kernels take multiples of 16 bytes",
              plan->stride_e_bytes, plan->stride_n_bytes);
  if (plan->form == MXQ_FORM_DEQUANT_ROW)
    return check_multiple(plan->k, granule_bytes * 8 / traits.in_bits, "codes");
  /* A thread reads the scales of its columns in one access, and writes them in one. */
  MXQ_TRY(check_multiple(plan->k, plan->geometry.columns_per_thread, "the output"));
  return plan_maps(plan, &traits);
}

enum mxq_status mxq_dequant_check_pointers(const struct mxq_pointers *pointers) {
  const struct {
    const char *name;
    const void *address;
  } rows[] = {{"in", pointers->in}, {"in_scale", pointers->in_scale}, {"out[0]", pointers->out[0]}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    MXQ_FAIL_IF((uintptr_t)rows[i].address % base_alignment != 0, MXQ_UNSUPPORTED,
                "%s is 0x%" PRIxPTR "; bases for fast kernels are aligned to %d bytes",
                rows[i].name, (uintptr_t)rows[i].address, base_alignment);
  return MXQ_OK;
}

void mxq_dequant_fill_tile(const struct mxq_tensor_plan *plan, union mxq_kernel_args *args) {
  struct mxq_dequant_tile_args *tile = &args->dequant_tile;
  tile->scale_stride_e = plan->scale[0].stride_e;
  tile->scale_pitch = plan->scale[0].pitch;
  tile->n = (unsigned)plan->n;
  tile->k = (unsigned)plan->k;
  tile->tiles = (unsigned)plan->tiles;
  tile->tiles_n = mxq_kernel_args_divisor(plan->tiles_n);
  tile->tiles_k = mxq_kernel_args_divisor(plan->tiles_k);
}

void mxq_dequant_fill_row(const struct mxq_tensor_plan *plan, union mxq_kernel_args *args) {
  struct mxq_dequant_row_args *row = &args->dequant_row;
  row->scale_stride_e = plan->scale[0].stride_e;
  row->scale_pitch = plan->scale[0].pitch;
  row->stride_e_bytes = plan->stride_e_bytes;
  row->stride_n_bytes = plan->stride_n_bytes;
  row->n = (unsigned)plan->n;
  row->k = (unsigned)plan->k;
  row->tiles_n = mxq_kernel_args_divisor(plan->tiles_n);
  row->tiles_k = mxq_kernel_args_divisor(plan->tiles_k);
}

void mxq_dequant_fill_any(const struct mxq_tensor_plan *plan, union mxq_kernel_args *args) {
  struct mxq_dequant_any_args *any = &args->dequant_any;
  any->scale_stride_e = plan->scale[0].stride_e;
  any->scale_pitch = plan->scale[0].pitch;
  any->stride_e_bytes = plan->stride_e_bytes;
  any->stride_n_bytes = plan->stride_n_bytes;
  any->n = plan->n;
  any->k = plan->k;
  any->tiles_n = plan->tiles_n;
  any->tiles_k = plan->tiles_k;
  any->tiles = plan->tiles;
  any->by_tiles_n = mxq_kernel_args_divisor(plan->tiles_n);
  any->by_tiles_k = mxq_kernel_args_divisor(plan->tiles_k);
}

void mxq_dequant_point(enum mxq_form form, const struct mxq_pointers *pointers,
                       union mxq_kernel_args *args) {
  if (form == MXQ_FORM_DEQUANT_TILE) {
    args->dequant_tile.scale = pointers->in_scale;
  } else if (form == MXQ_FORM_DEQUANT_ROW) {
    args->dequant_row.in = pointers->in;
    args->dequant_row.out = pointers->out[0];
    args->dequant_row.scale = pointers->in_scale;
  } else {
    args->dequant_any.in = pointers->in;
    args->dequant_any.out = pointers->out[0];
    args->dequant_any.scale = pointers->in_scale;
  }
}
