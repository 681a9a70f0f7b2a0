/* SPDX-License-Identifier: MIT
 *
 * Heap for NVRTC's compiler, in memory before it runs.
 */
#ifndef MXQ_HEAP_H
#define MXQ_HEAP_H

/* Once a process, for the calling thread's heap: NVRTC takes megabytes of it for a kernel, page
 * by page, and each page that is not there yet stops it. Free memory afterwards: the next
 * allocations of the thread, whosever they are, get it. Does nothing where there is no memory or
 * the C library is not GNU's. */
void mxq_heap_reserve(void);

#endif
