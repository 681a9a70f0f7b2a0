/* SPDX-License-Identifier: MIT
 *
 * The three files of a prebuilt set: NAME.blob, NAME_registry.c, NAME.h. Pure: the same kernels and
 * words give the same bytes anywhere; no path and no time is in them.
 */
#ifndef MXQ_GEN_EMIT_H
#define MXQ_GEN_EMIT_H

#include <stddef.h>
#include <stdint.h>

#include "kernel_id.h"
#include "memory.h"

/* One kernel for one arch. */
struct mxq_emit_kernel {
  struct mxq_kernel_id id;
  const struct mxq_arch *arch;
  uint32_t registers, spill_store_bytes, spill_load_bytes, stack_bytes;
  const unsigned char *cubin;
  size_t cubin_size;
};

/* What the texts say of themselves. */
struct mxq_emit_words {
  const char *name;     /* a C identifier */
  const char *command;  /* that makes the files anew */
  const char *compiler; /* "NVRTC 13.0" */
};

struct mxq_emit_file {
  char *bytes; /* freed with the allocator */
  size_t size;
};

enum { MXQ_EMIT_BLOB, MXQ_EMIT_SOURCE, MXQ_EMIT_HEADER, MXQ_EMIT_FILES };

/* Whether a name can be a set's: an identifier of at most 80 characters that does not begin with
 * mxq_, the library's own prefix. MXQ_INVALID_ARGUMENT says what is wrong. */
enum mxq_status mxq_emit_check_name(const char *name);

/* Makes the files of a set. Sorts `kernels`; one that is there twice is MXQ_INVALID_ARGUMENT. */
enum mxq_status mxq_emit(const struct mxq_allocator *allocator, struct mxq_emit_kernel *kernels,
                         size_t count, const struct mxq_emit_words *words,
                         struct mxq_emit_file files[MXQ_EMIT_FILES]);
void mxq_emit_free(const struct mxq_allocator *allocator,
                   struct mxq_emit_file files[MXQ_EMIT_FILES]);

/* What follows the set's name in the name of each file: ".blob", "_registry.c", ".h". */
extern const char *const mxq_emit_suffixes[MXQ_EMIT_FILES];

#endif
