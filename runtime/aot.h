/* SPDX-License-Identifier: MIT
 *
 * Prebuilt sets of kernels that a context was given.
 */
#ifndef MXQ_AOT_H
#define MXQ_AOT_H

#include "context.h"

/* 1 and the image, which points into its set, if a registered set holds the kernel for the arch. A
 * row that is there but cannot be used is logged and passed over. */
int mxq_aot_find(const struct mxq_context *context, const struct mxq_kernel_id *id,
                 const struct mxq_arch *arch, struct mxq_image *image);

/* Fails with MXQ_NOT_PREBUILT: which kernel, where it was looked for (`places`, such as "registered
 * set"), why none is made now (`reason`), and the manifest line to add. */
enum mxq_status mxq_aot_missing(const struct mxq_context *context, const struct mxq_kernel_id *id,
                                const struct mxq_arch *arch, const char *places,
                                const char *reason);

/* Forgets the sets. */
void mxq_aot_free(struct mxq_context *context);

#endif
