/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "names.h"
#include "verify_groups.h"

static const char *const count_keys[] = {"not_run", "passed", "failed", "skipped"};

static void add_counts(cJSON *object, const struct verify_group *group) {
  for (unsigned state = 0; state < VERIFY_STATES; state++)
    json_add_integer(object, count_keys[state], (int64_t)group->counts[state]);
}

/* One object a group, with a key for each of its labels. */
static cJSON *groups_json(const struct verify_groups *groups, const char *const *keys) {
  cJSON *array = json_array();
  for (size_t i = 0; i < groups->count; i++) {
    cJSON *object = json_object();
    for (size_t k = 0; keys[k]; k++) json_add_string(object, keys[k], groups->list[i].labels[k]);
    add_counts(object, &groups->list[i]);
    json_add(array, NULL, object);
  }
  return array;
}

static cJSON *task_json(const struct verify_summary *summary, const struct verify_task *task) {
  cJSON *object = json_object();
  char *repeat = verify_repeat(summary, task);
  json_add_string(object, "kernel", names_of_kernel(&task->id).text);
  json_add_string(object, "variant", names_of(&task->id.variant).text);
  json_add_string(object, "check", verify_check_name(task->check));
  json_add_integer(object, "part", task->part);
  json_add_bool(object, "hardware_conversions", task->narrow);
  json_add_string(object, "why", task->why);
  json_add_string(object, "repeat", repeat);
  if (task->details) json_add(object, "cases", cJSON_Duplicate(task->details, 1));
  free(repeat);
  return object;
}

static void add_groups(cJSON *result, const struct verify_list *list) {
  static const char *const types[] = {"op", "in", "out", "check", NULL};
  static const char *const axes[] = {"part", "value", NULL};
  static const char *const reasons[] = {"status", "why", NULL};
  struct verify_groups groups;
  verify_groups_types(list, &groups);
  json_add(result, "types", groups_json(&groups, types));
  verify_groups_free(&groups);
  verify_groups_axes(list, &groups);
  json_add(result, "names", groups_json(&groups, axes));
  verify_groups_free(&groups);
  verify_groups_reasons(list, &groups);
  json_add(result, "skipped_because", groups_json(&groups, reasons));
  verify_groups_free(&groups);
}

void verify_report_json(const struct verify_summary *summary) {
  const struct verify_list *list = &summary->job->list;
  cJSON *result = json_object(), *device = json_object(), *failures = json_array();
  struct verify_group total;
  char *verdict = verify_narrow_verdict(summary);
  json_add_string(result, "version", mxq_version());
  json_add_string(device, "device", summary->job->device_name);
  json_add_string(device, "name", summary->device->name);
  json_add_string(device, "arch", summary->arch->name);
  json_add_integer(device, "driver", summary->device->driver_version);
  json_add(result, "device", device);
  verify_groups_total(list, &total);
  add_counts(result, &total);
  json_add_number(result, "seconds", summary->seconds);
  json_add_bool(result, "interrupted", summary->interrupted);
  json_add_bool(result, "exhaustive", summary->exhaustive);
  json_add_string(result, "hardware_conversions", verdict);
  add_groups(result, list);
  for (size_t i = 0; i < list->count; i++)
    if (list->tasks[i].state == VERIFY_FAILED)
      json_add(failures, NULL, task_json(summary, &list->tasks[i]));
  json_add(result, "failures", failures);
  json_print(result);
  free(verdict);
}
