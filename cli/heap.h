/* SPDX-License-Identifier: MIT
 *
 * The heap of a program that compiles many kernels.
 */
#ifndef MXQ_CLI_HEAP_H
#define MXQ_CLI_HEAP_H

#include <malloc.h>

/* Keeps freed memory for what comes next, where the C library is glibc. A compilation takes tens of
 * megabytes and frees them all; given back to the system, they are fetched page by page for the
 * next one, and threads of a process wait for each other while that is done. */
static inline void heap_keep(void) {
#ifdef __GLIBC__
  (void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
  (void)mallopt(M_TOP_PAD, 64 << 20);
  (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}

#endif
