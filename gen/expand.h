/* SPDX-License-Identifier: MIT */
#ifndef MXQ_GEN_EXPAND_H
#define MXQ_GEN_EXPAND_H

#include <stddef.h>
#include <stdint.h>

#include "kernel_id.h"
#include "memory.h"

/* Expands kernels one after the other; each template is compiled once. To be used by one thread at
 * a time. */
struct mxq_expander;

/* `template_dir` NULL means the templates built into the library; a folder is read instead, and
 * only it (for trying an edit out). MXQ_IO_ERROR: there is no such folder. */
enum mxq_status mxq_expander_create(const struct mxq_allocator *allocator, const char *template_dir,
                                    struct mxq_expander **expander);
void mxq_expander_destroy(struct mxq_expander *expander); /* NULL is allowed */

/* Expands the kernel's template into one self-contained CUDA source, a zero-terminated string that
 * the caller frees with the same allocator. Pure: the same id and arch give the same bytes
 * anywhere. MXQ_TEMPLATE_ERROR names the template's file and line. */
enum mxq_status mxq_expander_expand(struct mxq_expander *expander, const struct mxq_kernel_id *id,
                                    const struct mxq_arch *arch, char **source, size_t *length);

/* The same for a single kernel. */
enum mxq_status mxq_expand(const struct mxq_allocator *allocator, const struct mxq_kernel_id *id,
                           const struct mxq_arch *arch, const char *template_dir, char **source,
                           size_t *length);

/* Hash of all built-in templates and of the generator's own sources, fixed at build. 32 hex
 * digits. Part of every cache key. */
extern const char mxq_generator_hash[];

#endif
