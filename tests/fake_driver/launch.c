/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "axes.h"
#include "control.h"
#include "cpu.h"
#include "fake.h"
#include "fault.h"
#include "job.h"
#include "schedule.h"

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *base, const cuuint64_t *dims, const cuuint64_t *strides,
                                const cuuint32_t *box, const cuuint32_t *steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  struct fake_map made = {
      .base = (CUdeviceptr)base, .type = type, .rank = rank, .swizzle = swizzle};
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

/* Whether the current device can run an image: the fake NVRTC notes its arch in the ELF header's
 * flags, 0x10000 for a suffix, and no version, which real cubins have: theirs tell nothing. */
static int can_run(const void *code) {
  Elf64_Ehdr header;
  memcpy(&header, code, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_version || !header.e_flags ||
      !fake_current())
    return 1;
  const unsigned number = header.e_flags & 0xFFFF;
  const unsigned device = (unsigned)fake_device_capability(fake_current()->device);
  if (header.e_flags & 0x10000) return number == device;
  return number / 10 == device / 10 && number <= device;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options,
                           void **values, unsigned count, CUlibraryOption *library_options,
                           void **library_values, unsigned library_count) {
  (void)options, (void)values, (void)library_options, (void)library_values;
  if (!code || count || library_count) return CUDA_ERROR_INVALID_VALUE;
  if (!can_run(code)) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  *library = malloc(1);
  return *library ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuLibraryUnload(CUlibrary library) { return free(library), CUDA_SUCCESS; }
CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *symbol) {
  static struct CUkern_st kernels[16384];
  (void)library;
  *kernel = NULL;
  fake_lock();
  for (size_t i = 0; !*kernel && i < sizeof kernels / sizeof kernels[0]; i++) {
    if (!kernels[i].symbol[0]) snprintf(kernels[i].symbol, sizeof kernels[i].symbol, "%s", symbol);
    if (!strcmp(kernels[i].symbol, symbol)) *kernel = &kernels[i];
  }
  fake_unlock();
  return *kernel ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
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
static const char *family_in(const char *symbol) {
  static const char *const families[] = {"_tma_", "_any_", "_relayout_"};
  const char *found = NULL;
  for (size_t i = 0; !found && i < sizeof families / sizeof families[0]; i++)
    found = strstr(symbol, families[i]);
  return found;
}

static int kernel_of(const char *symbol, struct mxq_kernel_id *id) {
  char name[MXQ_VARIANT_NAME_SIZE] = "";
  const char *end = family_in(symbol);
  if (!end || (size_t)(end - symbol) >= sizeof name) return 0;
  memcpy(name, symbol, (size_t)(end - symbol));
  memset(id, 0, sizeof *id);
  id->family = end[1] == 't'   ? MXQ_FAMILY_TMA
               : end[1] == 'a' ? MXQ_FAMILY_ANY
                               : MXQ_FAMILY_RELAYOUT;
  id->path = strstr(end, "_direct") ? MXQ_PATH_DIRECT : MXQ_PATH_USUAL;
  return mxq_variant_parse(name, &id->variant) == MXQ_OK;
}

static int64_t elements(const struct fake_job *job, uint64_t bytes) {
  return (int64_t)(bytes * 8 / mxq_type_facts(job->variant.in)->bits);
}

/* Whether the map of a part's output says what the CPU path takes for granted: dense, in the part's
 * order. */
static int is_dense(const struct fake_job *job, const struct fake_map *out, unsigned part) {
  const unsigned packed = 8 / mxq_type_facts(job->variant.out)->bits;
  const int turned = (mxq_layout_part(job->variant.layout, part) & MXQ_PART_COLUMN_MAJOR) != 0;
  const uint64_t n = (uint64_t)job->shape.n, k = (uint64_t)job->shape.k;
  const uint64_t inner = (turned ? n : k) / packed, outer = turned ? k : n;
  return out->dims[0] == inner && out->dims[1] == outer &&
         out->dims[2] == (cuuint64_t)job->shape.e && (outer < 2 || out->strides[0] == inner) &&
         (out->dims[2] < 2 || out->strides[1] == inner * outer) &&
         out->type == CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

/* Kernels call the second of two parts the main one. */
static unsigned main_part(const struct fake_job *job) {
  return mxq_layout_part(job->variant.layout, 1) != MXQ_PART_NONE;
}

static CUresult job_of_tiles(const struct mxq_tma_args *args, struct fake_job *job) {
  const unsigned part = main_part(job);
  struct fake_map in, out, also;
  memcpy(&in, &args->in, sizeof in);
  memcpy(&out, &args->out, sizeof out);
  memcpy(&also, &args->also, sizeof also);
  job->shape = (struct mxq_shape){(int64_t)in.dims[2], args->n, args->k,
                                  elements(job, in.strides[1]), elements(job, in.strides[0])};
  job->pointers = (struct mxq_pointers){.in = (const void *)in.base};
  if (part) job->pointers.out[0] = (void *)also.base;
  if (part) job->pointers.scale[0] = args->also_scale.to;
  job->pointers.out[part] = (void *)out.base;
  job->pointers.scale[part] = args->scale.to;
  const int right = in.dims[0] == args->k && in.dims[1] == args->n && is_dense(job, &out, part) &&
                    (!part || is_dense(job, &also, 0));
  return right ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED;
}

static CUresult job_of_rows(const struct mxq_vector_args *args, unsigned grid,
                            struct fake_job *job) {
  const uint64_t tiles = (uint64_t)args->tiles_n.value * args->tiles_k.value;
  job->shape =
      (struct mxq_shape){(int64_t)(grid / tiles), args->n, args->k,
                         elements(job, args->stride_e_bytes), elements(job, args->stride_n_bytes)};
  job->pointers = (struct mxq_pointers){args->in, NULL, {args->out, NULL}, {args->scale.to, NULL}};
  return grid % tiles == 0 ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED;
}

static CUresult job_of_elements(const struct mxq_any_args *args, struct fake_job *job) {
  job->shape = (struct mxq_shape){
      (int64_t)(args->tiles / (args->tiles_n * args->tiles_k)), (int64_t)args->n, (int64_t)args->k,
      elements(job, args->stride_e_bytes), elements(job, args->stride_n_bytes)};
  const unsigned part = main_part(job);
  job->pointers = (struct mxq_pointers){.in = args->in};
  if (part) job->pointers.out[0] = args->also;
  if (part) job->pointers.scale[0] = args->also_scale.to;
  job->pointers.out[part] = args->out;
  job->pointers.scale[part] = args->scale.to;
  return CUDA_SUCCESS;
}

static CUresult compute(const struct fake_operation *operation) {
  struct mxq_kernel_id id;
  struct fake_job job;
  const void *arguments = operation->arguments;
  if (!kernel_of(operation->kernel->symbol, &id)) return CUDA_ERROR_INVALID_VALUE;
  job.variant = id.variant;
  if (fake_fault_before(operation->kernel->symbol)) return fake_sticky();
  if (id.family == MXQ_FAMILY_RELAYOUT)
    return fake_move_scales(operation->kernel->symbol, &id, arguments), CUDA_SUCCESS;
  if (id.variant.op == MXQ_OP_DEQUANTIZE) {
    if (!fake_job_of_dequantize(&id, arguments, operation->grid, &job))
      return CUDA_ERROR_LAUNCH_FAILED;
    mxq_cpu_run(&job.variant, &job.shape, &job.pointers);
    fake_fault_after(operation->kernel->symbol, &job);
    return CUDA_SUCCESS;
  }
  const enum mxq_form form = mxq_form_facts(&id)->form;
  const CUresult result = form == MXQ_FORM_TILE ? job_of_tiles(arguments, &job)
                          : form == MXQ_FORM_ROW || form == MXQ_FORM_STRIP
                              ? job_of_rows(arguments, operation->grid, &job)
                              : job_of_elements(arguments, &job);
  if (result != CUDA_SUCCESS) return result;
  mxq_cpu_run(&job.variant, &job.shape, &job.pointers);
  fake_fault_after(operation->kernel->symbol, &job);
  return CUDA_SUCCESS;
}

CUresult fake_do(const struct fake_operation *operation) {
  if (!operation->kernel)
    return memcpy((void *)operation->to, (const void *)operation->from, operation->bytes),
           CUDA_SUCCESS;
  if (family_in(operation->kernel->symbol)) return compute(operation);
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
  operation.grid = config->gridDimX;
  struct mxq_kernel_id id;
  if (kernel_of(operation.kernel->symbol, &id)) {
    const size_t sizes[] = {[MXQ_FORM_TILE] = sizeof(struct mxq_tma_args),
                            [MXQ_FORM_ROW] = sizeof(struct mxq_vector_args),
                            [MXQ_FORM_STRIP] = sizeof(struct mxq_vector_args),
                            [MXQ_FORM_ANY] = sizeof(struct mxq_any_args),
                            [MXQ_FORM_ANY_ROW] = sizeof(struct mxq_any_args),
                            [MXQ_FORM_DEQUANT_TILE] = sizeof(struct mxq_dequant_tile_args),
                            [MXQ_FORM_DEQUANT_ROW] = sizeof(struct mxq_dequant_row_args),
                            [MXQ_FORM_DEQUANT_ANY] = sizeof(struct mxq_dequant_any_args),
                            [MXQ_FORM_RELAYOUT] = sizeof(struct mxq_relayout_launch)};
    memcpy(operation.arguments, parameters[0], sizes[mxq_form_facts(&id)->form]);
  }
  return fake_enqueue(config->hStream, &operation);
}
