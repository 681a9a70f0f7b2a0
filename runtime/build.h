/* SPDX-License-Identifier: MIT
 *
 * Making the image of a kernel that is not in memory: disk cache, then NVRTC.
 */
#ifndef MXQ_BUILD_H
#define MXQ_BUILD_H

#include "context.h"

enum mxq_build_from { MXQ_BUILD_ANY, MXQ_BUILD_FRESH /* do not believe the disk */ };

/* Fills all of `image` but its links; the cubin is allocated with the context's allocator. Logs
 * where it came from. The guard is not held. */
enum mxq_status mxq_build(struct mxq_context *context, const struct mxq_kernel_id *id,
                          const struct mxq_arch *arch, enum mxq_build_from from,
                          struct mxq_image *image);

#endif
