/* SPDX-License-Identifier: MIT */
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY     "libcuda.so.1"
#define OLDEST      "12.0"
#define DEVICES_MAX 128

struct entry {
  const char *name;
  int abi;
  int needed;
  size_t offset; /* of the member */
};

static const struct entry entries[] = {
#define NEED(name, abi) {#name, abi, 1, offsetof(struct mxq_driver, name)},
#define HAVE(name, abi) {#name, abi, 0, offsetof(struct mxq_driver, name)},
    MXQ_DRIVER_TABLE(NEED, HAVE)
#undef NEED
#undef HAVE
};

atomic_int mxq_driver_forked_flag;

static struct mxq_driver opened;
static _Atomic(const struct mxq_driver *) ready; /* &opened, once it is whole */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int touched; /* the driver was started in this process, or is being started */
static atomic_int known_version;
static _Atomic(CUcontext) primaries[DEVICES_MAX];

static void mark_child(void) {
  if (atomic_load(&touched)) atomic_store(&mxq_driver_forked_flag, 1);
}
static void watch_forks(void) { pthread_atfork(NULL, NULL, mark_child); }

enum mxq_status mxq_driver_forked(void) {
  MXQ_FAIL(MXQ_FORKED,
           "this process is the child of a fork that followed the first use of the CUDA driver, "
           "which does not survive a fork; start workers before using a device, or with exec "
           "(Python: the \"spawn\" start method). Names, sources and the CPU path work here");
}

/* A data pointer as a function pointer, which ISO C has no cast for. */
static void set_pointer(void *member, void *address) { memcpy(member, &address, sizeof address); }

static int ask_version(void *library) {
  PFN_cuDriverGetVersion_v2020 get_version = NULL;
  int version = 0;
  set_pointer(&get_version, dlsym(library, "cuDriverGetVersion"));
  if (!get_version || get_version(&version) != CUDA_SUCCESS) return 0;
  return version;
}

static enum mxq_status find_entries(void *library, struct mxq_driver *driver) {
  const int major = driver->version / 1000, minor = driver->version % 1000 / 10;
  PFN_cuGetProcAddress_v12000 get = NULL;
  set_pointer(&get, dlsym(library, "cuGetProcAddress_v2"));
  MXQ_FAIL_IF(!get, MXQ_NO_DRIVER,
              LIBRARY
              " is of a driver for CUDA %d.%d and has no cuGetProcAddress_v2; needed is a "
              "driver for CUDA " OLDEST " or newer: install one",
              major, minor);
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; ++i) {
    const struct entry *entry = &entries[i];
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    void *address = NULL;
    const CUresult result =
        get(entry->name, &address, entry->abi, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found);
    if (result != CUDA_SUCCESS || found != CU_GET_PROC_ADDRESS_SUCCESS) address = NULL;
    MXQ_FAIL_IF(!address && entry->needed, MXQ_NO_DRIVER,
                LIBRARY
                " is of a driver for CUDA %d.%d and has no %s of ABI %d.%d (result %d, "
                "query %d); needed is a driver for CUDA " OLDEST " or newer: install one",
                major, minor, entry->name, entry->abi / 1000, entry->abi % 1000 / 10, (int)result,
                (int)found);
    set_pointer((char *)driver + entry->offset, address);
  }
  return MXQ_OK;
}

static enum mxq_status start(struct mxq_driver *driver) {
  char code[64];
  CUresult result = driver->cuInit(0);
  if (result == CUDA_ERROR_NO_DEVICE) return MXQ_OK;
  if (result == CUDA_SUCCESS) result = driver->cuDeviceGetCount(&driver->device_count);
  MXQ_FAIL_IF(result != CUDA_SUCCESS, MXQ_NO_DRIVER,
              LIBRARY
              " was found (a driver for CUDA %d.%d) but does not start: %s; see whether "
              "nvidia-smi works for this user on this machine",
              driver->version / 1000, driver->version % 1000 / 10,
              mxq_driver_result(driver, result, code));
  if (driver->device_count > DEVICES_MAX) driver->device_count = DEVICES_MAX;
  return MXQ_OK;
}

static enum mxq_status open_driver(void) {
  struct mxq_driver driver = {.device_count = 0};
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  MXQ_FAIL_IF(!library, MXQ_NO_DRIVER,
              "the CUDA driver's library could not be opened (%s): install NVIDIA's driver, or in "
              "a container pass the GPUs in; MXQ_DEVICE_CPU needs no driver",
              dlerror());
  driver.version = ask_version(library);
  MXQ_TRY(find_entries(library, &driver));
  MXQ_TRY(start(&driver));
  opened = driver;
  atomic_store_explicit(&ready, &opened, memory_order_release);
  return MXQ_OK;
}

