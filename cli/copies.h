/* SPDX-License-Identifier: MIT
 *
 * Copies of this program that share some work.
 */
#ifndef MXQ_CLI_COPIES_H
#define MXQ_CLI_COPIES_H

#include "json.h"
#include "text.h"

/* Runs `count` copies at once with the arguments (NULL after the last), each with an input of its
 * own as /dev/stdin, and waits for all. Appends what each printed, parsed, to `results`; prints
 * what they said, a line that several said once, and of those that failed alike what the first
 * said. The exit code of the first that failed. */
int copies_run(const char *const *arguments, const struct text *inputs, unsigned count,
               cJSON *results);

#endif
