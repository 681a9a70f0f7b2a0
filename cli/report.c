/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

static int progress_shown;

static const struct {
  enum mxq_status status;
  int code;
} codes[] = {
    {MXQ_OK, EXIT_DONE},
    {MXQ_INVALID_ARGUMENT, EXIT_USAGE},
    {MXQ_UNKNOWN_NAME, EXIT_USAGE},
    {MXQ_REFUSED, EXIT_USAGE},
    {MXQ_NO_DRIVER, EXIT_MISSING},
    {MXQ_NO_NVRTC, EXIT_MISSING},
    {MXQ_NO_DEVICE, EXIT_MISSING},
    {MXQ_NOT_PREBUILT, EXIT_MISSING},
};

/* Texts may hold names from files: nothing that a terminal would obey is let through. */
static void print_visible(const char *format, va_list arguments, const char *kept) {
  struct text text = {0}, visible = {0};
  text_print_list(&text, format, arguments);
  for (size_t i = 0; i < text.length; i++) {
    const char *c = text.data + i;
    if (strchr(kept, *c))
      text_append(&visible, c, 1);
    else
      text_visible(&visible, c, 1);
  }
  if (visible.length) fputs(visible.data, stderr);
  text_free(&text);
  text_free(&visible);
}

static void print_line(const char *format, va_list arguments) {
  report_progress_end();
  fputs("mxq: ", stderr);
  print_visible(format, arguments, "\n\t");
  fputc('\n', stderr);
}

void report_note(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line(format, arguments);
  va_end(arguments);
}

int report_usage(const struct command *command, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line(format, arguments);
  va_end(arguments);
  fprintf(stderr, "mxq: see mxq %s%s--help\n", command ? command->name : "", command ? " " : "");
  return EXIT_USAGE;
}

int report_code(enum mxq_status status) {
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (codes[i].status == status) return codes[i].code;
  return EXIT_FAILED;
}

int report_status(enum mxq_status status) {
  if (status != MXQ_OK) report_note("%s", mxq_last_error());
  return report_code(status);
}

int report_finish(int code) {
  const int failed = fflush(stdout) != 0 || ferror(stdout);
  if (!failed) return code;
  /* A reader that has seen enough (head) knows that the pipe is closed. */
  if (errno != EPIPE) report_note("standard output: %s", strerror(errno));
  return code == EXIT_DONE ? EXIT_FAILED : code;
}

void report_progress(const char *format, ...) {
  if (!isatty(STDERR_FILENO)) return;
  va_list arguments;
  va_start(arguments, format);
  fputs("\r\033[K", stderr);
  print_visible(format, arguments, "");
  fflush(stderr);
  va_end(arguments);
  progress_shown = 1;
}

void report_progress_end(void) {
  if (progress_shown) fputs("\r\033[K", stderr);
  progress_shown = 0;
}
