/* SPDX-License-Identifier: MIT
 *
 * Limits of cuTensorMapEncodeTiled and cuLaunchKernelEx, as the driver's manual has them.
 */
#include <elf.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "control.h"
#include "fake.h"

#define REFUSE(...) return fake_complain(CUDA_ERROR_INVALID_VALUE, __VA_ARGS__)
#define LIMIT(condition, ...)              \
  do {                                     \
    if (!(condition)) REFUSE(__VA_ARGS__); \
  } while (0)

/* ---- Maps ---------------------------------------------------------------------------------- */

static const unsigned element_bytes[] = {
    [CU_TENSOR_MAP_DATA_TYPE_UINT8] = 1,   [CU_TENSOR_MAP_DATA_TYPE_UINT16] = 2,
    [CU_TENSOR_MAP_DATA_TYPE_UINT32] = 4,  [CU_TENSOR_MAP_DATA_TYPE_INT32] = 4,
    [CU_TENSOR_MAP_DATA_TYPE_UINT64] = 8,  [CU_TENSOR_MAP_DATA_TYPE_INT64] = 8,
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT16] = 2, [CU_TENSOR_MAP_DATA_TYPE_FLOAT32] = 4,
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT64] = 8, [CU_TENSOR_MAP_DATA_TYPE_BFLOAT16] = 2,
};
static const unsigned swizzle_bytes[] = {[CU_TENSOR_MAP_SWIZZLE_NONE] = 0,
                                         [CU_TENSOR_MAP_SWIZZLE_32B] = 32,
                                         [CU_TENSOR_MAP_SWIZZLE_64B] = 64,
                                         [CU_TENSOR_MAP_SWIZZLE_128B] = 128};

static CUresult check_box(const cuuint32_t *box, const cuuint32_t *steps, cuuint32_t rank,
                          unsigned bytes, unsigned swizzle) {
  for (cuuint32_t i = 0; i < rank; i++) {
    LIMIT(box[i] >= 1 && box[i] <= 256, "box[%u] is %u, not 1 to 256", i, box[i]);
    LIMIT(steps[i] >= 1 && steps[i] <= 8, "step[%u] is %u, not 1 to 8", i, steps[i]);
  }
  const uint64_t inner = (uint64_t)box[0] * bytes;
  LIMIT(inner % 16 == 0, "a row of the box has %llu bytes, no multiple of 16",
        (unsigned long long)inner);
  LIMIT(!swizzle || inner <= swizzle, "a row of the box has %llu bytes, more than the swizzle's %u",
        (unsigned long long)inner, swizzle);
  return CUDA_SUCCESS;
}

static CUresult check_extent(const cuuint64_t *dims, const cuuint64_t *strides, cuuint32_t rank) {
  for (cuuint32_t i = 0; i < rank; i++)
    LIMIT(dims[i] >= 1 && dims[i] <= UINT64_C(1) << 32, "dimension %u is %llu, not 1 to 2^32", i,
          (unsigned long long)dims[i]);
  for (cuuint32_t i = 0; i + 1 < rank; i++)
    LIMIT(strides[i] % 16 == 0 && strides[i] < UINT64_C(1) << 40,
          "stride %u is %llu, no multiple of 16 below 2^40", i, (unsigned long long)strides[i]);
  return CUDA_SUCCESS;
}

CUresult fake_check_encode(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                           const void *base, const cuuint64_t *dims, const cuuint64_t *strides,
                           const cuuint32_t *box, const cuuint32_t *steps,
                           CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle) {
  static const unsigned char zeros[sizeof(CUtensorMap)];
  LIMIT((uintptr_t)map % _Alignof(CUtensorMap) == 0, "the map's address is not aligned");
  LIMIT(!memcmp(map, zeros, sizeof zeros), "the map was not zeroed first");
  LIMIT(rank >= 1 && rank <= 5 && (!interleave || rank >= 3), "the rank is %u", rank);
  LIMIT((size_t)type < sizeof element_bytes / sizeof *element_bytes && element_bytes[type],
        "the type is %d", (int)type);
  LIMIT((size_t)swizzle < sizeof swizzle_bytes / sizeof *swizzle_bytes, "the swizzle is %d",
        (int)swizzle);
  LIMIT((uintptr_t)base % (interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16) == 0,
        "the base is not aligned");
  LIMIT(fake_device_of((CUdeviceptr)base) >= 0, "the base is no device memory");
  const CUresult result = check_extent(dims, strides, rank);
  if (result != CUDA_SUCCESS) return result;
  return check_box(box, steps, rank, element_bytes[type], swizzle_bytes[swizzle]);
}

/* ---- Launches ------------------------------------------------------------------------------ */

enum { allowed_max = 16384 };

static struct {
  CUkernel kernel;
  CUdevice device;
  int bytes;
} allowed[allowed_max];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void fake_allow_shared(CUkernel kernel, CUdevice device, int bytes) {
  size_t i = 0;
  pthread_mutex_lock(&lock);
  while (i < allowed_max - 1 && allowed[i].kernel &&
         (allowed[i].kernel != kernel || allowed[i].device != device))
    i++;
  allowed[i].kernel = kernel;
  allowed[i].device = device;
  allowed[i].bytes = bytes;
  pthread_mutex_unlock(&lock);
}

static unsigned shared_limit(CUkernel kernel, CUdevice device) {
  unsigned limit = 48u << 10;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < allowed_max && allowed[i].kernel; i++)
    if (allowed[i].kernel == kernel && allowed[i].device == device &&
        (unsigned)allowed[i].bytes > limit)
      limit = (unsigned)allowed[i].bytes;
  pthread_mutex_unlock(&lock);
  return limit;
}

CUresult fake_check_launch(const CUlaunchConfig *config, CUkernel kernel) {
  const uint64_t threads = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
  if (!fake_current()) return CUDA_ERROR_INVALID_CONTEXT;
  LIMIT(config->gridDimX >= 1 && config->gridDimX <= INT32_MAX, "grid x is %u", config->gridDimX);
  LIMIT(config->gridDimY >= 1 && config->gridDimY <= 65535, "grid y is %u", config->gridDimY);
  LIMIT(config->gridDimZ >= 1 && config->gridDimZ <= 65535, "grid z is %u", config->gridDimZ);
  LIMIT(threads >= 1 && threads <= 1024 && config->blockDimZ <= 64, "a block has %llu threads",
        (unsigned long long)threads);
  const unsigned limit = shared_limit(kernel, fake_current()->device);
  LIMIT(config->sharedMemBytes <= limit, "%u bytes of shared memory, %u were allowed",
        config->sharedMemBytes, limit);
  return CUDA_SUCCESS;
}

/* ---- Images -------------------------------------------------------------------------------- */

#define CUDA_ELF 190 /* EM_CUDA */

CUresult fake_check_image(const void *image) {
  Elf64_Ehdr header;
  if (fake_is_refused()) return fake_complain(CUDA_ERROR_NO_BINARY_FOR_GPU, "refused as asked");
  memcpy(&header, image, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_machine != CUDA_ELF ||
      header.e_shentsize != sizeof(Elf64_Shdr))
    return fake_complain(CUDA_ERROR_INVALID_IMAGE, "the image is no cubin");
  return CUDA_SUCCESS;
}
