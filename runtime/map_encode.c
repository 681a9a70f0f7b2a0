/* SPDX-License-Identifier: MIT */
#include "map_encode.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(struct mxq_tensor_map) == sizeof(CUtensorMap), "args.h copies its size");
_Static_assert(_Alignof(struct mxq_tensor_map) >= _Alignof(CUtensorMap), "and its alignment");

/* Unsigned integers for floats too: the engine moves bits and fills with zeros, and no float type's
 * rules for subnormals or NaN can ever apply. */
static const CUtensorMapDataType types[] = {[MXQ_MAP_U8] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
                                            [MXQ_MAP_U16] = CU_TENSOR_MAP_DATA_TYPE_UINT16,
                                            [MXQ_MAP_F32] = CU_TENSOR_MAP_DATA_TYPE_UINT32};
static const CUtensorMapSwizzle swizzles[] = {[MXQ_MAP_SWIZZLE_NONE] = CU_TENSOR_MAP_SWIZZLE_NONE,
                                              [MXQ_MAP_SWIZZLE_32B] = CU_TENSOR_MAP_SWIZZLE_32B,
                                              [MXQ_MAP_SWIZZLE_64B] = CU_TENSOR_MAP_SWIZZLE_64B,
                                              [MXQ_MAP_SWIZZLE_128B] = CU_TENSOR_MAP_SWIZZLE_128B};

static enum mxq_status refuse(const struct mxq_driver *driver, CUresult result,
                              const struct mxq_map_plan *plan, const void *base,
                              const char *which) {
  char text[64], list[320];
  int used = snprintf(list, sizeof list, "dimensions");
  for (uint32_t i = 0; i < plan->rank; i++)
    used += snprintf(list + used, sizeof list - (size_t)used, " %" PRIu64, plan->dims[i]);
  used += snprintf(list + used, sizeof list - (size_t)used, ", strides in bytes");
  for (uint32_t i = 0; i + 1 < plan->rank; i++)
    used += snprintf(list + used, sizeof list - (size_t)used, " %" PRIu64, plan->strides_bytes[i]);
  used += snprintf(list + used, sizeof list - (size_t)used, ", box");
  for (uint32_t i = 0; i < plan->rank; i++)
    used += snprintf(list + used, sizeof list - (size_t)used, " %" PRIu32, plan->box[i]);
  MXQ_FAIL(MXQ_DRIVER_ERROR, "cuTensorMapEncodeTiled: %s for the %s at %p: type %d, swizzle %d, %s",
           mxq_driver_result(driver, result, text), which, base, (int)types[plan->element],
           (int)swizzles[plan->swizzle], list);
}

enum mxq_status mxq_map_encode(const struct mxq_driver *driver, const struct mxq_map_plan *plan,
                               const void *base, const char *which, struct mxq_tensor_map *map) {
  const cuuint32_t element_strides[5] = {1, 1, 1, 1, 1};
  cuuint64_t dims[5], strides[4];
  CUtensorMap encoded;
  memset(&encoded, 0, sizeof encoded);
  for (uint32_t i = 0; i < plan->rank; i++) dims[i] = plan->dims[i];
  for (uint32_t i = 0; i + 1 < plan->rank; i++) strides[i] = plan->strides_bytes[i];
  const CUresult result = driver->cuTensorMapEncodeTiled(
      &encoded, types[plan->element], plan->rank, (void *)(uintptr_t)base, dims, strides, plan->box,
      element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzles[plan->swizzle],
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) return refuse(driver, result, plan, base, which);
  memcpy(map, &encoded, sizeof *map);
  return MXQ_OK;
}

enum mxq_status mxq_map_move(const struct mxq_driver *driver, const void *base,
                             struct mxq_tensor_map *map) {
  MXQ_CUDA_TRY(driver, cuTensorMapReplaceAddress((CUtensorMap *)map, (void *)(uintptr_t)base));
  return MXQ_OK;
}
