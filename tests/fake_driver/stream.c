/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control.h"
#include "fake.h"
#include "fault.h"

static atomic_int capturing; /* streams that do */

int fake_is_capturing(void) { return atomic_load(&capturing); }

struct CUevent_st {
  double milliseconds;
};

CUresult fake_enqueue(CUstream stream, const struct fake_operation *operation) {
  if (!stream || !stream->capture) return fake_do(operation);
  struct CUgraph_st *graph = stream->capture;
  if (graph->count == graph->room) {
    graph->room = graph->room ? graph->room * 2 : 16;
    struct fake_operation *grown = aligned_alloc(128, graph->room * sizeof *graph->operations);
    if (!grown) return CUDA_ERROR_OUT_OF_MEMORY;
    if (graph->count) memcpy(grown, graph->operations, graph->count * sizeof *grown);
    free(graph->operations);
    graph->operations = grown;
  }
  graph->operations[graph->count++] = *operation;
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  return memcpy((void *)to, from, bytes), CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
  return memcpy(to, (const void *)from, bytes), CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  const struct fake_operation copy = {.to = to, .from = from, .bytes = bytes};
  return fake_enqueue(stream, &copy);
}
CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t bytes) {
  return memset((void *)to, value, bytes), CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
  (void)stream;
  return cuMemsetD8(to, value, bytes);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t words, CUstream stream) {
  (void)stream;
  for (size_t i = 0; i < words; i++) ((unsigned *)to)[i] = value;
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  (void)flags;
  if (!fake_current()) return CUDA_ERROR_INVALID_CONTEXT;
  *stream = calloc(1, sizeof **stream);
  if (!*stream) return CUDA_ERROR_OUT_OF_MEMORY;
  (*stream)->context = fake_current();
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream stream) { return free(stream), CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream stream) { return (void)stream, fake_sticky(); }
CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
  *context = stream ? stream->context : fake_current();
  return *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuStreamGetDevice(CUstream stream, CUdevice *device) {
  return *device = stream ? stream->context->device : fake_current()->device, CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  if (!stream && fake_is_capturing()) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  *status =
      stream && stream->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  (void)mode;
  if (!stream || stream->capture) return CUDA_ERROR_INVALID_VALUE;
  stream->capture = calloc(1, sizeof *stream->capture);
  if (!stream->capture) return CUDA_ERROR_OUT_OF_MEMORY;
  return atomic_fetch_add(&capturing, 1), CUDA_SUCCESS;
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  if (!stream || !stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
  *graph = stream->capture;
  stream->capture = NULL;
  atomic_fetch_sub(&capturing, 1);
  return CUDA_SUCCESS;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return (void)stream, (void)event, (void)flags, CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  (void)flags;
  *event = calloc(1, sizeof **event);
  return *event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuEventDestroy(CUevent event) { return free(event), CUDA_SUCCESS; }
CUresult cuEventRecord(CUevent event, CUstream stream) {
  struct timespec now;
  (void)stream;
  clock_gettime(CLOCK_MONOTONIC, &now);
  event->milliseconds = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent event) { return (void)event, CUDA_SUCCESS; }
CUresult cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end) {
  return *milliseconds = (float)(end->milliseconds - begin->milliseconds), CUDA_SUCCESS;
}

/* An instance is its graph: nobody here destroys the graph first. */
CUresult cuGraphInstantiateWithFlags(CUgraphExec *instance, CUgraph graph,
                                     unsigned long long flags) {
  return (void)flags, *instance = (CUgraphExec)graph, CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec instance, CUstream stream) {
  const struct CUgraph_st *graph = (const struct CUgraph_st *)instance;
  (void)stream;
  for (size_t i = 0; i < graph->count; i++) {
    const CUresult result = fake_do(&graph->operations[i]);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec instance) { return (void)instance, CUDA_SUCCESS; }
CUresult cuGraphDestroy(CUgraph graph) {
  free(graph->operations);
  free(graph);
  return CUDA_SUCCESS;
}
