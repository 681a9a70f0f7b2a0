/* SPDX-License-Identifier: MIT
 *
 * What manifest.c and manifest_json.c know of each other.
 */
#ifndef MXQ_CLI_MANIFEST_READER_H
#define MXQ_CLI_MANIFEST_READER_H

#include "manifest.h"
#include "text.h"

/* A name or a glob of the file. */
struct manifest_pattern {
  char *text;
  size_t line;
  int exclude, is_glob, used;
};

struct manifest_reader {
  const char *path;
  struct text text; /* of the file */
  struct manifest_pattern *patterns;
  size_t count, capacity;
  struct manifest manifest;
};

/* The thread's error again, with file and line (0: without) before it. */
enum mxq_status manifest_at(const struct manifest_reader *reader, size_t line,
                            enum mxq_status status);
/* The line of a place in the text. */
size_t manifest_line(const struct manifest_reader *reader, const char *at);

void manifest_add_pattern(struct manifest_reader *reader, const char *text, size_t length,
                          size_t line, int exclude);
void manifest_add_arch(const struct mxq_arch ***archs, size_t *count, const struct mxq_arch *arch);

/* Reads patterns and archs from a text in JSON. */
enum mxq_status manifest_read_json(struct manifest_reader *reader);

#endif
