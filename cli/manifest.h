/* SPDX-License-Identifier: MIT
 *
 * Manifests: which variants somebody wants, and for which archs.
 *
 * JSON, a file whose first character is {:
 *   {"mxq_manifest": 1, "archs": ["90a"], "include": ["<name or glob>"], "exclude": ["<glob>"]}
 * or text, a variant's name or a shell glob a line, # before comments, which is what MXQ_RECORD
 * writes. "archs" and "exclude" may be absent.
 */
#ifndef MXQ_CLI_MANIFEST_H
#define MXQ_CLI_MANIFEST_H

#include <stddef.h>

#include "kernel_id.h"

struct manifest {
  struct mxq_variant *variants; /* legal ones, in the order of axes.def, each once; at least one */
  size_t count;
  const struct mxq_arch **archs; /* as the file has them, each once */
  size_t arch_count;             /* 0: the file names none, as text never does */
};

/* Reads a manifest. Every failure begins with "FILE:LINE: " (the file alone where no line is to
 * blame): MXQ_IO_ERROR: cannot be read; MXQ_INVALID_ARGUMENT: is no manifest, or selects nothing;
 * MXQ_UNKNOWN_NAME, MXQ_REFUSED: a name that is no variant's, a glob that matches none. */
enum mxq_status manifest_read(const char *path, struct manifest *manifest);
void manifest_free(struct manifest *manifest);

/* The archs of a command: those of `list` (NULL: not given), commas between them, else the
 * manifest's, else MXQ_INVALID_ARGUMENT. Each once; the caller frees the array. */
enum mxq_status manifest_archs(const struct manifest *manifest, const char *list,
                               const struct mxq_arch ***archs, size_t *count);

#endif
