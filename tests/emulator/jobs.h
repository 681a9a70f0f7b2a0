/* SPDX-License-Identifier: MIT
 *
 * Work that is shared out to child processes.
 */
#ifndef EMU_JOBS_H
#define EMU_JOBS_H

#include <stddef.h>
#include <stdint.h>

struct emu_totals {
  uint64_t kernels, runs, bad; /* bad: kernels with a hazard or a difference */
  uint64_t unfit;              /* kernels that do not take a shape */
};

/* Calls work(context, job, jobs, totals) once for each of `jobs` jobs, each in a process of its own
 * where there are several, and adds up the totals. 1 if all returned 1. */
int emu_jobs_run(size_t jobs,
                 int (*work)(const void *context, size_t job, size_t jobs,
                             struct emu_totals *totals),
                 const void *context, struct emu_totals *totals);

#endif
