/* SPDX-License-Identifier: MIT */
#include "text_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "status.h"

static enum mxq_status read_all(const char *path, FILE *stream, size_t most, struct text *text) {
  char chunk[65536];
  size_t got;
  while ((got = fread(chunk, 1, sizeof chunk, stream)) > 0) {
    text_append(text, chunk, got);
    MXQ_FAIL_IF(text->length > most, MXQ_IO_ERROR, "%s: has more than the %zu bytes allowed here",
                path, most);
  }
  MXQ_FAIL_IF(ferror(stream), MXQ_IO_ERROR, "%s: %s", path, strerror(errno));
  return MXQ_OK;
}

enum mxq_status text_read_file(const char *path, size_t most, struct text *text) {
  FILE *stream = fopen(path, "rbe");
  MXQ_FAIL_IF(!stream, MXQ_IO_ERROR, "%s: %s", path, strerror(errno));
  text_append(text, "", 0);
  const enum mxq_status status = read_all(path, stream, most, text);
  fclose(stream);
  return status;
}
