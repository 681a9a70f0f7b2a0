/* SPDX-License-Identifier: MIT */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_error[MXQ_ERROR_SIZE];

const char *mxq_status_name(enum mxq_status status) {
  static const struct {
    enum mxq_status number;
    const char *name;
  } rows[] = {
#define ROW(NAME, number, text) {MXQ_##NAME, "MXQ_" #NAME},
      MXQ_STATUS_TABLE(ROW)
#undef ROW
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
    if (rows[i].number == status) return rows[i].name;
  return "MXQ_STATUS_UNKNOWN";
}

const char *mxq_last_error(void) { return last_error; }

enum mxq_status mxq_status_set(enum mxq_status status, const char *format, ...) {
  static const char mark[] = " ...";
  char text[MXQ_ERROR_SIZE]; /* the arguments may point into last_error */
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length < 0) text[0] = 0;
  if (length >= (int)sizeof text) memcpy(text + sizeof text - sizeof mark, mark, sizeof mark);
  memcpy(last_error, text, strlen(text) + 1);
  return status;
}

void mxq_error_keep(struct mxq_kept_error *kept) {
  memcpy(kept->text, last_error, strlen(last_error) + 1);
}

void mxq_error_restore(const struct mxq_kept_error *kept) {
  memcpy(last_error, kept->text, strlen(kept->text) + 1);
}
