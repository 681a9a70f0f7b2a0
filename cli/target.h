/* SPDX-License-Identifier: MIT
 *
 * What a command works on: an arch, a kernel, a context.
 */
#ifndef MXQ_CLI_TARGET_H
#define MXQ_CLI_TARGET_H

#include <mxq/mxq.h>

#include "args.h"
#include "kernel_id.h"

/* The arch of a name; 90a for NULL. */
enum mxq_status target_arch(const char *name, const struct mxq_arch **arch);

/* The kernel that a command line names: `name` is a variant or a kernel, `kernel` NULL, a kernel's
 * full name or what follows its dot. A variant alone gives the kernel that a large aligned tensor
 * gets on the arch. */
enum mxq_status target_kernel(const char *name, const char *kernel, const struct mxq_arch *arch,
                              struct mxq_kernel_id *id);

/* A context with default settings whose log goes to standard error; with --verbose, it tells where
 * each kernel came from. */
enum mxq_status target_context(const struct arguments *arguments, struct mxq_context **context);

#endif
