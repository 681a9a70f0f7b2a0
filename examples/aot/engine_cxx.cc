// SPDX-License-Identifier: MIT
//
// The same from C++: the library's objects in std::unique_ptr, its statuses as exceptions, and a
// plan that is launched again at other addresses.
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <mxq/mxq.h>

#include "cuda_memory.h"
#include "engine_set.h"

namespace {

void check(mxq_status status) {
  if (status != MXQ_OK)
    throw std::runtime_error(std::string(mxq_status_name(status)) + ": " + mxq_last_error());
}

struct Destroy {
  void operator()(mxq_context *context) const { mxq_context_destroy(context); }
  void operator()(mxq_kernel *kernel) const { mxq_kernel_release(kernel); }
  void operator()(mxq_plan *plan) const { mxq_plan_destroy(plan); }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;

// Gets what a function of the library makes through its last parameter.
template <class T, class... Given, class... Passed>
Owned<T> make(mxq_status (*function)(Given...), Passed... passed) {
  T *made = nullptr;
  check(function(passed..., &made));
  return Owned<T>(made);
}

mxq_pointers pointers_to(const void *in, void *out, void *scale) {
  mxq_pointers pointers = {};
  pointers.in = in;
  pointers.out[0] = out;
  pointers.scale[0] = scale;
  return pointers;
}

class Buffer {
 public:
  Buffer(const cuda_memory &cuda, std::size_t bytes)
      : cuda_(cuda), bytes_(bytes), pointer_(cuda_memory_take(&cuda, bytes)) {}
  ~Buffer() { cuda_memory_give(&cuda_, pointer_); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  void *get() const { return pointer_; }
  std::vector<unsigned char> download() const {
    std::vector<unsigned char> bytes(bytes_);
    cuda_memory_download(&cuda_, bytes.data(), pointer_, bytes_);
    return bytes;
  }

 private:
  const cuda_memory &cuda_;
  std::size_t bytes_;
  void *pointer_;
};

void run() {
  cuda_memory cuda;
  if (!cuda_memory_open(&cuda)) throw std::runtime_error("no CUDA");
  const auto context = make<mxq_context>(mxq_context_create, nullptr);
  check(mxq_context_add_kernels(context.get(), &engine_set));

  mxq_variant variant;
  mxq_byte_counts bytes;
  const mxq_shape shape = mxq_shape_dense(2, 512, 256);
  check(mxq_variant_parse("quantize_f32_e5m2_b32_floor_colt_lin", &variant));
  check(mxq_sizes(&variant, &shape, &bytes));
  std::vector<float> in(bytes.in / sizeof(float));
  for (std::size_t i = 0; i < in.size(); i++) in[i] = static_cast<float>(i % 997) - 400.0f;

  const Buffer there(cuda, bytes.in), out(cuda, bytes.out[0]), scale(cuda, bytes.scale[0]);
  const Buffer out2(cuda, bytes.out[0]), scale2(cuda, bytes.scale[0]);
  cuda_memory_upload(&cuda, there.get(), in.data(), bytes.in);
  const mxq_pointers first = pointers_to(there.get(), out.get(), scale.get());
  const mxq_pointers second = pointers_to(there.get(), out2.get(), scale2.get());
  const auto kernel = make<mxq_kernel>(mxq_kernel_get, context.get(), &variant, 0);
  const auto plan = make<mxq_plan>(mxq_plan_create, kernel.get(), &shape, &first);
  check(mxq_plan_launch(plan.get(), nullptr));
  check(mxq_plan_launch_at(plan.get(), &second, nullptr));

  std::vector<unsigned char> codes(bytes.out[0]), scales(bytes.scale[0]);
  const mxq_pointers here = pointers_to(in.data(), codes.data(), scales.data());
  check(mxq_run(context.get(), &variant, &shape, &here, MXQ_DEVICE_CPU, nullptr));
  if (out.download() != codes || out2.download() != codes || scale.download() != scales ||
      scale2.download() != scales)
    throw std::runtime_error("the GPU and the CPU differ");
  std::printf("C++: two launches of a plan, %zu codes each, the GPU and the CPU agree\n",
              codes.size());
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
