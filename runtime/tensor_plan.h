/* SPDX-License-Identifier: MIT
 *
 * Everything about shapes, strides, boxes, grids and the limits of the tensor copy engine, in
 * plain C: no driver, no addresses. Encoding the maps is one call after it.
 */
#ifndef MXQ_TENSOR_PLAN_H
#define MXQ_TENSOR_PLAN_H

#include <stdint.h>

#include <mxq/mxq.h>

#include "kernel_id.h"

enum mxq_map_element { MXQ_MAP_U8, MXQ_MAP_U16, MXQ_MAP_F32 };
enum mxq_map_swizzle {
  MXQ_MAP_SWIZZLE_NONE,
  MXQ_MAP_SWIZZLE_32B,
  MXQ_MAP_SWIZZLE_64B,
  MXQ_MAP_SWIZZLE_128B
};

/* What one tensor map says, dimensions fastest first. Element strides are 1, interleave none,
 * bytes outside are zeros. */
struct mxq_map_plan {
  enum mxq_map_element element;
  enum mxq_map_swizzle swizzle;
  uint32_t rank;
  uint64_t dims[5];          /* elements */
  uint64_t strides_bytes[4]; /* of dimensions 1 .. rank-1 */
  uint32_t box[5];           /* elements */
};

/* Where a part's scales lie (templates/args.h, struct mxq_scale_args). */
struct mxq_scale_plan {
  uint64_t stride_e;
  uint64_t pitch;
};

struct mxq_tensor_plan {
  struct mxq_kernel_id kernel;
  enum mxq_form form;
  struct mxq_geometry geometry;
  unsigned shared_bytes; /* that a launch asks for */
  uint64_t n, k, e;
  uint64_t tiles_n, tiles_k, tiles;
  uint64_t stride_e_bytes, stride_n_bytes; /* of the wide tensor; 0 for axes of length 1 */
  struct mxq_scale_plan scale[2];          /* of the layout's parts */
  uint32_t grid;                           /* blocks, one dimension; 0: nothing to launch */
  struct mxq_map_plan in, out[2];          /* rank 0 where there is no tensor map */
};

/* Plans `id` for a shape on an arch. MXQ_INVALID_ARGUMENT: lengths, strides or products that the
 * contract refuses (section 3). MXQ_UNSUPPORTED: a rule of the tensor copy engine or of the arch,
 * named, with the value given and what is allowed. */
enum mxq_status mxq_tensor_plan_make(const struct mxq_kernel_id *id, const struct mxq_arch *arch,
                                     const struct mxq_shape *shape, struct mxq_tensor_plan *plan);

/* The same for a kernel that exists and a shape that mxq_shape_check takes. */
enum mxq_status mxq_tensor_plan_fill(const struct mxq_kernel_id *id, const struct mxq_arch *arch,
                                     const struct mxq_shape *shape, struct mxq_tensor_plan *plan);

/* Every documented limit of one map (cuTensorMapEncodeTiled), by name. */
enum mxq_status mxq_map_plan_check(const struct mxq_map_plan *map, const char *which);

/* Lengths, strides and products of a shape for a variant, with no kernel in mind: what is not OK
 * here is an error on every path (contract, section 3). */
enum mxq_status mxq_shape_check(const struct mxq_variant *variant, const struct mxq_shape *shape);

/* Multiplier and shift for dividing numbers below 2^31 by `value`, 1 to 2^31. args.h. */
void mxq_divisor_make(uint32_t value, uint32_t *multiplier, uint32_t *shift);

#endif