enum mxq_status mxq_driver_get(const struct mxq_driver **driver) {
  enum mxq_status status = MXQ_OK;
  if (mxq_driver_is_forked()) return mxq_driver_forked();
  const struct mxq_driver *found = atomic_load_explicit(&ready, memory_order_acquire);
  if (!found) {
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&opening);
    atomic_store(&touched, 1);
    if (!atomic_load(&ready)) status = open_driver();
    if (status != MXQ_OK) atomic_store(&touched, 0);
    pthread_mutex_unlock(&opening);
    MXQ_TRY(status);
    found = &opened;
  }
  *driver = found;
  return MXQ_OK;
}

int mxq_driver_version(void) {
  int version = atomic_load(&known_version);
  if (version) return version;
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) return 0;
  version = ask_version(library);
  atomic_store(&known_version, version);
  return version;
}

const char *mxq_driver_result(const struct mxq_driver *driver, CUresult result, char text[64]) {
  const char *name = NULL;
  if (driver->cuGetErrorName(result, &name) != CUDA_SUCCESS || !name) name = "unknown CUDA error";
  snprintf(text, 64, "%s (%d)", name, (int)result);
  return text;
}

enum mxq_status mxq_driver_fail(const struct mxq_driver *driver, CUresult result,
                                const char *call) {
  char code[64];
  const char *meaning = NULL;
  if (mxq_driver_is_forked()) return mxq_driver_forked();
  if (driver->cuGetErrorString(result, &meaning) != CUDA_SUCCESS || !meaning) meaning = "";
  MXQ_FAIL(result == CUDA_ERROR_OUT_OF_MEMORY ? MXQ_OUT_OF_MEMORY : MXQ_DRIVER_ERROR,
           "%.*s: %s%s%s", (int)strcspn(call, "("), call, mxq_driver_result(driver, result, code),
           *meaning ? ": " : "", meaning);
}

enum mxq_status mxq_driver_device(const struct mxq_driver *driver, int ordinal, CUdevice *device) {
  if (mxq_driver_is_forked()) return mxq_driver_forked();
  MXQ_FAIL_IF(driver->device_count == 0, MXQ_NO_DEVICE,
              "there is no device %d: the driver (CUDA %d.%d) sees no GPU; see nvidia-smi and "
              "CUDA_VISIBLE_DEVICES",
              ordinal, driver->version / 1000, driver->version % 1000 / 10);
  MXQ_FAIL_IF(ordinal < 0 || ordinal >= driver->device_count, MXQ_NO_DEVICE,
              "there is no device %d; the driver sees 0 to %d", ordinal, driver->device_count - 1);
  MXQ_CUDA_TRY(driver, cuDeviceGet(device, ordinal));
  return MXQ_OK;
}

/* Retained once in the process and never given back: others may hold what lives in it, and no
 * driver call may happen at exit. */
static enum mxq_status primary_of(const struct mxq_driver *driver, int ordinal, CUdevice device,
                                  CUcontext *primary) {
  enum mxq_status status = MXQ_OK;
  *primary = atomic_load_explicit(&primaries[ordinal], memory_order_acquire);
  if (*primary) return MXQ_OK;
  pthread_mutex_lock(&opening);
  *primary = atomic_load(&primaries[ordinal]);
  if (!*primary) {
    const CUresult result = driver->cuDevicePrimaryCtxRetain(primary, device);
    if (result != CUDA_SUCCESS)
      status = mxq_driver_fail(driver, result, "cuDevicePrimaryCtxRetain");
    if (result == CUDA_SUCCESS) atomic_store(&primaries[ordinal], *primary);
  }
  pthread_mutex_unlock(&opening);
  return status;
}

enum mxq_status mxq_device_enter(const struct mxq_driver *driver, int ordinal,
                                 struct mxq_device_scope *scope) {
  CUcontext current = NULL, primary = NULL;
  CUdevice device = 0, current_device = 0;
  if (mxq_driver_is_forked()) return mxq_driver_forked();
  MXQ_TRY(mxq_driver_device(driver, ordinal, &device));
  MXQ_CUDA_TRY(driver, cuCtxGetCurrent(&current));
  scope->driver = driver;
  scope->pushed = 0;
  if (current && driver->cuCtxGetDevice(&current_device) == CUDA_SUCCESS &&
      current_device == device)
    return MXQ_OK;
  MXQ_TRY(primary_of(driver, ordinal, device, &primary));
  MXQ_CUDA_TRY(driver, cuCtxPushCurrent(primary));
  scope->pushed = 1;
  return MXQ_OK;
}

void mxq_device_leave(const struct mxq_device_scope *scope) {
  CUcontext popped = NULL;
  if (scope->pushed) scope->driver->cuCtxPopCurrent(&popped);
}
