/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "bench.h"

int bench_exit(enum mxq_status status) {
  fprintf(stderr, "mxq-bench: %s: %s\n", mxq_status_name(status), mxq_last_error());
  const int missing = status == MXQ_NO_DRIVER || status == MXQ_NO_DEVICE || status == MXQ_NO_NVRTC;
  return missing ? BENCH_MISSING : BENCH_FAILED;
}

void bench_progress(const char *format, ...) {
  va_list arguments;
  if (!isatty(STDERR_FILENO)) return;
  fputs("\r\033[K", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fflush(stderr);
}
