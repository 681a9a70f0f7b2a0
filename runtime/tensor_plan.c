/* SPDX-License-Identifier: MIT */
#include "tensor_plan.h"

#include <inttypes.h>
#include <string.h>

#include "axes.h"
#include "checked.h"
#include "dequant_plan.h"
#include "scale_plan.h"
#include "schedule.h"
#include "shape.h"
#include "status.h"
#include "tile_maps.h"

/* What a grid counts blocks in, and what kernels of the family `tma` count lengths in. */
enum { granule_bytes = 16, tiles_end = 0x7fffffff };
static const uint64_t lengths_max = UINT64_C(1) << 31;

static enum mxq_status check_arch(const struct mxq_tensor_plan *plan, const struct mxq_arch *arch) {
  MXQ_FAIL_IF(mxq_family_facts(plan->kernel.family)->needs_tma && !arch->has_tma, MXQ_UNSUPPORTED,
              "sm_%s has no tensor copy engine; it needs sm_90 or newer", arch->name);
  MXQ_FAIL_IF(plan->geometry.shared_bytes > arch->shared_max, MXQ_UNSUPPORTED,
              "a block needs %u bytes of shared memory; sm_%s has %u", plan->geometry.shared_bytes,
              arch->name, arch->shared_max);
  return MXQ_OK;
}

/* Tiles cover the padding of scales too, which lie outside of the data. */
static enum mxq_status plan_tiles(struct mxq_tensor_plan *plan) {
  uint64_t matrix;
  const struct mxq_scale_cover cover = mxq_scale_cover(&plan->kernel.variant, plan->n, plan->k);
  plan->tiles_n = mxq_ceil_div(cover.n, plan->geometry.tile_n);
  plan->tiles_k = mxq_ceil_div(cover.k, plan->geometry.tile_k);
  const int fits = mxq_checked_multiply(plan->tiles_n, plan->tiles_k, &matrix) &&
                   mxq_checked_multiply(plan->e, matrix, &plan->tiles);
  MXQ_FAIL_IF(
      !fits || (plan->kernel.family != MXQ_FAMILY_ANY && plan->tiles > tiles_end), MXQ_UNSUPPORTED,
      "%" PRIu64 " x %" PRIu64 " tiles in each of %" PRIu64 " matrices; a grid has fewer than 2^31",
      plan->tiles_n, plan->tiles_k, plan->e);
  /* Generic kernels walk over the tiles that are left. */
  plan->grid = (uint32_t)(plan->tiles > tiles_end ? tiles_end : plan->tiles);
  return MXQ_OK;
}

/* Scales and strides, which all forms know. */
static void plan_strides(struct mxq_tensor_plan *plan, const struct mxq_shape *shape) {
  const struct mxq_variant *variant = &plan->kernel.variant;
  const struct mxq_traits traits = mxq_traits_of(variant);
  const uint64_t bytes = (traits.dequantize ? traits.out_bits : traits.in_bits) / 8;
  plan->stride_e_bytes = plan->e > 1 ? (uint64_t)shape->stride_e * bytes : 0;
  plan->stride_n_bytes = plan->n > 1 ? (uint64_t)shape->stride_n * bytes : 0;
  for (unsigned part = 0; part < 2; part++)
    if (mxq_layout_part(variant->layout, part))
      plan->scale[part] = mxq_scale_plan_of(variant, part, plan->n, plan->k);
}

/* One access takes 16 bytes: of a row, where rows are moved so. */
static enum mxq_status check_row(const struct mxq_tensor_plan *plan) {
  const struct mxq_traits traits = mxq_traits_of(&plan->kernel.variant);
  const unsigned codes = granule_bytes * 8 / traits.out_bits;
  MXQ_FAIL_IF(plan->k % codes != 0, MXQ_UNSUPPORTED,
              "K is %" PRIu64 "; fast kernels take multiples of %u, 16 bytes of codes", plan->k,
              codes);
  MXQ_FAIL_IF(plan->stride_n_bytes % granule_bytes || plan->stride_e_bytes % granule_bytes,
              MXQ_UNSUPPORTED,
              "the input's strides are %" PRIu64 " and %" PRIu64
              " bytes; fast kernels take multiples of 16 bytes",
              plan->stride_e_bytes, plan->stride_n_bytes);
  MXQ_FAIL_IF(plan->k > lengths_max || plan->n > lengths_max, MXQ_UNSUPPORTED,
              "a matrix of %" PRIu64 " x %" PRIu64 "; fast kernels count to 2^31", plan->n,
              plan->k);
  return MXQ_OK;
}

