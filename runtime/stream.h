/* SPDX-License-Identifier: MIT
 *
 * Streams: whose they are, whether they capture, and putting a kernel on one.
 */
#ifndef MXQ_STREAM_H
#define MXQ_STREAM_H

#include <mxq/mxq.h>

#include "kernel.h"
#include "kernel_id.h"

/* Makes the stream's context current, which must be one of the kernel's device; undo it by
 * mxq_device_leave. `what`: what is launched, for texts. */
enum mxq_status mxq_stream_enter(const struct mxq_kernel *kernel, CUdevice device,
                                 mxq_stream stream, const char *what,
                                 struct mxq_device_scope *scope);

/* Enqueues a function, with the stream's context current. */
enum mxq_status mxq_stream_launch(const struct mxq_driver *driver, CUfunction function,
                                  unsigned threads, unsigned shared_bytes, uint32_t grid,
                                  const void *args, mxq_stream stream);

/* Whether a kernel may not be loaded now, because the stream, or one that it waits for, captures.
 */
enum mxq_status mxq_stream_is_capturing(const struct mxq_kernel *kernel, mxq_stream stream,
                                        int *capturing);

#endif
