/* SPDX-License-Identifier: MIT
 *
 * What tests tell the fake driver and ask it. Tests find these functions with dlsym in the
 * libcuda.so.1 that is loaded (fake_control.h). The variable FAKE_CUDA may hold
 *   version=12040        the CUDA version that the driver is for (13000); younger functions are not
 *                        found
 *   devices=90,100       the compute capability of each device (90,90); none for an empty list
 *   multiprocessors=4    of each device
 *   l2=1048576           bytes of the L2 cache of each device
 *   fail=N, fail=NAME:N  the N-th call of any function, or of one, fails
 *   code=N               with this CUresult (999)
 *   refuse=N             the first N images are refused
 */
#ifndef MXQ_TESTS_FAKE_CONTROL_H
#define MXQ_TESTS_FAKE_CONTROL_H

#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Forgets the calls so far. The nth call from now on of a function (NULL: of any) fails with
 * `result`; 0: none. Calls that report errors never fail. */
void fake_fail(const char *function, unsigned long nth, CUresult result);
/* Calls since then of a function, or of any that can fail. */
unsigned long fake_calls(const char *function);
/* The name of the index-th of these calls, of any thread; NULL past the last, and past the first
 * 4096. */
const char *fake_call(unsigned long index);
/* Images that the next loads refuse. */
void fake_refuse(unsigned count);
/* Libraries that were loaded and not unloaded. */
long fake_libraries(void);
/* From now on a call ends the process with code 66: for what must not happen at exit. */
void fake_forbid(void);
/* A message about the last launch or encoding that was refused; empty if there was none. */
const char *fake_complaint(void);

/* A context of the caller's own, as cuCtxCreate makes it, but not made current. */
CUcontext fake_context_create(int device);
/* Contexts on the stack of the thread. */
int fake_context_depth(void);

/* For the driver itself. */
int fake_driver_version(void);
int fake_device_count(void);
int fake_device_capability(int device);
CUresult fake_begin(int row, const char *function);
int fake_is_refused(void);
void fake_library_loaded(int change);
CUresult fake_complain(CUresult result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether any stream captures; every call that may not happen meanwhile asks. */
int fake_is_capturing(void);

/* The documented limits of what is handed over. */
CUresult fake_check_encode(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                           const void *base, const cuuint64_t *dims, const cuuint64_t *strides,
                           const cuuint32_t *box, const cuuint32_t *steps,
                           CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle);
CUresult fake_check_launch(const CUlaunchConfig *config, CUkernel kernel);
CUresult fake_check_image(const void *image);
/* What cuKernelSetAttribute allowed a kernel in shared memory on a device. */
void fake_allow_shared(CUkernel kernel, CUdevice device, int bytes);

#ifdef __cplusplus
}
#endif

#endif
