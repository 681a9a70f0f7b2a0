/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "driver.h"
#include "memory.h"
#include "status.h"

struct mxq_graph {
  const struct mxq_driver *driver;
  int device;
  CUstream stream;
  CUevent begin, end;
  CUgraph graph;
  CUgraphExec executable;
};

struct mxq_raw_kernel {
  const struct mxq_driver *driver;
  int device;
  CUlibrary library;
  CUkernel kernel;
};

static enum mxq_status capture(struct mxq_graph *made, mxq_enqueue_fn enqueue, void *user,
                               unsigned count) {
  const struct mxq_driver *driver = made->driver;
  enum mxq_status status = MXQ_OK;
  MXQ_CUDA_TRY(driver, cuStreamBeginCapture(made->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  for (unsigned i = 0; status == MXQ_OK && i < count; i++) status = enqueue(user, i, made->stream);
  const CUresult result = driver->cuStreamEndCapture(made->stream, &made->graph);
  if (status != MXQ_OK) return status;
  if (result != CUDA_SUCCESS) return mxq_driver_fail(driver, result, "cuStreamEndCapture");
  MXQ_CUDA_TRY(driver, cuGraphInstantiateWithFlags(&made->executable, made->graph, 0));
  return MXQ_OK;
}

static enum mxq_status open_graph(struct mxq_graph *made) {
  const struct mxq_driver *driver = made->driver;
  MXQ_CUDA_TRY(driver, cuStreamCreate(&made->stream, CU_STREAM_NON_BLOCKING));
  MXQ_CUDA_TRY(driver, cuEventCreate(&made->begin, CU_EVENT_DEFAULT));
  MXQ_CUDA_TRY(driver, cuEventCreate(&made->end, CU_EVENT_DEFAULT));
  return MXQ_OK;
}

static enum mxq_status replay(struct mxq_graph *graph, float *milliseconds) {
  const struct mxq_driver *driver = graph->driver;
  MXQ_CUDA_TRY(driver, cuEventRecord(graph->begin, graph->stream));
  MXQ_CUDA_TRY(driver, cuGraphLaunch(graph->executable, graph->stream));
  MXQ_CUDA_TRY(driver, cuEventRecord(graph->end, graph->stream));
  MXQ_CUDA_TRY(driver, cuEventSynchronize(graph->end));
  MXQ_CUDA_TRY(driver, cuEventElapsedTime(milliseconds, graph->begin, graph->end));
  return MXQ_OK;
}

static enum mxq_status load(struct mxq_raw_kernel *made, const void *cubin, const char *symbol) {
  MXQ_CUDA_TRY(made->driver,
               cuLibraryLoadData(&made->library, cubin, NULL, NULL, 0, NULL, NULL, 0));
  MXQ_CUDA_TRY(made->driver, cuLibraryGetKernel(&made->kernel, made->library, symbol));
  return MXQ_OK;
}

enum mxq_status mxq_graph_create(int device, mxq_enqueue_fn enqueue, void *user, unsigned count,
                                 struct mxq_graph **graph) {
  struct mxq_device_scope scope;
  const struct mxq_driver *driver = NULL;
  MXQ_TRY(mxq_driver_get(&driver));
  struct mxq_graph *made = mxq_allocate_zeroed(&mxq_allocator_default, sizeof *made);
  MXQ_FAIL_IF(!made, MXQ_OUT_OF_MEMORY, "no memory for a graph");
  made->driver = driver;
  made->device = device;
  enum mxq_status status = mxq_device_enter(driver, device, &scope);
  if (status == MXQ_OK) {
    status = open_graph(made);
    if (status == MXQ_OK) status = capture(made, enqueue, user, count);
    mxq_device_leave(&scope);
  }
  if (status == MXQ_OK)
    *graph = made;
  else
    mxq_graph_destroy(made);
  return status;
}

void mxq_graph_destroy(struct mxq_graph *graph) {
  struct mxq_device_scope scope;
  if (!graph) return;
  if (mxq_device_enter(graph->driver, graph->device, &scope) == MXQ_OK) {
    if (graph->executable) graph->driver->cuGraphExecDestroy(graph->executable);
    if (graph->graph) graph->driver->cuGraphDestroy(graph->graph);
    if (graph->begin) graph->driver->cuEventDestroy(graph->begin);
    if (graph->end) graph->driver->cuEventDestroy(graph->end);
    if (graph->stream) graph->driver->cuStreamDestroy(graph->stream);
    mxq_device_leave(&scope);
  }
  mxq_free(&mxq_allocator_default, graph);
}

enum mxq_status mxq_graph_replay(struct mxq_graph *graph, double *microseconds) {
  struct mxq_device_scope scope;
  float milliseconds = 0;
  MXQ_TRY(mxq_device_enter(graph->driver, graph->device, &scope));
  const enum mxq_status status = replay(graph, &milliseconds);
  mxq_device_leave(&scope);
  if (status == MXQ_OK && microseconds) *microseconds = (double)milliseconds * 1e3;
  return status;
}

enum mxq_status mxq_device_copy_async(int device, void *to, const void *from, size_t bytes,
                                      mxq_stream stream) {
  struct mxq_device_scope scope;
  const struct mxq_driver *driver = NULL;
  MXQ_TRY(mxq_driver_get(&driver));
  MXQ_TRY(mxq_device_enter(driver, device, &scope));
  const CUresult result =
      driver->cuMemcpyDtoDAsync((CUdeviceptr)to, (CUdeviceptr)from, bytes, stream);
  mxq_device_leave(&scope);
  return result == CUDA_SUCCESS ? MXQ_OK : mxq_driver_fail(driver, result, "cuMemcpyDtoDAsync");
}

enum mxq_status mxq_raw_kernel_load(int device, const void *cubin, const char *symbol,
                                    struct mxq_raw_kernel **kernel) {
  struct mxq_device_scope scope;
  const struct mxq_driver *driver = NULL;
  MXQ_TRY(mxq_driver_get(&driver));
  MXQ_TRY(mxq_device_enter(driver, device, &scope));
  struct mxq_raw_kernel *made = mxq_allocate_zeroed(&mxq_allocator_default, sizeof *made);
  enum mxq_status status = MXQ_OK;
  if (!made) status = mxq_status_set(MXQ_OUT_OF_MEMORY, "no memory for a kernel");
  if (made) {
    made->driver = driver;
    made->device = device;
    status = load(made, cubin, symbol);
  }
  mxq_device_leave(&scope);
  if (status == MXQ_OK)
    *kernel = made;
  else
    mxq_raw_kernel_unload(made);
  return status;
}

void mxq_raw_kernel_unload(struct mxq_raw_kernel *kernel) {
  struct mxq_device_scope scope;
  if (!kernel) return;
  if (kernel->library && mxq_device_enter(kernel->driver, kernel->device, &scope) == MXQ_OK) {
    kernel->driver->cuLibraryUnload(kernel->library);
    mxq_device_leave(&scope);
  }
  mxq_free(&mxq_allocator_default, kernel);
}

enum mxq_status mxq_raw_kernel_launch(const struct mxq_raw_kernel *kernel, uint32_t grid,
                                      uint32_t threads, void **parameters, mxq_stream stream) {
  return mxq_raw_kernel_launch_many(kernel, grid, threads, parameters, stream, 1);
}

enum mxq_status mxq_raw_kernel_launch_many(const struct mxq_raw_kernel *kernel, uint32_t grid,
                                           uint32_t threads, void **parameters, mxq_stream stream,
                                           unsigned count) {
  struct mxq_device_scope scope;
  CUresult result = CUDA_SUCCESS;
  const CUlaunchConfig config = {.gridDimX = grid,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = threads,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .hStream = stream};
  MXQ_TRY(mxq_device_enter(kernel->driver, kernel->device, &scope));
  for (unsigned i = 0; result == CUDA_SUCCESS && i < count; i++)
    result =
        kernel->driver->cuLaunchKernelEx(&config, (CUfunction)kernel->kernel, parameters, NULL);
  mxq_device_leave(&scope);
  if (result != CUDA_SUCCESS) return mxq_driver_fail(kernel->driver, result, "cuLaunchKernelEx");
  return MXQ_OK;
}

enum mxq_status mxq_device_hold(int device) {
  const struct mxq_driver *driver = NULL;
  struct mxq_device_scope scope;
  MXQ_TRY(mxq_driver_get(&driver));
  return mxq_device_enter(driver, device, &scope); /* and never left */
}
