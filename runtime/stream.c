/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include "status.h"

/* NULL and the two streams that are constants belong to whatever context is current. */
static int is_default_stream(mxq_stream stream) {
  return !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

enum mxq_status mxq_stream_enter(const struct mxq_kernel *kernel, CUdevice device,
                                 mxq_stream stream, const char *what,
                                 struct mxq_device_scope *scope) {
  const struct mxq_driver *driver = kernel->driver;
  CUcontext wanted = NULL, current = NULL;
  CUdevice streams = 0;
  if (is_default_stream(stream)) return mxq_device_enter(driver, kernel->device, scope);
  if (mxq_driver_is_forked()) return mxq_driver_forked();
  *scope = (struct mxq_device_scope){driver, 0};
  MXQ_CUDA_TRY(driver, cuStreamGetCtx(stream, &wanted));
  MXQ_CUDA_TRY(driver, cuCtxGetCurrent(&current));
  if (wanted != current) {
    MXQ_CUDA_TRY(driver, cuCtxPushCurrent(wanted));
    scope->pushed = 1;
  }
  const CUresult result = driver->cuCtxGetDevice(&streams);
  if (result == CUDA_SUCCESS && streams == device) return MXQ_OK;
  mxq_device_leave(scope);
  if (result != CUDA_SUCCESS) return mxq_driver_fail(driver, result, "cuCtxGetDevice");
  MXQ_FAIL(MXQ_INVALID_ARGUMENT,
           "the stream belongs to cuda:%d, %s to cuda:%d; launch on a stream of that device",
           (int)streams, what, kernel->device);
}

enum mxq_status mxq_stream_launch(const struct mxq_driver *driver, CUfunction function,
                                  unsigned threads, unsigned shared_bytes, uint32_t grid,
                                  const void *args, mxq_stream stream) {
  void *parameters[] = {(void *)(uintptr_t)args};
  const CUlaunchConfig config = {
      .gridDimX = grid,
      .gridDimY = 1,
      .gridDimZ = 1,
      .blockDimX = threads,
      .blockDimY = 1,
      .blockDimZ = 1,
      .sharedMemBytes = shared_bytes,
      .hStream = stream,
  };
  MXQ_CUDA_TRY(driver, cuLaunchKernelEx(&config, function, parameters, NULL));
  return MXQ_OK;
}

enum mxq_status mxq_stream_is_capturing(const struct mxq_kernel *kernel, mxq_stream stream,
                                        int *capturing) {
  const struct mxq_driver *driver = kernel->driver;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  struct mxq_device_scope scope;
  MXQ_TRY(mxq_device_enter(driver, kernel->device, &scope));
  const CUresult result = driver->cuStreamIsCapturing(stream, &status);
  mxq_device_leave(&scope);
  /* The legacy stream while another stream captures, which it would wait for. */
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
    status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  else if (result != CUDA_SUCCESS)
    return mxq_driver_fail(driver, result, "cuStreamIsCapturing");
  *capturing = status != CU_STREAM_CAPTURE_STATUS_NONE;
  return MXQ_OK;
}
