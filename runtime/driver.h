/* SPDX-License-Identifier: MIT
 *
 * The CUDA driver, opened at run time and never linked. CUDA's types are seen inside runtime/ only.
 */
#ifndef MXQ_DRIVER_H
#define MXQ_DRIVER_H

#include <stdatomic.h>

#include <cuda.h>
#include <cudaTypedefs.h>

#include "driver_table.h"
#include "status.h"

/* driver->cuMemAlloc(...): members are named like the functions. (Some of these names are macros
 * of cuda.h; both the declaration here and every use expand alike.) */
struct mxq_driver {
#define MXQ_DRIVER_MEMBER(name, abi) PFN_##name##_v##abi name;
  MXQ_DRIVER_TABLE(MXQ_DRIVER_MEMBER, MXQ_DRIVER_MEMBER)
#undef MXQ_DRIVER_MEMBER
  int version; /* 13000: the driver speaks CUDA 13.0 */
  int device_count;
};

/* The driver, opened and started at the first call in the process: libcuda.so.1, never
 * libcuda.so, which in a toolkit is an empty stand-in. Afterwards one atomic load. MXQ_NO_DRIVER
 * says what is missing and the driver's version; the next call tries anew. MXQ_FORKED in the child
 * of a fork that followed the opening. A driver without a device is MXQ_OK, device_count 0. */
enum mxq_status mxq_driver_get(const struct mxq_driver **driver);

/* The version of the driver found (13000), without starting it; 0 if there is none. */
int mxq_driver_version(void);

extern atomic_int mxq_driver_forked_flag;
/* For paths that hold a driver pointer already: whether this process is such a child. */
static inline int mxq_driver_is_forked(void) {
  return atomic_load_explicit(&mxq_driver_forked_flag, memory_order_relaxed);
}
/* Sets the text of MXQ_FORKED and returns it. */
enum mxq_status mxq_driver_forked(void);

/* Sets the text "<function>: <name> (<code>): <meaning>" for a failed call and returns its status:
 * MXQ_OUT_OF_MEMORY for CUDA_ERROR_OUT_OF_MEMORY, MXQ_DRIVER_ERROR otherwise. `call` may be the
 * text of the whole call: it is cut at its parenthesis. */
enum mxq_status mxq_driver_fail(const struct mxq_driver *driver, CUresult result, const char *call);
/* "CUDA_ERROR_INVALID_VALUE (1)" in `text`, for messages of the caller's own. */
const char *mxq_driver_result(const struct mxq_driver *driver, CUresult result, char text[64]);

/* MXQ_CUDA_TRY(driver, cuMemAlloc(&pointer, bytes)); */
#define MXQ_CUDA_TRY(driver, call)                                                                 \
  do {                                                                                             \
    const CUresult mxq_cuda_result = (driver)->call;                                               \
    if (mxq_cuda_result != CUDA_SUCCESS) return mxq_driver_fail((driver), mxq_cuda_result, #call); \
  } while (0)

/* The handle of a device; MXQ_NO_DEVICE says which ones exist. */
enum mxq_status mxq_driver_device(const struct mxq_driver *driver, int ordinal, CUdevice *device);

/* Makes a context of the device current for this thread until mxq_device_leave: the one that is
 * current already if it belongs to the device (the caller's own contexts stay in use), else the
 * device's primary context, retained once in the process and pushed. Works on a thread that never
 * used CUDA. Leaving restores what was current. */
struct mxq_device_scope {
  const struct mxq_driver *driver;
  int pushed;
};
enum mxq_status mxq_device_enter(const struct mxq_driver *driver, int ordinal,
                                 struct mxq_device_scope *scope);
void mxq_device_leave(const struct mxq_device_scope *scope);

#endif
