/* SPDX-License-Identifier: MIT
 *
 * What people read of a run: failures and why, what was skipped, tables, and a last line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "table.h"
#include "verify_groups.h"

enum { SHOWN_FAILURES = 20, SHOWN_CASES = 3 };

static void print_shape(const cJSON *detail) {
  const cJSON *shape = cJSON_GetObjectItemCaseSensitive(detail, "shape");
  const cJSON *strides = cJSON_GetObjectItemCaseSensitive(detail, "strides");
  char *lengths = cJSON_PrintUnformatted(shape), *steps = cJSON_PrintUnformatted(strides);
  const cJSON *count = cJSON_GetObjectItemCaseSensitive(detail, "differences");
  printf("  case \"%s\", shape %s, strides %s: %.0f difference%s\n",
         cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(detail, "case")),
         lengths ? lengths : "", steps ? steps : "", cJSON_GetNumberValue(count),
         cJSON_GetNumberValue(count) > 1 ? "s" : "");
  cJSON_free(lengths);
  cJSON_free(steps);
}

static void print_failure(const struct verify_summary *summary, const struct verify_task *task) {
  const cJSON *detail, *line;
  printf("FAILED %s%s: %s\n", names_of_kernel(&task->id).text,
         task->narrow ? " with hardware conversions" : "", verify_check_name(task->check));
  if (task->why) printf("  %s\n", task->why);
  size_t cases = 0;
  cJSON_ArrayForEach(detail, task->details) {
    if (++cases > SHOWN_CASES) continue;
    print_shape(detail);
    cJSON_ArrayForEach(line, cJSON_GetObjectItemCaseSensitive(detail, "first"))
        printf("    %s\n", cJSON_GetStringValue(line));
  }
  if (cases > SHOWN_CASES) printf("  and %zu more cases\n", cases - SHOWN_CASES);
  char *command = verify_repeat(summary, task);
  printf("  repeat: %s\n\n", command);
  free(command);
}

static void print_failures(const struct verify_summary *summary) {
  const struct verify_list *list = &summary->job->list;
  size_t failures = 0;
  for (size_t i = 0; i < list->count; i++) {
    if (list->tasks[i].state != VERIFY_FAILED) continue;
    if (failures++ < SHOWN_FAILURES) print_failure(summary, &list->tasks[i]);
  }
  if (failures > SHOWN_FAILURES)
    printf("%zu more failed; --json lists all of them\n\n", failures - SHOWN_FAILURES);
}

static void print_counts(struct table *table, const struct verify_group *group) {
  for (unsigned state = VERIFY_PASSED; state < VERIFY_STATES; state++)
    table_cell(table, "%zu", group->counts[state]);
  table_cell(table, "%zu", group->counts[VERIFY_WAITING]);
}

static void print_groups(const struct verify_groups *groups) {
  static const char *const headings[] = {"operation", "from",    "to",       "check",
                                         ">passed",   ">failed", ">skipped", ">not run"};
  struct table table;
  table_begin(&table, 8, headings);
  for (size_t i = 0; i < groups->count; i++) {
    const struct verify_group *group = &groups->list[i];
    table_cell(&table, "%s", group->labels[0]);
    table_cell(&table, "%s", group->labels[1]);
    table_cell(&table, "%s", group->labels[2]);
    table_cell(&table, "%s%s", group->labels[3], group->narrow ? ", hardware conversions" : "");
    print_counts(&table, group);
  }
  table_print(&table, stdout);
  table_free(&table);
  puts("");
}

/* Whether the part of the name has another value too. */
static int has_choice(const struct verify_groups *groups, size_t at) {
  const char *part = groups->list[at].labels[0];
  return (at > 0 && groups->list[at - 1].labels[0] == part) ||
         (at + 1 < groups->count && groups->list[at + 1].labels[0] == part);
}

/* What failures have in common shows here. */
static void print_axes(const struct verify_groups *groups) {
  static const char *const headings[] = {"part of the name", "value",    ">passed",
                                         ">failed",          ">skipped", ">not run"};
  struct table table;
  table_begin(&table, 6, headings);
  for (size_t i = 0; i < groups->count; i++) {
    if (!has_choice(groups, i)) continue;
    table_cell(&table, "%s", groups->list[i].labels[0]);
    table_cell(&table, "%s", groups->list[i].labels[1]);
    print_counts(&table, &groups->list[i]);
  }
  table_print(&table, stdout);
  table_free(&table);
  puts("");
}

static void print_reasons(const struct verify_groups *reasons) {
  for (size_t i = 0; i < reasons->count; i++)
    printf("skipped %zu, %s, such as: %s\n", reasons->list[i].counts[VERIFY_SKIPPED],
           reasons->list[i].labels[0], reasons->list[i].labels[1]);
  if (reasons->count) puts("");
}

void verify_report_print(const struct verify_summary *summary) {
  struct verify_groups groups, axes, reasons;
  struct verify_group total = {0};
  verify_groups_types(&summary->job->list, &groups);
  verify_groups_axes(&summary->job->list, &axes);
  verify_groups_reasons(&summary->job->list, &reasons);
  verify_groups_total(&summary->job->list, &total);
  print_failures(summary);
  if (total.counts[VERIFY_FAILED]) print_axes(&axes);
  print_reasons(&reasons);
  print_groups(&groups);
  char *verdict = verify_narrow_verdict(summary);
  if (verdict) printf("%s\n", verdict);
  printf(
      "%s %s (arch %s, driver CUDA %d.%d): %zu passed, %zu failed, %zu skipped, %zu not run, "
      "in %.1f s%s\n",
      summary->job->device_name, summary->device->name, summary->arch->name,
      summary->device->driver_version / 1000, summary->device->driver_version % 1000 / 10,
      total.counts[VERIFY_PASSED], total.counts[VERIFY_FAILED], total.counts[VERIFY_SKIPPED],
      total.counts[VERIFY_WAITING], summary->seconds, summary->interrupted ? "; interrupted" : "");
  free(verdict);
  verify_groups_free(&groups);
  verify_groups_free(&axes);
  verify_groups_free(&reasons);
}
