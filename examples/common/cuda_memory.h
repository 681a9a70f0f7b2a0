/* SPDX-License-Identifier: MIT
 *
 * Device memory for the examples that use neither CUDA's headers nor its runtime: the few driver
 * functions that they need, opened at run time. Real programs have their own memory already.
 */
#ifndef CUDA_MEMORY_H
#define CUDA_MEMORY_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cuda_memory {
  int (*init)(unsigned flags);
  int (*retain)(void **context, int device);
  int (*set_current)(void *context);
  int (*allocate)(unsigned long long *address, size_t bytes);
  int (*release)(unsigned long long address);
  int (*upload)(unsigned long long to, const void *from, size_t bytes);
  int (*download)(void *to, unsigned long long from, size_t bytes);
};

/* 1 with the primary context of device 0 current, or 0 and a message. */
static inline int cuda_memory_open(struct cuda_memory *cuda) {
  static const char *const names[] = {
      "cuInit",       "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent_v2", "cuMemAlloc_v2",
      "cuMemFree_v2", "cuMemcpyHtoD_v2",          "cuMemcpyDtoH_v2"};
  void *functions[sizeof names / sizeof *names];
  void *context = NULL;
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    functions[i] = dlsym(library, names[i]);
    if (!functions[i]) return fprintf(stderr, "libcuda.so.1 has no %s\n", names[i]), 0;
  }
  memcpy(cuda, functions, sizeof functions);
  if (cuda->init(0) || cuda->retain(&context, 0) || cuda->set_current(context))
    return fprintf(stderr, "the CUDA driver does not start\n"), 0;
  return 1;
}

static inline void cuda_memory_check(int result, const char *what) {
  if (!result) return;
  fprintf(stderr, "%s: CUDA error %d\n", what, result);
  exit(1);
}

static inline void *cuda_memory_take(const struct cuda_memory *cuda, size_t bytes) {
  unsigned long long address = 0;
  cuda_memory_check(cuda->allocate(&address, bytes), "cuMemAlloc");
  return (void *)(size_t)address;
}
static inline void cuda_memory_give(const struct cuda_memory *cuda, void *pointer) {
  cuda_memory_check(cuda->release((size_t)pointer), "cuMemFree");
}
static inline void cuda_memory_upload(const struct cuda_memory *cuda, void *to, const void *from,
                                      size_t bytes) {
  cuda_memory_check(cuda->upload((size_t)to, from, bytes), "cuMemcpyHtoD");
}
static inline void cuda_memory_download(const struct cuda_memory *cuda, void *to, const void *from,
                                        size_t bytes) {
  cuda_memory_check(cuda->download(to, (size_t)from, bytes), "cuMemcpyDtoH");
}

#endif
