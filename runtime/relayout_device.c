/* SPDX-License-Identifier: MIT */
#include "relayout.h"
#include "status.h"

enum mxq_status mxq_relayout_on_device(struct mxq_context *context,
                                       const struct mxq_relayout_args *args,
                                       const struct mxq_relayout_sizes *sizes, int device,
                                       mxq_stream stream) {
  (void)context, (void)args, (void)sizes, (void)stream;
  MXQ_FAIL(MXQ_UNSUPPORTED,
           "no kernel moves scales on cuda:%d; pass MXQ_DEVICE_CPU and host memory", device);
}
