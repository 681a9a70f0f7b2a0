/* SPDX-License-Identifier: MIT
 *
 * How much is done at a time.
 */
#ifndef MXQ_CLI_JOBS_H
#define MXQ_CLI_JOBS_H

#include "args.h"

/* Threads of one process wait for each other in NVRTC and in the driver: above that, copies of the
 * program share the work. */
enum { JOBS_OF_PROCESS = 4 };

#define JOBS_HELP "kernels at a time; one for each core, up to 64, if not given"

/* The number that an option gives, or that of the cores that this process may use. EXIT_USAGE: it
 * is no number that is allowed. */
int jobs_read(const struct arguments *arguments, size_t option, unsigned *jobs);

#endif
