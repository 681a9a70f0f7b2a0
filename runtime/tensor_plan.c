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

static enum mxq_status check_arch(const struct mxq_tensor_plan *plan, const struct mxq_arch *arch,
                                  const char *name) {
  MXQ_FAIL_IF(mxq_family_facts(plan->kernel.family)->needs_tma && !arch->has_tma, MXQ_UNSUPPORTED,
              "%s: sm_%s has no tensor copy engine; it needs sm_90 or newer", name, arch->name);
  MXQ_FAIL_IF(plan->geometry.shared_bytes > arch->shared_max, MXQ_UNSUPPORTED,
              "%s: a block needs %u bytes of shared memory; sm_%s has %u", name,
              plan->geometry.shared_bytes, arch->name, arch->shared_max);
  return MXQ_OK;
}

/* Tiles cover the padding of scales too, which lie outside of the data. */
static enum mxq_status plan_tiles(struct mxq_tensor_plan *plan, const char *name) {
  uint64_t matrix;
  const struct mxq_scale_cover cover = mxq_scale_cover(&plan->kernel.variant, plan->n, plan->k);
  plan->tiles_n = mxq_ceil_div(cover.n, plan->geometry.tile_n);
  plan->tiles_k = mxq_ceil_div(cover.k, plan->geometry.tile_k);
  const int fits = mxq_checked_multiply(plan->tiles_n, plan->tiles_k, &matrix) &&
                   mxq_checked_multiply(plan->e, matrix, &plan->tiles);
  MXQ_FAIL_IF(!fits || (plan->kernel.family != MXQ_FAMILY_ANY && plan->tiles > tiles_end),
              MXQ_UNSUPPORTED,
              "%s: %" PRIu64 " x %" PRIu64 " tiles in each of %" PRIu64
              " matrices; a grid has fewer than 2^31",
              name, plan->tiles_n, plan->tiles_k, plan->e);
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
static enum mxq_status check_row(const struct mxq_tensor_plan *plan, const char *name) {
  const struct mxq_traits traits = mxq_traits_of(&plan->kernel.variant);
  const unsigned codes = granule_bytes * 8 / traits.out_bits;
  MXQ_FAIL_IF(plan->k % codes != 0, MXQ_UNSUPPORTED,
              "%s: K is %" PRIu64 "; fast kernels take multiples of %u, 16 bytes of codes", name,
              plan->k, codes);
  MXQ_FAIL_IF(plan->stride_n_bytes % granule_bytes || plan->stride_e_bytes % granule_bytes,
              MXQ_UNSUPPORTED,
              "%s: the input's strides are %" PRIu64 " and %" PRIu64
              " bytes; fast kernels take multiples of 16 bytes",
              name, plan->stride_e_bytes, plan->stride_n_bytes);
  MXQ_FAIL_IF(plan->k > lengths_max || plan->n > lengths_max, MXQ_UNSUPPORTED,
              "%s: a matrix of %" PRIu64 " x %" PRIu64 "; fast kernels count to 2^31", name,
              plan->n, plan->k);
  return MXQ_OK;
}

/* A kernel without maps takes what its fellow with maps takes, so that the choice between them
 * decides nothing else. */
static enum mxq_status check_strip(const struct mxq_tensor_plan *plan, const char *name) {
  struct mxq_tensor_plan tiles = *plan;
  tiles.kernel.path = MXQ_PATH_USUAL;
  return mxq_tile_maps_plan(&tiles, name);
}

enum mxq_status mxq_tensor_plan_make(const struct mxq_kernel_id *id, const struct mxq_arch *arch,
                                     const struct mxq_shape *shape, struct mxq_tensor_plan *plan) {
  struct mxq_tensor_plan made;
  char name[MXQ_KERNEL_NAME_SIZE];
  MXQ_TRY(mxq_kernel_id_name(id, name, sizeof name));
  MXQ_TRY(mxq_shape_check(&id->variant, shape));
  memset(&made, 0, sizeof made);
  made.kernel = *id;
  made.form = mxq_form_facts(id)->form;
  MXQ_FAIL_IF(made.form == MXQ_FORM_RELAYOUT, MXQ_INVALID_ARGUMENT,
              "%s moves scales alone; mxq_relayout launches it", name);
  mxq_geometry_of(id, &made.geometry);
  MXQ_TRY(check_arch(&made, arch, name));
  made.n = (uint64_t)shape->n;
  made.k = (uint64_t)shape->k;
  made.e = (uint64_t)shape->e;
  if (!mxq_shape_empty(shape)) {
    plan_strides(&made, shape);
    if (id->variant.op == MXQ_OP_DEQUANTIZE) MXQ_TRY(mxq_dequant_plan_make(&made, name));
    if (made.form == MXQ_FORM_TILE) MXQ_TRY(mxq_tile_maps_plan(&made, name));
    if (made.form == MXQ_FORM_ROW) MXQ_TRY(check_row(&made, name));
    if (made.form == MXQ_FORM_STRIP) MXQ_TRY(check_strip(&made, name));
    MXQ_TRY(plan_tiles(&made, name));
  }
  *plan = made;
  return MXQ_OK;
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
