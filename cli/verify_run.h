/* SPDX-License-Identifier: MIT
 *
 * Running one task on the device: what one thread of a worker does.
 */
#ifndef MXQ_CLI_VERIFY_RUN_H
#define MXQ_CLI_VERIFY_RUN_H

#include "check_region.h"
#include "verify.h"

/* One launch: its tensors, and what they are filled with. */
struct verify_slot {
  const char *what; /* the case */
  struct check_region region;
  uint64_t offset; /* of the region in the piece of memory that all slots share */
  uint64_t seed;
  int idle; /* its addresses only make the plan that the next slot is launched with */
  void (*fill)(const struct check_region *region, uint64_t seed, unsigned char *base);
};

enum { VERIFY_SLOTS = 32 };

/* The launches of one kernel that are made at once. */
struct verify_batch {
  struct verify_slot slots[VERIFY_SLOTS];
  size_t count;
  uint64_t bytes;
};

/* Adds a slot behind the others; `fill` NULL: hard values. */
enum mxq_status verify_batch_add(struct verify_batch *batch, const struct verify_slot *slot);

struct verify_runner;
enum mxq_status verify_runner_open(int device, int verbose, struct verify_runner **runner);
void verify_runner_close(struct verify_runner *runner); /* NULL is allowed */

/* Fills, uploads, launches, computes the same on the CPU, downloads and compares. Differences go to
 * task->details. */
enum mxq_status verify_batch_run(struct verify_runner *runner, const struct verify_batch *batch,
                                 struct verify_task *task);

/* The batches of the checks. The first fault ends a task. */
enum mxq_status verify_run_shapes(struct verify_runner *runner, struct verify_task *task);
enum mxq_status verify_run_maxima(struct verify_runner *runner, struct verify_task *task);
enum mxq_status verify_run_codes(struct verify_runner *runner, struct verify_task *task);
enum mxq_status verify_run_casts(struct verify_runner *runner, struct verify_task *task);

/* Runs a task and sets its state, why and details. VERIFY_WAITING: it says nothing of the kernel;
 * the status is of something that every task needs (report_code: EXIT_MISSING), or the device's
 * context takes no more launches after a kernel's fault, of this thread or of another. */
enum mxq_status verify_run(struct verify_runner *runner, struct verify_task *task);

#endif
