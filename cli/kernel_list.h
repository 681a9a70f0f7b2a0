/* SPDX-License-Identifier: MIT
 *
 * The kernels that a manifest stands for: every one that planning can select for its variants on
 * the archs.
 */
#ifndef MXQ_CLI_KERNEL_LIST_H
#define MXQ_CLI_KERNEL_LIST_H

#include <stddef.h>

#include "manifest.h"

struct listed_kernel {
  struct mxq_kernel_id id;
  const struct mxq_arch *arch;
};

struct kernel_list {
  struct manifest manifest;
  const struct mxq_arch **archs;
  size_t arch_count;
  struct listed_kernel *kernels; /* arch by arch, in the manifest's order */
  size_t count;
};

/* `archs` is a list with commas; NULL: the manifest's own. MXQ_UNSUPPORTED names a variant that an
 * arch cannot run. */
enum mxq_status kernel_list_read(const char *manifest, const char *archs, struct kernel_list *list);
void kernel_list_free(struct kernel_list *list);

#endif
