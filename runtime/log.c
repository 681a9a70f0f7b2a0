/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>

#include "context.h"

int mxq_log_wants(const struct mxq_context *context, enum mxq_log_level level) {
  return context->log && context->log_level >= level;
}

void mxq_log(const struct mxq_context *context, enum mxq_log_level level, const char *format, ...) {
  char text[2048];
  va_list arguments;
  if (!mxq_log_wants(context, level)) return;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length >= 0) context->log(context->log_user, level, text);
}
