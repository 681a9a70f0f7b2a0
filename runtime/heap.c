/* SPDX-License-Identifier: MIT */
#include "heap.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"

#define RESERVE_BYTES ((size_t)16 << 20)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; EINVAL before */
#endif

void mxq_heap_reserve(void) {
#ifdef __GLIBC__
  static atomic_flag reserved = ATOMIC_FLAG_INIT;
  const struct mxq_allocator *heap = &mxq_allocator_default;
  if (atomic_flag_test_and_set(&reserved)) return;
  /* A block of its own mapping, once freed, raises the size from which blocks get one (mallopt(3),
   * M_MMAP_THRESHOLD): the second block is of the heap, and its memory stays there. */
  mxq_free(heap, mxq_resize(heap, NULL, RESERVE_BYTES));
  char *block = mxq_resize(heap, NULL, RESERVE_BYTES);
  if (!block) return;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t first = ((uintptr_t)block + page - 1) & ~(page - 1);
  const uintptr_t last = ((uintptr_t)block + RESERVE_BYTES) & ~(page - 1);
  (void)madvise((void *)first, last - first, MADV_HUGEPAGE);
  (void)madvise((void *)first, last - first, MADV_POPULATE_WRITE);
  mxq_free(heap, block);
#endif
}
