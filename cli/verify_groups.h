/* SPDX-License-Identifier: MIT
 *
 * Counts of results, by what tasks have in common.
 */
#ifndef MXQ_CLI_VERIFY_GROUPS_H
#define MXQ_CLI_VERIFY_GROUPS_H

#include "verify.h"

enum { VERIFY_LABELS = 4 };

struct verify_group {
  const char *labels[VERIFY_LABELS]; /* not owned */
  int narrow;
  size_t counts[VERIFY_STATES];
};

struct verify_groups {
  struct verify_group *list;
  size_t count, capacity;
};

/* By operation, input type, output type and check: the labels. */
void verify_groups_types(const struct verify_list *list, struct verify_groups *groups);
/* By each part of a kernel's name: the part, and its value. A task is in several. */
void verify_groups_axes(const struct verify_list *list, struct verify_groups *groups);
/* What was skipped, by the status that it ended with: its name, and the text of the first. */
void verify_groups_reasons(const struct verify_list *list, struct verify_groups *groups);
void verify_groups_total(const struct verify_list *list, struct verify_group *total);
void verify_groups_free(struct verify_groups *groups);

/* The command that runs a task again; the caller frees it. */
char *verify_repeat(const struct verify_summary *summary, const struct verify_task *task);
/* Whether conversions of the arch that kernels do not use yet may be turned on, and how; NULL where
 * that was not asked. The caller frees it. */
char *verify_narrow_verdict(const struct verify_summary *summary);

#endif
