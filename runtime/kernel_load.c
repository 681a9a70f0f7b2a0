/* SPDX-License-Identifier: MIT */
#include "kernel_load.h"

#include <string.h>

#include "context.h"

/* One kernel of a variant, handed to the driver. The library is shared by all devices of its arch;
 * the first of them owns it. */
struct mxq_loaded {
  struct mxq_loaded *next;
  struct mxq_kernel_id id;
  CUlibrary library;
  CUkernel kernel;
  int owns_library;
  _Atomic(CUcontext) context; /* the last one that its code was loaded into */
};

static struct mxq_loaded *find(const struct mxq_kernel *kernel, const struct mxq_kernel_id *id) {
  struct mxq_loaded *loaded = atomic_load_explicit(&kernel->loaded, memory_order_acquire);
  while (loaded && memcmp(&loaded->id, id, sizeof *id) != 0) loaded = loaded->next;
  return loaded;
}

/* The library of another device of the same arch; NULL if there is none. */
static CUlibrary find_library(const struct mxq_kernel *kernel, const struct mxq_kernel_id *id) {
  const struct mxq_kernel *other = mxq_kernel_first(kernel->context, &kernel->variant);
  for (; other; other = other->next) {
    if (other->arch != kernel->arch) continue;
    const struct mxq_loaded *loaded = find(other, id);
    if (loaded) return loaded->library;
  }
  return NULL;
}

/* Makes the current context hold the code, so that no launch has to load it. */
static enum mxq_status load_code(const struct mxq_driver *driver, struct mxq_loaded *loaded) {
  CUcontext current = NULL;
  CUfunction function = NULL;
  int unused = 0;
  MXQ_CUDA_TRY(driver, cuCtxGetCurrent(&current));
  if (atomic_load_explicit(&loaded->context, memory_order_acquire) == current) return MXQ_OK;
  MXQ_CUDA_TRY(driver, cuKernelGetFunction(&function, loaded->kernel));
  if (driver->cuFuncLoad)
    MXQ_CUDA_TRY(driver, cuFuncLoad(function));
  else /* asking for what only the code tells loads it too */
    MXQ_CUDA_TRY(driver, cuFuncGetAttribute(&unused, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
  atomic_store_explicit(&loaded->context, current, memory_order_release);
  return MXQ_OK;
}

static CUresult get_kernel(const struct mxq_driver *driver, const struct mxq_image *image,
                           struct mxq_loaded *loaded) {
  char symbol[MXQ_KERNEL_NAME_SIZE];
  CUresult result = CUDA_SUCCESS;
  if (mxq_kernel_id_symbol(&image->kernel, symbol, sizeof symbol) != MXQ_OK)
    return CUDA_ERROR_NOT_FOUND;
  if (!loaded->library) {
    result =
        driver->cuLibraryLoadData(&loaded->library, image->cubin, NULL, NULL, 0, NULL, NULL, 0);
    loaded->owns_library = result == CUDA_SUCCESS;
  }
  if (result == CUDA_SUCCESS)
    result = driver->cuLibraryGetKernel(&loaded->kernel, loaded->library, symbol);
  if (result != CUDA_SUCCESS && loaded->owns_library) driver->cuLibraryUnload(loaded->library);
  if (result != CUDA_SUCCESS) loaded->library = NULL, loaded->owns_library = 0;
  return result;
}

/* Library and kernel of an image; one from disk that the driver refuses is compiled once more. */
static enum mxq_status get_library(const struct mxq_kernel *kernel, const struct mxq_image *image,
                                   struct mxq_loaded *loaded) {
  const struct mxq_driver *driver = kernel->driver;
  char code[64], name[MXQ_KERNEL_NAME_SIZE] = "";
  loaded->library = find_library(kernel, &loaded->id);
  CUresult result = get_kernel(driver, image, loaded);
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY &&
      image->origin == MXQ_ORIGIN_DISK) {
    mxq_log(kernel->context, MXQ_LOG_WARNING,
            "disk cache: the driver refuses an entry (%s): compiling it once more",
            mxq_driver_result(driver, result, code));
    if (mxq_image_renew(kernel->context, &image) != MXQ_OK)
      MXQ_FAIL(MXQ_DRIVER_ERROR,
               "the driver (CUDA %d.%d) refuses an entry of the disk cache: %s; and it cannot be "
               "compiled once more: %s",
               driver->version / 1000, driver->version % 1000 / 10, code, mxq_last_error());
    result = get_kernel(driver, image, loaded);
  }
  if (result == CUDA_SUCCESS) return MXQ_OK;
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    return mxq_driver_fail(driver, result, "cuLibraryLoadData");
  (void)mxq_kernel_id_name(&image->kernel, name, sizeof name);
  MXQ_FAIL(MXQ_DRIVER_ERROR,
           "the driver (CUDA %d.%d) does not load %s for %s on device %d: %s; an NVRTC newer than "
           "the driver makes such code",
           driver->version / 1000, driver->version % 1000 / 10, name, image->arch->name,
           kernel->device, mxq_driver_result(driver, result, code));
}

static enum mxq_status load(const struct mxq_kernel *kernel, const struct mxq_image *image,
                            struct mxq_loaded *loaded) {
  const struct mxq_driver *driver = kernel->driver;
  struct mxq_geometry geometry;
  CUdevice device = 0;
  MXQ_TRY(mxq_driver_device(driver, kernel->device, &device));
  MXQ_TRY(get_library(kernel, image, loaded));
  mxq_geometry_of(&loaded->id, &geometry);
  const int asks = (int)mxq_geometry_asks(&geometry, image->arch);
  MXQ_CUDA_TRY(driver, cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, asks,
                                            loaded->kernel, device));
  return load_code(driver, loaded);
}

