/* SPDX-License-Identifier: MIT
 *
 * What people are told: results on standard output, everything else on standard error.
 */
#ifndef MXQ_CLI_REPORT_H
#define MXQ_CLI_REPORT_H

#include <mxq/status.h>

#include "command.h"

/* "mxq: MESSAGE" on standard error. */
void report_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The message and where the help is; EXIT_USAGE. */
int report_usage(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The exit code of a status. */
int report_code(enum mxq_status status);
/* Nothing for MXQ_OK, else the thread's error text; the exit code. */
int report_status(enum mxq_status status);
/* Flushes standard output: a result that could not be written is a failure. */
int report_finish(int code);

/* A line of progress that replaces the one before, on a terminal only. */
void report_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_progress_end(void);

#endif
