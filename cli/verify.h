/* SPDX-License-Identifier: MIT
 *
 * What mxq verify is made of: a list of tasks, each a kernel and what it is held to; copies of the
 * program that run them on the device; a report.
 */
#ifndef MXQ_CLI_VERIFY_H
#define MXQ_CLI_VERIFY_H

#include <stddef.h>
#include <stdint.h>

#include "device.h"
#include "json.h"
#include "kernel_id.h"
#include "text.h"

enum verify_check {
  VERIFY_SHAPES, /* every shape of check_cases.h */
  VERIFY_SCALES, /* moving scales between layouts and back, at those shapes */
  VERIFY_MAXIMA, /* every 16-bit pattern as the maximum of a block */
  VERIFY_CODES,  /* every code with every scale */
  VERIFY_CASTS,  /* every float32 as an input */
  VERIFY_CHECKS
};
/* "shapes", "scales", ... */
const char *verify_check_name(unsigned check);

enum verify_state { VERIFY_WAITING, VERIFY_PASSED, VERIFY_FAILED, VERIFY_SKIPPED, VERIFY_STATES };
const char *verify_state_name(unsigned state);

struct verify_task {
  struct mxq_kernel_id id;
  uint8_t check;  /* enum verify_check */
  uint8_t narrow; /* with hardware conversions that are not turned on yet */
  uint8_t light;  /* the light shapes alone */
  uint8_t part;   /* of a check's `verify_parts` */
  uint8_t state;  /* enum verify_state */
  enum mxq_status status;
  char *why;      /* why it was skipped, or failed without a difference */
  cJSON *details; /* an array of differences, NULL if there are none */
};

struct verify_list {
  struct verify_task *tasks;
  size_t count, capacity;
};

struct verify_choice {
  const char *const *patterns; /* globs of variants or, with a dot, of kernels; none: all */
  size_t pattern_count;
  const struct mxq_arch *arch;
  unsigned checks; /* bits: 1 << enum verify_check */
  int narrow;      /* also with hardware conversions that are not turned on yet */
  int light;
  int pairwise; /* of the kernels for tensors, a pairwise set (check_pairs.h) from `seed` */
  uint64_t seed;
};

/* Everything that is chosen. A pattern that matches nothing is MXQ_UNKNOWN_NAME. */
enum mxq_status verify_list_make(const struct verify_choice *choice, struct verify_list *list);
void verify_list_free(struct verify_list *list);
/* The names of the kernels, one a line or a JSON array; the exit code. */
int verify_list_print(const struct verify_list *list, int json);

/* Whether the arch has conversions that its kernels do not use yet (gen/arch.c). */
int verify_can_turn_on(const struct mxq_arch *arch);

/* The bit of a check by its name, 0 for an unknown one. */
unsigned verify_check_bit(const char *name, size_t length);

/* How many tasks a check is cut into for a kernel; 0 where the check is not for the kernel. */
unsigned verify_parts(const struct mxq_kernel_id *id, enum verify_check check);
unsigned verify_scale_parts(const struct mxq_kernel_id *id); /* of VERIFY_SCALES */

/* One line for a worker, and back. */
void verify_task_write(const struct verify_task *task, size_t index, struct text *line);
enum mxq_status verify_task_read(const char *line, struct verify_task *task, size_t *index);

struct verify_job {
  const char *device_name; /* "cuda:0" */
  unsigned jobs;           /* tasks at a time */
  int verbose;
  struct verify_list list;
};

/* Runs the list on copies of this program until all is done, Ctrl-C, or something is missing that
 * every task needs, which is what comes back then. 1 in `interrupted` after Ctrl-C. */
enum mxq_status verify_pool_run(struct verify_job *job, int *interrupted);

/* What a copy does: tasks from standard input, results to standard output. The exit code. */
int verify_worker_run(int device, unsigned threads, int verbose);

struct verify_summary {
  const struct verify_job *job;
  const struct mxq_device_info *device;
  const struct mxq_arch *arch;
  double seconds;
  int interrupted;
  int exhaustive, whole; /* whether all kernels, checks and shapes were selected */
  enum mxq_status missing;
};
void verify_report_print(const struct verify_summary *summary);
void verify_report_json(const struct verify_summary *summary);

#endif
