/* SPDX-License-Identifier: MIT */
#include "device.h"

#include "driver.h"

enum mxq_status mxq_device_count(int *count) {
  const struct mxq_driver *driver = NULL;
  MXQ_TRY(mxq_driver_get(&driver));
  *count = driver->device_count;
  return MXQ_OK;
}

enum mxq_status mxq_device_describe(int device, struct mxq_device_info *info) {
  const struct mxq_driver *driver = NULL;
  struct mxq_device_info found = {.ordinal = device};
  CUdevice handle = 0;
  size_t bytes = 0;
  int multiprocessors = 0, l2_bytes = 0;
  MXQ_TRY(mxq_driver_get(&driver));
  MXQ_TRY(mxq_driver_device(driver, device, &handle));
  const struct {
    int *value;
    CUdevice_attribute attribute;
  } rows[] = {{&found.major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
              {&found.minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
              {&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
              {&l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
    MXQ_CUDA_TRY(driver, cuDeviceGetAttribute(rows[i].value, rows[i].attribute, handle));
  MXQ_CUDA_TRY(driver, cuDeviceGetName(found.name, (int)sizeof found.name, handle));
  MXQ_CUDA_TRY(driver, cuDeviceTotalMem(&bytes, handle));
  found.name[sizeof found.name - 1] = 0;
  found.multiprocessors = (unsigned)multiprocessors;
  found.memory_bytes = bytes;
  found.l2_bytes = (uint64_t)l2_bytes;
  found.driver_version = driver->version;
  *info = found;
  return MXQ_OK;
}

/* Opens the driver and enters the device: what every function below begins with. */
static enum mxq_status enter(int device, struct mxq_device_scope *scope) {
  const struct mxq_driver *driver = NULL;
  MXQ_TRY(mxq_driver_get(&driver));
  return mxq_device_enter(driver, device, scope);
}

static enum mxq_status leave(const struct mxq_device_scope *scope, CUresult result,
                             const char *call) {
  mxq_device_leave(scope);
  return result == CUDA_SUCCESS ? MXQ_OK : mxq_driver_fail(scope->driver, result, call);
}

/* Runs one driver call inside the device and returns its status. */
#define IN_DEVICE(device, call)                           \
  do {                                                    \
    struct mxq_device_scope scope;                        \
    MXQ_TRY(enter((device), &scope));                     \
    const CUresult in_device_result = scope.driver->call; \
    return leave(&scope, in_device_result, #call);        \
  } while (0)

static enum mxq_status free_memory(int device, CUdeviceptr address) {
  IN_DEVICE(device, cuMemFree(address));
}
static enum mxq_status destroy_stream(int device, CUstream stream) {
  IN_DEVICE(device, cuStreamDestroy(stream));
}

static enum mxq_status allocate(int device, size_t bytes, CUdeviceptr *address) {
  IN_DEVICE(device, cuMemAlloc(address, bytes ? bytes : 1));
}

enum mxq_status mxq_device_allocate(int device, size_t bytes, void **pointer) {
  CUdeviceptr address = 0;
  MXQ_TRY(allocate(device, bytes, &address));
  *pointer = (void *)(uintptr_t)address;
  return MXQ_OK;
}

void mxq_device_free(int device, void *pointer) {
  if (pointer) (void)free_memory(device, (uintptr_t)pointer);
}

static enum mxq_status copy_to(int device, CUdeviceptr to, const void *from, size_t bytes) {
  IN_DEVICE(device, cuMemcpyHtoD(to, from, bytes));
}
static enum mxq_status fill(int device, CUdeviceptr to, unsigned char value, size_t bytes) {
  IN_DEVICE(device, cuMemsetD8(to, value, bytes));
}

/* Copies and fills run in the default stream and may return early; streams of ours do not wait for
 * that one. */
enum mxq_status mxq_device_upload(int device, void *to, const void *from, size_t bytes) {
  if (bytes == 0) return MXQ_OK;
  MXQ_TRY(copy_to(device, (uintptr_t)to, from, bytes));
  return mxq_device_stream_synchronize(device, NULL);
}

enum mxq_status mxq_device_download(int device, void *to, const void *from, size_t bytes) {
  if (bytes == 0) return MXQ_OK;
  IN_DEVICE(device, cuMemcpyDtoH(to, (uintptr_t)from, bytes));
}

enum mxq_status mxq_device_fill(int device, void *to, unsigned char value, size_t bytes) {
  if (bytes == 0) return MXQ_OK;
  MXQ_TRY(fill(device, (uintptr_t)to, value, bytes));
  return mxq_device_stream_synchronize(device, NULL);
}

enum mxq_status mxq_device_synchronize(int device) { IN_DEVICE(device, cuCtxSynchronize()); }

enum mxq_status mxq_device_stream_create(int device, mxq_stream *stream) {
  IN_DEVICE(device, cuStreamCreate(stream, CU_STREAM_NON_BLOCKING));
}

void mxq_device_stream_destroy(int device, mxq_stream stream) {
  if (stream) (void)destroy_stream(device, stream);
}

enum mxq_status mxq_device_stream_synchronize(int device, mxq_stream stream) {
  IN_DEVICE(device, cuStreamSynchronize(stream));
}
