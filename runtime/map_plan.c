/* SPDX-License-Identifier: MIT
 *
 * The limits of cuTensorMapEncodeTiled (CUDA driver API, section "Tensor Map Object Management")
 * for interleave none and element strides of 1, plus that of the 32-bit coordinates of the copy
 * instructions.
 */
#include <inttypes.h>

#include "status.h"
#include "tensor_plan.h"

enum { rank_max = 5, box_max = 256, granule_bytes = 16 };
static const uint64_t dim_max = UINT64_C(1) << 32;
static const uint64_t coordinates_max = UINT64_C(1) << 31;
static const uint64_t stride_end = UINT64_C(1) << 40;

static const struct {
  const char *name;
  uint32_t bytes;
} elements[] = {[MXQ_MAP_U8] = {"u8", 1}, [MXQ_MAP_U16] = {"u16", 2}, [MXQ_MAP_F32] = {"f32", 4}};

/* Bytes of the inner box that one pattern of a swizzle spans; 0: any. */
static const uint32_t swizzle_span[] = {[MXQ_MAP_SWIZZLE_NONE] = 0,
                                        [MXQ_MAP_SWIZZLE_32B] = 32,
                                        [MXQ_MAP_SWIZZLE_64B] = 64,
                                        [MXQ_MAP_SWIZZLE_128B] = 128};

static enum mxq_status check_dim(const struct mxq_map_plan *map, uint32_t i, const char *which) {
  const uint64_t dim = map->dims[i];
  MXQ_FAIL_IF(dim == 0 || dim > dim_max, MXQ_UNSUPPORTED,
              "%s: dimension %" PRIu32 " is %" PRIu64
              "; the tensor copy engine takes dimensions from 1 to 2^32",
              which, i, dim);
  MXQ_FAIL_IF(dim > coordinates_max, MXQ_UNSUPPORTED,
              "%s: dimension %" PRIu32 " is %" PRIu64
              "; coordinates of the tensor copy engine are below 2^31, so at most 2^31",
              which, i, dim);
  return MXQ_OK;
}

static enum mxq_status check_stride(const struct mxq_map_plan *map, uint32_t i, const char *which) {
  const uint64_t stride = map->strides_bytes[i - 1];
  MXQ_FAIL_IF(stride % granule_bytes != 0, MXQ_UNSUPPORTED,
              "%s: the stride of dimension %" PRIu32 " is %" PRIu64
              " bytes; the tensor copy engine takes multiples of 16 bytes",
              which, i, stride);
  MXQ_FAIL_IF(stride >= stride_end, MXQ_UNSUPPORTED,
              "%s: the stride of dimension %" PRIu32 " is %" PRIu64
              " bytes; the tensor copy engine takes strides below 2^40 bytes",
              which, i, stride);
  return MXQ_OK;
}

static enum mxq_status check_box(const struct mxq_map_plan *map, const char *which) {
  const uint64_t inner_bytes = (uint64_t)map->box[0] * elements[map->element].bytes;
  const uint32_t span = swizzle_span[map->swizzle];
  for (uint32_t i = 0; i < map->rank; i++)
    MXQ_FAIL_IF(map->box[i] == 0 || map->box[i] > box_max, MXQ_UNSUPPORTED,
                "%s: the box is %" PRIu32 " long in dimension %" PRIu32
                "; the tensor copy engine takes boxes from 1 to 256",
                which, map->box[i], i);
  MXQ_FAIL_IF(inner_bytes % granule_bytes != 0, MXQ_UNSUPPORTED,
              "%s: the inner box is %" PRIu64 " bytes (%" PRIu32
              " %s); the tensor copy engine takes multiples of 16 bytes",
              which, inner_bytes, map->box[0], elements[map->element].name);
  MXQ_FAIL_IF(span && inner_bytes > span, MXQ_UNSUPPORTED,
              "%s: the inner box is %" PRIu64 " bytes; the swizzle spans %" PRIu32
              " bytes, and the tensor copy engine takes no more",
              which, inner_bytes, span);
  return MXQ_OK;
}

enum mxq_status mxq_map_plan_check(const struct mxq_map_plan *map, const char *which) {
  MXQ_FAIL_IF(map->rank == 0 || map->rank > rank_max, MXQ_UNSUPPORTED,
              "%s: rank %" PRIu32 "; the tensor copy engine takes ranks from 1 to 5", which,
              map->rank);
  for (uint32_t i = 0; i < map->rank; i++) MXQ_TRY(check_dim(map, i, which));
  for (uint32_t i = 1; i < map->rank; i++) MXQ_TRY(check_stride(map, i, which));
  return check_box(map, which);
}
