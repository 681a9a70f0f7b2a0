/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cpu.h"
#include "fake.h"

/* What a map of the fake driver holds. */
struct map {
  CUdeviceptr base;
  cuuint64_t dims[3], strides[2];
  cuuint32_t type, rank, swizzle;
};

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *base, const cuuint64_t *dims, const cuuint64_t *strides,
                                const cuuint32_t *box, const cuuint32_t *steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  struct map made = {.base = (CUdeviceptr)base, .type = type, .rank = rank, .swizzle = swizzle};
  (void)promotion;
  if (!fake_current()) return CUDA_ERROR_INVALID_CONTEXT;
  if (rank != 3 || made.base % 16 || interleave || fill || (uintptr_t)map % 64)
    return CUDA_ERROR_INVALID_VALUE;
  for (int i = 0; i < 3; i++) {
    if (dims[i] == 0 || dims[i] > UINT64_C(1) << 32 || box[i] == 0 || box[i] > 256 || steps[i] != 1)
      return CUDA_ERROR_INVALID_VALUE;
    made.dims[i] = dims[i];
  }
  for (int i = 0; i < 2; i++) {
    if (strides[i] % 16 || strides[i] >> 40) return CUDA_ERROR_INVALID_VALUE;
    made.strides[i] = strides[i];
  }
  memset(map, 0, sizeof *map);
  memcpy(map, &made, sizeof made);
  return CUDA_SUCCESS;
}
CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *base) {
  if (!fake_current()) return CUDA_ERROR_INVALID_CONTEXT; /* as the real one does */
  if ((uintptr_t)base % 16) return CUDA_ERROR_INVALID_VALUE;
  memcpy(map, &base, sizeof base);
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options,
                           void **values, unsigned count, CUlibraryOption *library_options,
                           void **library_values, unsigned library_count) {
  (void)options, (void)values, (void)library_options, (void)library_values;
  if (!code || count || library_count) return CUDA_ERROR_INVALID_VALUE;
  *library = malloc(1);
  return *library ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuLibraryUnload(CUlibrary library) { return free(library), CUDA_SUCCESS; }
CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *symbol) {
  static struct CUkern_st kernels[512];
  (void)library;
  for (size_t i = 0; i < 512; i++) {
    if (!kernels[i].symbol[0]) snprintf(kernels[i].symbol, sizeof kernels[i].symbol, "%s", symbol);
    if (!strcmp(kernels[i].symbol, symbol)) return *kernel = &kernels[i], CUDA_SUCCESS;
  }
  return CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  return *function = (CUfunction)kernel, CUDA_SUCCESS;
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device) {
  (void)attribute, (void)value, (void)kernel, (void)device;
  return CUDA_SUCCESS;
}
CUresult cuFuncLoad(CUfunction function) {
  return function && fake_current() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  (void)attribute, (void)function;
  return *value = 0, CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t shared_bytes) {
  (void)function, (void)threads, (void)shared_bytes;
  return *blocks = 1, CUDA_SUCCESS;
}

/* The variant's name is the part of the symbol before the family. */
static int variant_of(const char *symbol, struct mxq_variant *variant) {
  char name[MXQ_VARIANT_NAME_SIZE] = "";
  const char *end = strstr(symbol, "_tma_");
  if (!end || (size_t)(end - symbol) >= sizeof name) return 0;
  memcpy(name, symbol, (size_t)(end - symbol));
  return mxq_variant_parse(name, variant) == MXQ_OK;
}

static CUresult quantize(const char *symbol, const struct mxq_tma_args *args) {
  struct mxq_variant variant;
  struct map in, out;
  memcpy(&in, &args->in, sizeof in);
  memcpy(&out, &args->out, sizeof out);
  if (!variant_of(symbol, &variant)) return CUDA_ERROR_INVALID_VALUE;
  const int64_t bytes = in.type == CU_TENSOR_MAP_DATA_TYPE_UINT16 ? 2 : 4;
  const struct mxq_shape shape = {(int64_t)in.dims[2], args->n, args->k,
                                  (int64_t)in.strides[1] / bytes, (int64_t)in.strides[0] / bytes};
  const struct mxq_pointers pointers = {
      (const void *)in.base, {(void *)out.base, NULL}, {args->scale, NULL}};
  /* The output map has to say what the CPU path takes for granted: dense and column-major. */
  if (in.dims[0] != args->k || in.dims[1] != args->n || out.dims[0] != args->n ||
      out.dims[1] != args->k || out.dims[2] != in.dims[2] ||
      (args->k > 1 && out.strides[0] != args->n) ||
      (out.dims[2] > 1 && out.strides[1] != (cuuint64_t)args->n * args->k) ||
      out.type != CU_TENSOR_MAP_DATA_TYPE_UINT8)
    return CUDA_ERROR_LAUNCH_FAILED;
  mxq_cpu_run(&variant, &shape, &pointers);
  return CUDA_SUCCESS;
}

CUresult fake_do(const struct fake_operation *operation) {
  if (!operation->kernel)
    return memcpy((void *)operation->to, (const void *)operation->from, operation->bytes),
           CUDA_SUCCESS;
  if (strstr(operation->kernel->symbol, "_tma_"))
    return quantize(operation->kernel->symbol, (const void *)operation->arguments);
  return CUDA_SUCCESS; /* a kernel of somebody else */
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                          void **extra) {
  struct fake_operation operation = {.kernel = (CUkernel)function};
  if (!fake_current()) return CUDA_ERROR_INVALID_CONTEXT;
  if (extra || !config->gridDimX || !config->blockDimX || config->numAttrs)
    return CUDA_ERROR_INVALID_VALUE;
  if (config->hStream && config->hStream->context != fake_current())
    return CUDA_ERROR_INVALID_HANDLE;
  if (strstr(operation.kernel->symbol, "_tma_"))
    memcpy(operation.arguments, parameters[0], sizeof(struct mxq_tma_args));
  return fake_enqueue(config->hStream, &operation);
}
