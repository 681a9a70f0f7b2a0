/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "fake.h"
#include "fault.h"
#include "fake_setting.h"

static struct CUctx_st primaries[fake_devices_max] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
static _Thread_local CUcontext stack[16];
static _Thread_local int depth;

CUcontext fake_current(void) { return depth ? stack[depth - 1] : NULL; }

CUcontext fake_context_create(int device) {
  CUcontext context = malloc(sizeof *context);
  if (context) context->device = device;
  return context;
}
int fake_context_depth(void) { return depth; }

CUresult cuInit(unsigned flags) { return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int *version) { return *version = fake_driver_version(), CUDA_SUCCESS; }

CUresult cuGetErrorName(CUresult error, const char **text) {
  static _Thread_local char name[32];
  snprintf(name, sizeof name, "FAKE_ERROR_%d", (int)error);
  return *text = name, CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char **text) {
  (void)error;
  return *text = "an error of the fake driver", CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) { return *count = fake_device_count(), CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  if (ordinal < 0 || ordinal >= fake_device_count()) return CUDA_ERROR_INVALID_DEVICE;
  return *device = ordinal, CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
  snprintf(name, (size_t)size, "fake device %d", device);
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
  (void)device;
  return *bytes = (size_t)1 << 34, CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  const int capability = fake_device_capability(device);
  *value = 0;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) *value = capability / 10;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) *value = capability % 10;
  if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
    *value = (int)fake_number("FAKE_CUDA", "multiprocessors", 4);
  if (attribute == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)
    *value = (int)fake_number("FAKE_CUDA", "l2", 1 << 20);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  return *context = &primaries[device], CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext *context) { return *context = fake_current(), CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice *device) {
  if (!fake_current()) return CUDA_ERROR_INVALID_CONTEXT;
  return *device = fake_current()->device, CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  if (depth == 16) return CUDA_ERROR_UNKNOWN;
  return stack[depth++] = context, CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext *context) {
  if (!depth) return CUDA_ERROR_INVALID_CONTEXT;
  return *context = stack[--depth], CUDA_SUCCESS;
}
CUresult cuCtxSynchronize(void) {
  return fake_current() ? fake_sticky() : CUDA_ERROR_INVALID_CONTEXT;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void fake_lock(void) { pthread_mutex_lock(&lock); }
void fake_unlock(void) { pthread_mutex_unlock(&lock); }

static struct {
  CUdeviceptr begin, end;
  int device;
} allocations[4096];

int fake_device_of(CUdeviceptr address) {
  int device = -1;
  fake_lock();
  for (size_t i = 0; i < sizeof allocations / sizeof allocations[0]; i++)
    if (address >= allocations[i].begin && address < allocations[i].end)
      device = allocations[i].device;
  fake_unlock();
  return device;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  size_t i = 0;
  void *memory = fake_current() ? aligned_alloc(512, (bytes + 511) / 512 * 512) : NULL;
  if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = (CUdeviceptr)memory;
  fake_lock();
  while (i < 4096 && allocations[i].end) i++;
  if (i < 4096) {
    allocations[i].begin = *address;
    allocations[i].end = *address + bytes;
    allocations[i].device = fake_current()->device;
  }
  fake_unlock();
  if (i == 4096) free(memory);
  return i < 4096 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemFree(CUdeviceptr address) {
  fake_lock();
  for (size_t i = 0; i < 4096; i++)
    if (allocations[i].begin == address) memset(&allocations[i], 0, sizeof allocations[i]);
  fake_unlock();
  free((void *)address);
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **values,
                                CUdeviceptr address) {
  const int device = fake_device_of(address);
  for (unsigned i = 0; i < count; i++) {
    if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
      *(unsigned *)values[i] = device >= 0 ? CU_MEMORYTYPE_DEVICE : 0;
    else if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
      *(int *)values[i] = device >= 0 ? device : -2;
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}
