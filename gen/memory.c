/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

static void *resize_default(void *user, void *pointer, size_t size) {
  (void)user;
  if (size) return realloc(pointer, size);
  free(pointer);
  return NULL;
}

const struct mxq_allocator mxq_allocator_default = {resize_default, NULL};

void *mxq_allocate_zeroed(const struct mxq_allocator *allocator, size_t size) {
  void *pointer = mxq_resize(allocator, NULL, size ? size : 1);
  if (pointer) memset(pointer, 0, size ? size : 1);
  return pointer;
}

char *mxq_copy_string(const struct mxq_allocator *allocator, const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = mxq_resize(allocator, NULL, size);
  if (copy) memcpy(copy, text, size);
  return copy;
}
