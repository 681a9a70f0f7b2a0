/* SPDX-License-Identifier: MIT
 *
 * From a CUDA source to a cubin, through NVRTC.
 */
#ifndef MXQ_COMPILE_H
#define MXQ_COMPILE_H

#include <stddef.h>

#include "image.h"
#include "memory.h"
#include "nvrtc.h"

/* The options of every compile but for the arch, one text: a part of cache keys. */
extern const char mxq_compile_options[];

struct mxq_compiled {
  char *code; /* cubin, or zero-terminated PTX; freed with the allocator */
  size_t size;
  char *ptx; /* of MXQ_COMPILE_BOTH: what the cubin was assembled from, to be freed too; or NULL */
  struct mxq_resources resources; /* of a cubin */
};

enum mxq_compile_output { MXQ_COMPILE_CUBIN, MXQ_COMPILE_PTX, MXQ_COMPILE_BOTH };

/* Compiles `source`, the expansion of the kernel called `name`, for `arch`. MXQ_COMPILE_FAILED
 * holds the kernel, NVRTC's log and the command that reproduces the source. An arch that this NVRTC
 * does not know is MXQ_NO_NVRTC naming both. Any number of threads at once. */
enum mxq_status mxq_compile(const struct mxq_allocator *allocator, const struct mxq_nvrtc *nvrtc,
                            const char *source, const char *name, const struct mxq_arch *arch,
                            enum mxq_compile_output output, struct mxq_compiled *compiled);

#endif
