// SPDX-License-Identifier: MIT
//
// A program of the CUDA runtime: a kernel of its own fills a tensor on a stream of its own, the
// library quantizes it on the same stream, in order, and the bytes are compared with those of the
// CPU path. A cudaStream_t is what the library's functions take.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>
#include <mxq/mxq.h>

#include "engine_set.h"

static void check(mxq_status status) {
  if (status == MXQ_OK) return;
  std::fprintf(stderr, "%s: %s\n", mxq_status_name(status), mxq_last_error());
  std::exit(1);
}
static void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

__global__ void fill(float *values, size_t count) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < count) values[i] = static_cast<float>(i % 1009) / 3 - 150;
}

int main() {
  mxq_variant variant;
  mxq_byte_counts bytes;
  mxq_context *context;
  const mxq_shape shape = mxq_shape_dense(4, 1024, 512);
  check(mxq_variant_parse("quantize_f32_e5m2_b32_floor_colt_lin", &variant));
  check(mxq_sizes(&variant, &shape, &bytes));
  check(mxq_context_create(nullptr, &context));
  check(mxq_context_add_kernels(context, &engine_set));

  cudaStream_t stream;
  float *in;
  void *out, *scale;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check(cudaMalloc(&in, bytes.in));
  check(cudaMalloc(&out, bytes.out[0]));
  check(cudaMalloc(&scale, bytes.scale[0]));
  const size_t count = bytes.in / sizeof *in;
  mxq_pointers pointers = {};
  pointers.in = in;
  pointers.out[0] = out;
  pointers.scale[0] = scale;
  fill<<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream>>>(in, count);
  check(cudaGetLastError());
  check(mxq_run(context, &variant, &shape, &pointers, 0, stream));

  std::vector<float> host(count);
  std::vector<unsigned char> codes(bytes.out[0]), scales(bytes.scale[0]);
  std::vector<unsigned char> expected(bytes.out[0]), expected_scales(bytes.scale[0]);
  check(cudaMemcpyAsync(host.data(), in, bytes.in, cudaMemcpyDeviceToHost, stream));
  check(cudaMemcpyAsync(codes.data(), out, codes.size(), cudaMemcpyDeviceToHost, stream));
  check(cudaMemcpyAsync(scales.data(), scale, scales.size(), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  mxq_pointers here = {};
  here.in = host.data();
  here.out[0] = expected.data();
  here.scale[0] = expected_scales.data();
  check(mxq_run(context, &variant, &shape, &here, MXQ_DEVICE_CPU, nullptr));
  if (codes != expected || scales != expected_scales) {
    std::fprintf(stderr, "the GPU and the CPU differ\n");
    return 1;
  }
  std::printf("CUDA runtime: %zu codes on a stream of its own, the GPU and the CPU agree\n",
              codes.size());
  mxq_context_destroy(context);
  check(cudaFree(in));
  check(cudaFree(out));
  check(cudaFree(scale));
  check(cudaStreamDestroy(stream));
  return 0;
}
