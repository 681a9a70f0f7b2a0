/* SPDX-License-Identifier: MIT */
#include "tensor_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "axes.h"
#include "checked.h"
#include "shape.h"
#include "status.h"

/* One pattern of the widest swizzle: a column-major output tile is stored in pieces this wide. */
enum { span_bytes = 128, granule_bytes = 16, tiles_end = 0x7fffffff };

static enum mxq_status check_arch(const struct mxq_tensor_plan *plan, const struct mxq_arch *arch,
                                  const char *name) {
  MXQ_FAIL_IF(!arch->has_tma, MXQ_UNSUPPORTED,
              "%s: sm_%s has no tensor copy engine; it needs sm_90 or newer (the CPU path takes "
              "every shape: MXQ_DEVICE_CPU)",
              name, arch->name);
  MXQ_FAIL_IF(plan->geometry.shared_bytes > arch->shared_max, MXQ_UNSUPPORTED,
              "%s: a block needs %u bytes of shared memory; sm_%s has %u", name,
              plan->geometry.shared_bytes, arch->name, arch->shared_max);
  return MXQ_OK;
}

/* A thread stores the scales of its neighbouring columns in one access. */
static enum mxq_status check_columns(const struct mxq_tensor_plan *plan, const char *name) {
  const unsigned columns = plan->geometry.columns_per_thread;
  MXQ_FAIL_IF(plan->k % columns != 0, MXQ_UNSUPPORTED,
              "%s: K is %" PRIu64 "; the kernel takes multiples of %u, the columns of a thread",
              name, plan->k, columns);
  return MXQ_OK;
}

static enum mxq_map_element element_of(const struct mxq_type_facts *type) {
  return type->bits == 32 ? MXQ_MAP_F32 : type->bits == 16 ? MXQ_MAP_U16 : MXQ_MAP_U8;
}

/* An axis of length 1 is never stepped along: whatever its stride, it gets a legal one. */
static uint64_t stride_of(uint64_t length, uint64_t stride_bytes, uint64_t legal) {
  return length > 1 ? stride_bytes : legal;
}

/* {K, N, E} with the caller's strides. */
static void plan_input(struct mxq_tensor_plan *plan, const struct mxq_shape *shape) {
  const struct mxq_type_facts *type = mxq_type_facts(plan->kernel.variant.in);
  const uint64_t bytes = type->bits / 8;
  const uint64_t row = mxq_round_up(plan->k * bytes, granule_bytes);
  const uint64_t stride_n = stride_of(plan->n, (uint64_t)shape->stride_n * bytes, row);
  const uint64_t stride_e = stride_of(plan->e, (uint64_t)shape->stride_e * bytes, stride_n);
  plan->in = (struct mxq_map_plan){
      .element = element_of(type),
      .swizzle = MXQ_MAP_SWIZZLE_NONE,
      .rank = 3,
      .dims = {plan->k, plan->n, plan->e},
      .strides_bytes = {stride_n, stride_e},
      .box = {plan->geometry.tile_k, plan->geometry.tile_n, 1},
  };
}

/* {N, K, E}, dense: one map for all matrices. */
static void plan_output(struct mxq_tensor_plan *plan) {
  const unsigned tile_n = plan->geometry.tile_n;
  const int swizzled = tile_n % span_bytes == 0;
  const uint64_t column = mxq_round_up(plan->n, granule_bytes);
  const uint64_t stride_k = stride_of(plan->k, plan->n, column);
  const uint64_t stride_e = stride_of(plan->e, plan->n * plan->k, stride_k);
  plan->out = (struct mxq_map_plan){
      .element = MXQ_MAP_U8,
      .swizzle = swizzled ? MXQ_MAP_SWIZZLE_128B : MXQ_MAP_SWIZZLE_NONE,
      .rank = 3,
      .dims = {plan->n, plan->k, plan->e},
      .strides_bytes = {stride_k, stride_e},
      .box = {swizzled ? span_bytes : tile_n, plan->geometry.tile_k, 1},
  };
}

static enum mxq_status plan_tiles(struct mxq_tensor_plan *plan, const char *name) {
  uint64_t matrix;
  plan->tiles_n = mxq_ceil_div(plan->n, plan->geometry.tile_n);
  plan->tiles_k = mxq_ceil_div(plan->k, plan->geometry.tile_k);
  const int fits = mxq_checked_multiply(plan->tiles_n, plan->tiles_k, &matrix) &&
                   mxq_checked_multiply(plan->e, matrix, &plan->tiles);
  MXQ_FAIL_IF(!fits || plan->tiles > tiles_end, MXQ_UNSUPPORTED,
              "%s: %" PRIu64 " x %" PRIu64 " tiles in each of %" PRIu64
              " matrices; a grid has fewer than 2^31",
              name, plan->tiles_n, plan->tiles_k, plan->e);
  plan->grid = (uint32_t)plan->tiles;
  return MXQ_OK;
}

static enum mxq_status check_maps(const struct mxq_tensor_plan *plan, const char *name) {
  char which[MXQ_KERNEL_NAME_SIZE + 32];
  snprintf(which, sizeof which, "%s: input map {K, N, E}", name);
  MXQ_TRY(mxq_map_plan_check(&plan->in, which));
  snprintf(which, sizeof which, "%s: output map {N, K, E}", name);
  return mxq_map_plan_check(&plan->out, which);
}

enum mxq_status mxq_tensor_plan_make(const struct mxq_kernel_id *id, const struct mxq_arch *arch,
                                     const struct mxq_shape *shape, struct mxq_tensor_plan *plan) {
  struct mxq_tensor_plan made;
  char name[MXQ_KERNEL_NAME_SIZE];
  MXQ_TRY(mxq_kernel_id_name(id, name, sizeof name));
  MXQ_TRY(mxq_shape_check(&id->variant, shape));
  memset(&made, 0, sizeof made);
  made.kernel = *id;
  mxq_geometry_of(id, &made.geometry);
  MXQ_TRY(check_arch(&made, arch, name));
  made.n = (uint64_t)shape->n;
  made.k = (uint64_t)shape->k;
  made.e = (uint64_t)shape->e;
  if (!mxq_shape_empty(shape)) {
    made.scale_stride_e = mxq_shape_scales(&id->variant, shape, 0);
    plan_input(&made, shape);
    plan_output(&made);
    MXQ_TRY(check_maps(&made, name));
    MXQ_TRY(check_columns(&made, name));
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
