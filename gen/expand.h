/* SPDX-License-Identifier: MIT */
#ifndef MXQ_GEN_EXPAND_H
#define MXQ_GEN_EXPAND_H

#include <stddef.h>
#include <stdint.h>

#include "kernel_id.h"
#include "memory.h"

/* Expands the kernel's template into one self-contained CUDA source, a zero-terminated string that
 * the caller frees with the same allocator. Pure: the same id and arch give the same bytes
 * anywhere. `template_dir` NULL means the templates built into the library; a folder is read
 * instead (for trying an edit out). MXQ_TEMPLATE_ERROR names the template's file and line. */
enum mxq_status mxq_expand(const struct mxq_allocator *allocator, const struct mxq_kernel_id *id,
                           const struct mxq_arch *arch, const char *template_dir, char **source,
                           size_t *length);

/* Hash of all built-in templates and of the generator's own sources, fixed at build. 32 hex
 * digits. Part of every cache key. */
extern const char mxq_generator_hash[];

#endif
