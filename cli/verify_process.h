/* SPDX-License-Identifier: MIT
 *
 * A copy of this program that runs tasks (verify_worker.c), seen from the one that hands them out.
 */
#ifndef MXQ_CLI_VERIFY_PROCESS_H
#define MXQ_CLI_VERIFY_PROCESS_H

#include <sys/types.h>

#include "verify.h"

struct verify_process {
  pid_t pid; /* 0: none */
  int tasks, results;
  int alone; /* runs one task and ends */
  int spoke;
  size_t unanswered; /* tasks */
  struct text received;
};

/* MXQ_IO_ERROR: the copy could not be started. */
enum mxq_status verify_process_start(const struct verify_job *job, unsigned threads,
                                     struct verify_process *process);
/* A copy that is gone does not take it; its results end then. */
void verify_process_send(struct verify_process *process, const struct verify_task *task,
                         size_t index);
void verify_process_close_tasks(struct verify_process *process);

/* Reads what there is; 0 at the end of the results. */
int verify_process_receive(struct verify_process *process);
/* The next whole line that was received, parsed; NULL if there is none. */
cJSON *verify_process_line(struct verify_process *process);

/* Waits for the end and frees everything. `how` is told in words, such as "signal 11". */
void verify_process_end(struct verify_process *process, char *how, size_t size);
void verify_process_kill(const struct verify_process *process);

#endif