/* A kernel without maps takes what its fellow with maps takes, so that the choice between them
 * decides nothing else. */
static enum mxq_status check_strip(const struct mxq_tensor_plan *plan) {
  struct mxq_tensor_plan tiles = *plan;
  return mxq_tile_maps_plan(&tiles);
}

static enum mxq_status fill(struct mxq_tensor_plan *plan, const struct mxq_arch *arch,
                            const struct mxq_shape *shape) {
  const struct mxq_kernel_id *id = &plan->kernel;
  plan->form = mxq_form_facts(id)->form;
  MXQ_FAIL_IF(plan->form == MXQ_FORM_RELAYOUT, MXQ_INVALID_ARGUMENT,
              "it moves scales alone; mxq_relayout launches it");
  mxq_geometry_of(id, &plan->geometry);
  plan->shared_bytes = mxq_geometry_asks(&plan->geometry, arch);
  MXQ_TRY(check_arch(plan, arch));
  plan->n = (uint64_t)shape->n;
  plan->k = (uint64_t)shape->k;
  plan->e = (uint64_t)shape->e;
  if (mxq_shape_empty(shape)) return MXQ_OK;
  plan_strides(plan, shape);
  if (id->variant.op == MXQ_OP_DEQUANTIZE) MXQ_TRY(mxq_dequant_plan_make(plan));
  if (plan->form == MXQ_FORM_TILE) MXQ_TRY(mxq_tile_maps_plan(plan));
  if (plan->form == MXQ_FORM_ROW) MXQ_TRY(check_row(plan));
  if (plan->form == MXQ_FORM_STRIP) MXQ_TRY(check_strip(plan));
  return plan_tiles(plan);
}

enum mxq_status mxq_tensor_plan_fill(const struct mxq_kernel_id *id, const struct mxq_arch *arch,
                                     const struct mxq_shape *shape, struct mxq_tensor_plan *plan) {
  struct mxq_tensor_plan made;
  char name[MXQ_KERNEL_NAME_SIZE] = "";
  memset(&made, 0, sizeof made);
  made.kernel = *id;
  const enum mxq_status status = fill(&made, arch, shape);
  if (status == MXQ_OK) {
    *plan = made;
    return MXQ_OK;
  }
  (void)mxq_kernel_id_name(id, name, sizeof name); /* takes as long as all the rest */
  return mxq_status_set(status, "%s: %s", name, mxq_last_error());
}

enum mxq_status mxq_tensor_plan_make(const struct mxq_kernel_id *id, const struct mxq_arch *arch,
                                     const struct mxq_shape *shape, struct mxq_tensor_plan *plan) {
  MXQ_TRY(mxq_kernel_id_check(id));
  MXQ_TRY(mxq_shape_check(&id->variant, shape));
  return mxq_tensor_plan_fill(id, arch, shape, plan);
}

void mxq_divisor_make(uint32_t value, uint32_t *multiplier, uint32_t *shift) {
  /* Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994: with
   * s = ceil(log2 d) and m = floor(2^32 (2^s - d) / d) + 1, x / d = (mulhi(x, m) + x) >> s. The
   * sum stays below 2^32 because x is below 2^31. */
  uint32_t bits = 0;
  while ((UINT64_C(1) << bits) < value) bits++;
  *shift = bits;
  *multiplier = (uint32_t)((((UINT64_C(1) << bits) - value) << 32) / value + 1);
}
