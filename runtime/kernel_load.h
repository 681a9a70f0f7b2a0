/* SPDX-License-Identifier: MIT
 *
 * What kernel.c and kernel_load.c know of each other.
 */
#ifndef MXQ_KERNEL_LOAD_H
#define MXQ_KERNEL_LOAD_H

#include "kernel.h"

/* Unloads what the kernel's device loaded, unless the process was forked. */
void mxq_kernel_unload(struct mxq_kernel *kernel);

/* The first kernel of the bucket that holds all devices of the variant; the others by `next`. */
const struct mxq_kernel *mxq_kernel_first(struct mxq_context *context,
                                          const struct mxq_variant *variant);

#endif
