/* SPDX-License-Identifier: MIT */
#ifndef MXQ_RELAYOUT_H
#define MXQ_RELAYOUT_H

#include <mxq/mxq.h>

/* Bytes of the scales on both sides. */
struct mxq_relayout_sizes {
  uint64_t src, dst;
};

/* mxq_relayout on a CUDA device (or MXQ_DEVICE_AUTO), for arguments that were checked and scales
 * that are not empty. */
enum mxq_status mxq_relayout_on_device(struct mxq_context *context,
                                       const struct mxq_relayout_args *args,
                                       const struct mxq_relayout_sizes *sizes, int device,
                                       mxq_stream stream);

#endif
