/* SPDX-License-Identifier: MIT
 *
 * What mxq list --json tells of the kernels of a variant.
 */
#ifndef MXQ_CLI_LIST_KERNELS_H
#define MXQ_CLI_LIST_KERNELS_H

#include <stddef.h>

#include <mxq/mxq.h>

#include "args.h"
#include "json.h"
#include "kernel_id.h"

#define LIST_ARCHS 16

struct list_kernels {
  struct mxq_context *context;
  const struct mxq_arch *archs[LIST_ARCHS];
  size_t arch_count;
};

/* The archs given for option `arch`, each once, or the default one. Only finds what is compiled
 * already unless `compile` is set. list_kernels_end in any case. */
int list_kernels_begin(const struct arguments *arguments, size_t arch, int compile,
                       struct list_kernels *kernels);
void list_kernels_end(struct list_kernels *kernels);

/* Compiles what the caches lack, with progress on a terminal; an exit code. */
int list_kernels_compile(const struct list_kernels *kernels, const struct mxq_variant *variants,
                         size_t count);

/* Adds "kernels" to a variant's row: for each arch the kernels that plans select, with their tile,
 * threads and shared memory; registers and spills are null for one that is not compiled. */
void list_kernels_add(const struct list_kernels *kernels, const struct mxq_variant *variant,
                      cJSON *row);

#endif
