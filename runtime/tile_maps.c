/* SPDX-License-Identifier: MIT */
#include "tile_maps.h"

#include <inttypes.h>

#include "axes.h"
#include "checked.h"
#include "schedule.h"
#include "status.h"

/* A column-major output tile is stored in pieces whose rows span a swizzle. */
enum { span_bytes = 128, granule_bytes = 16 };

/* A thread stores the scales of its neighbouring columns in one access. */
static enum mxq_status check_columns(const struct mxq_tensor_plan *plan) {
  const unsigned columns = plan->geometry.columns_per_thread;
  MXQ_FAIL_IF(plan->k % columns != 0, MXQ_UNSUPPORTED,
              "K is %" PRIu64 "; the kernel takes multiples of %u, the columns of a thread",
              plan->k, columns);
  return MXQ_OK;
}

/* An axis of length 1 is never stepped along: whatever its stride, it gets a legal one. */
static uint64_t stride_of(uint64_t length, uint64_t stride_bytes, uint64_t legal) {
  return length > 1 ? stride_bytes : legal;
}

/* Whether the kernel reads rows of its tile too, by runs: that tile is swizzled then. */
static int reads_rows(const struct mxq_traits *traits) { return traits->also == MXQ_PART_ALONG_K; }

/* {K, N, E} with the caller's strides. */
static void plan_input(struct mxq_tensor_plan *plan, const struct mxq_traits *traits) {
  const unsigned bytes = traits->in_bits / 8;
  const uint64_t row = mxq_round_up(plan->k * bytes, granule_bytes);
  const uint64_t stride_n = stride_of(plan->n, plan->stride_n_bytes, row);
  /* Not one whose elements the kernel writes anew, as another type. */
  const int swizzled = reads_rows(traits) && traits->held == plan->kernel.variant.in;
  plan->in = (struct mxq_map_plan){
      .element = traits->in_bits == 32 ? MXQ_MAP_F32 : MXQ_MAP_U16,
      .swizzle = swizzled ? MXQ_MAP_SWIZZLE_128B : MXQ_MAP_SWIZZLE_NONE,
      .rank = 3,
      .dims = {plan->k, plan->n, plan->e},
      .strides_bytes = {stride_n, stride_of(plan->e, plan->stride_e_bytes, stride_n)},
      .box = {swizzled ? span_bytes / bytes : plan->geometry.tile_k, plan->geometry.tile_n, 1},
  };
}

static enum mxq_map_swizzle swizzle_of(unsigned row_bytes) {
  return row_bytes == 128  ? MXQ_MAP_SWIZZLE_128B
         : row_bytes == 64 ? MXQ_MAP_SWIZZLE_64B
                           : MXQ_MAP_SWIZZLE_32B;
}

/* {N, K, E} of a column-major part, {K, N, E} of a row-major one, dense, in bytes: one map for all
 * matrices. */
static void plan_output(struct mxq_tensor_plan *plan, const struct mxq_traits *traits,
                        unsigned part) {
  const unsigned kind = mxq_layout_part(plan->kernel.variant.layout, part);
  const unsigned packed = 8 / traits->out_bits; /* codes of a byte */
  const int turned = (kind & MXQ_PART_COLUMN_MAJOR) != 0;
  const int by_runs = reads_rows(traits) && part == 0;
  const uint64_t inner = (turned ? plan->n : plan->k) / packed, outer = turned ? plan->k : plan->n;
  const unsigned tile_inner = (turned ? plan->geometry.tile_n : plan->geometry.tile_k) / packed;
  const unsigned tile_outer = turned ? plan->geometry.tile_k : plan->geometry.tile_n;
  const unsigned piece = turned && tile_inner > span_bytes ? span_bytes : tile_inner;
  const uint64_t stride = stride_of(outer, inner, mxq_round_up(inner, granule_bytes));
  plan->out[part] = (struct mxq_map_plan){
      .element = MXQ_MAP_U8,
      .swizzle = turned || by_runs ? swizzle_of(piece) : MXQ_MAP_SWIZZLE_NONE,
      .rank = 3,
      .dims = {inner, outer, plan->e},
      .strides_bytes = {stride, stride_of(plan->e, inner * outer, stride)},
      .box = {piece, tile_outer, 1},
  };
}

enum mxq_status mxq_tile_maps_plan(struct mxq_tensor_plan *plan) {
  const struct mxq_traits traits = mxq_traits_of(&plan->kernel.variant);
  plan_input(plan, &traits);
  MXQ_TRY(mxq_map_plan_check(&plan->in, "input map {K, N, E}"));
  for (unsigned part = 0; part < 2; part++) {
    const unsigned kind = mxq_layout_part(plan->kernel.variant.layout, part);
    if (!kind) continue;
    plan_output(plan, &traits, part);
    MXQ_TRY(mxq_map_plan_check(&plan->out[part], kind & MXQ_PART_COLUMN_MAJOR
                                                     ? "output map {N, K, E}"
                                                     : "output map {K, N, E}"));
  }
  return check_columns(plan);
}