static void discard(const struct mxq_kernel *kernel, struct mxq_loaded *loaded) {
  if (loaded->owns_library && !mxq_driver_is_forked())
    (void)kernel->driver->cuLibraryUnload(loaded->library);
  mxq_free(&kernel->context->allocator, loaded);
}

/* One thread of a context loads at a time; the image is there already. */
static enum mxq_status load_once(struct mxq_kernel *kernel, const struct mxq_image *image,
                                 struct mxq_loaded **loaded) {
  struct mxq_context *context = kernel->context;
  enum mxq_status status = MXQ_OK;
  struct mxq_loaded *made = mxq_allocate_zeroed(&context->allocator, sizeof *made);
  MXQ_FAIL_IF(!made, MXQ_OUT_OF_MEMORY, "no memory for a loaded kernel");
  made->id = image->kernel;
  mxq_guard_lock();
  mxq_guard_claim(&context->load_claim);
  mxq_guard_unlock();
  *loaded = find(kernel, &image->kernel);
  if (!*loaded) status = load(kernel, image, made);
  mxq_guard_lock();
  if (!*loaded && status == MXQ_OK) {
    made->next = atomic_load_explicit(&kernel->loaded, memory_order_relaxed);
    atomic_store_explicit(&kernel->loaded, made, memory_order_release);
    *loaded = made;
    made = NULL;
  }
  mxq_guard_release(&context->load_claim);
  mxq_guard_unlock();
  if (made) discard(kernel, made);
  return status;
}

enum mxq_status mxq_kernel_function(struct mxq_kernel *kernel, const struct mxq_kernel_id *id,
                                    CUfunction *function) {
  const struct mxq_image *image = NULL;
  if (mxq_driver_is_forked()) return mxq_driver_forked();
  struct mxq_loaded *loaded = find(kernel, id);
  if (loaded) {
    MXQ_TRY(load_code(kernel->driver, loaded));
  } else {
    MXQ_TRY(mxq_image_get(kernel->context, id, kernel->arch, &image, NULL));
    MXQ_TRY(load_once(kernel, image, &loaded));
  }
  *function = (CUfunction)loaded->kernel;
  return MXQ_OK;
}

int mxq_kernel_is_loaded(const struct mxq_kernel *kernel, const struct mxq_kernel_id *id) {
  const struct mxq_loaded *loaded = find(kernel, id);
  CUcontext current = NULL;
  if (!loaded || mxq_driver_is_forked()) return 0;
  if (kernel->driver->cuCtxGetCurrent(&current) != CUDA_SUCCESS) return 0;
  return !current || atomic_load_explicit(&loaded->context, memory_order_acquire) == current;
}

void mxq_kernel_unload(struct mxq_kernel *kernel) {
  struct mxq_loaded *loaded = atomic_load(&kernel->loaded);
  while (loaded) {
    struct mxq_loaded *next = loaded->next;
    discard(kernel, loaded);
    loaded = next;
  }
}
