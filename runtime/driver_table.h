/* SPDX-License-Identifier: MIT
 *
 * The driver's functions, for C and C++.
 */
#ifndef MXQ_DRIVER_TABLE_H
#define MXQ_DRIVER_TABLE_H

/* Every driver function in use, each with the version of its ABI that this code was written for;
 * that is what cuGetProcAddress is asked for, whatever the driver's own version.
 * NEED(function, version): opening fails without it. HAVE(function, version): NULL in an older
 * driver; whoever uses it has another way. */
#define MXQ_DRIVER_TABLE(NEED, HAVE)                      \
  NEED(cuInit, 2000)                                      \
  NEED(cuDriverGetVersion, 2020)                          \
  NEED(cuGetErrorName, 6000)                              \
  NEED(cuGetErrorString, 6000)                            \
  NEED(cuDeviceGetCount, 2000)                            \
  NEED(cuDeviceGet, 2000)                                 \
  NEED(cuDeviceGetName, 2000)                             \
  NEED(cuDeviceGetAttribute, 2000)                        \
  NEED(cuDeviceTotalMem, 3020)                            \
  NEED(cuDevicePrimaryCtxRetain, 7000)                    \
  NEED(cuCtxGetCurrent, 4000)                             \
  NEED(cuCtxGetDevice, 2000)                              \
  NEED(cuCtxPushCurrent, 4000)                            \
  NEED(cuCtxPopCurrent, 4000)                             \
  NEED(cuCtxSynchronize, 2000)                            \
  NEED(cuLibraryLoadData, 12000)                          \
  NEED(cuLibraryUnload, 12000)                            \
  NEED(cuLibraryGetKernel, 12000)                         \
  NEED(cuKernelGetFunction, 12000)                        \
  NEED(cuKernelSetAttribute, 12000)                       \
  HAVE(cuFuncLoad, 12040)                                 \
  NEED(cuFuncGetAttribute, 2020)                          \
  NEED(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050) \
  NEED(cuTensorMapEncodeTiled, 12000)                     \
  NEED(cuTensorMapReplaceAddress, 12000)                  \
  NEED(cuLaunchKernelEx, 11060)                           \
  NEED(cuPointerGetAttributes, 7000)                      \
  NEED(cuMemAlloc, 3020)                                  \
  NEED(cuMemFree, 3020)                                   \
  NEED(cuMemcpyHtoD, 3020)                                \
  NEED(cuMemcpyDtoH, 3020)                                \
  NEED(cuMemcpyDtoDAsync, 3020)                           \
  NEED(cuMemsetD8, 3020)                                  \
  NEED(cuMemsetD8Async, 3020)                             \
  NEED(cuMemsetD32Async, 3020)                            \
  NEED(cuStreamCreate, 2000)                              \
  NEED(cuStreamDestroy, 4000)                             \
  NEED(cuStreamSynchronize, 2000)                         \
  NEED(cuStreamGetCtx, 9020)                              \
  HAVE(cuStreamGetDevice, 12080)                          \
  NEED(cuStreamIsCapturing, 10000)                        \
  NEED(cuStreamBeginCapture, 10010)                       \
  NEED(cuStreamEndCapture, 10000)                         \
  NEED(cuStreamWaitEvent, 3020)                           \
  NEED(cuEventCreate, 2000)                               \
  NEED(cuEventDestroy, 4000)                              \
  NEED(cuEventRecord, 2000)                               \
  NEED(cuEventSynchronize, 2000)                          \
  NEED(cuEventElapsedTime, 2000)                          \
  NEED(cuGraphInstantiateWithFlags, 11040)                \
  NEED(cuGraphLaunch, 10000)                              \
  NEED(cuGraphExecDestroy, 10000)                         \
  NEED(cuGraphDestroy, 10000)

#endif
