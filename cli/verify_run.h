/* SPDX-License-Identifier: MIT
 *
 * Running one task on the device: what one thread of a worker does.
 */
#ifndef MXQ_CLI_VERIFY_RUN_H
#define MXQ_CLI_VERIFY_RUN_H

#include "verify.h"

struct verify_runner;
enum mxq_status verify_runner_open(int device, int verbose, struct verify_runner **runner);
void verify_runner_close(struct verify_runner *runner); /* NULL is allowed */

/* The batches of the checks. The first fault ends a task. */
enum mxq_status verify_run_shapes(struct verify_runner *runner, struct verify_task *task);
enum mxq_status verify_run_scales(struct verify_runner *runner, struct verify_task *task);
enum mxq_status verify_run_maxima(struct verify_runner *runner, struct verify_task *task);
enum mxq_status verify_run_codes(struct verify_runner *runner, struct verify_task *task);
enum mxq_status verify_run_casts(struct verify_runner *runner, struct verify_task *task);

/* Runs a task and sets its state, why and details. VERIFY_WAITING: it says nothing of the kernel;
 * the status is of something that every task needs (report_code: EXIT_MISSING), or the device's
 * context takes no more launches after a kernel's fault, of this thread or of another. */
enum mxq_status verify_run(struct verify_runner *runner, struct verify_task *task);

#endif
