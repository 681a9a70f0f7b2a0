/* SPDX-License-Identifier: MIT */
#ifndef MXQ_GEN_MEMORY_H
#define MXQ_GEN_MEMORY_H

#include <stddef.h>

/* Every allocation of the library goes through one of these, so that a test can fail the n-th. */
struct mxq_allocator {
  void *(*resize)(void *user, void *pointer, size_t size); /* as mxq_resize_fn of mxq.h */
  void *user;
};

/* realloc and free of the C library. */
extern const struct mxq_allocator mxq_allocator_default;

static inline void *mxq_resize(const struct mxq_allocator *allocator, void *pointer, size_t size) {
  return allocator->resize(allocator->user, pointer, size);
}
static inline void mxq_free(const struct mxq_allocator *allocator, void *pointer) {
  if (pointer) allocator->resize(allocator->user, pointer, 0);
}
void *mxq_allocate_zeroed(const struct mxq_allocator *allocator, size_t size);
char *mxq_copy_string(const struct mxq_allocator *allocator, const char *text);

#endif
