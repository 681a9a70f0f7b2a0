/* SPDX-License-Identifier: MIT */
#include "verify_groups.h"

#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "names.h"
#include "schedule.h"
#include "text.h"

static const char *token_of(const struct mxq_variant *variant, enum mxq_axis axis) {
  const struct mxq_axis_value *value;
  for (size_t i = 0; (value = mxq_axis_at(axis, variant->op, i)); i++)
    if (value->number == mxq_axis_get(variant, axis)) return value->token;
  return "unknown";
}

static int same_label(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static int same_labels(const struct verify_group *a, const struct verify_group *b) {
  for (int i = 0; i < VERIFY_LABELS; i++)
    if (!same_label(a->labels[i], b->labels[i])) return 0;
  return a->narrow == b->narrow;
}

/* Tasks come in the order of names: the group is often the last one. */
static void count(struct verify_groups *groups, const struct verify_group *key, unsigned state) {
  size_t i = groups->count;
  while (i > 0 && !same_labels(&groups->list[i - 1], key)) i--;
  if (i == 0) {
    groups->list = text_grow(groups->list, groups->count, &groups->capacity, sizeof *groups->list);
    groups->list[groups->count++] = *key;
    i = groups->count;
  }
  groups->list[i - 1].counts[state]++;
}

/* What moves scales has no types of elements: the scales', and where they go. */
static void label_types(const struct verify_task *task, struct verify_group *key) {
  const struct mxq_variant *variant = &task->id.variant;
  const int moves = task->id.family == MXQ_FAMILY_RELAYOUT;
  key->labels[0] =
      moves ? mxq_family_facts(task->id.family)->token : token_of(variant, MXQ_AXIS_OP);
  key->labels[1] = !moves                                     ? token_of(variant, MXQ_AXIS_IN)
                   : mxq_mode_scale_bits(variant->mode) == 32 ? "f32"
                                                              : "e8m0";
  key->labels[2] = token_of(variant, moves ? MXQ_AXIS_SCALES : MXQ_AXIS_OUT);
  key->labels[3] = verify_check_name(task->check);
}

void verify_groups_types(const struct verify_list *list, struct verify_groups *groups) {
  *groups = (struct verify_groups){0};
  for (size_t i = 0; i < list->count; i++) {
    const struct verify_task *task = &list->tasks[i];
    struct verify_group key = {.narrow = task->narrow};
    label_types(task, &key);
    count(groups, &key, task->state);
  }
}

static int by_axis(const void *a, const void *b) {
  const struct verify_group *left = a, *right = b;
  return left->narrow - right->narrow; /* holds the order of the axes meanwhile */
}

void verify_groups_axes(const struct verify_list *list, struct verify_groups *groups) {
  *groups = (struct verify_groups){0};
  for (size_t i = 0; i < list->count; i++) {
    const struct verify_task *task = &list->tasks[i];
    /* Of the name of what moves scales, the scale layout and the family count. */
    const int first = task->id.family == MXQ_FAMILY_RELAYOUT ? MXQ_AXIS_SCALES : 0;
    for (int axis = first; axis <= MXQ_AXIS_COUNT; axis++) {
      const char *value = axis < MXQ_AXIS_COUNT ? token_of(&task->id.variant, (enum mxq_axis)axis)
                                                : mxq_family_facts(task->id.family)->token;
      const char *name =
          axis < MXQ_AXIS_COUNT ? mxq_axis_name((enum mxq_axis)axis) : "family of kernels";
      const struct verify_group key = {.labels = {name, value}, .narrow = axis};
      count(groups, &key, task->state);
    }
  }
  if (groups->count) qsort(groups->list, groups->count, sizeof *groups->list, by_axis);
}

void verify_groups_reasons(const struct verify_list *list, struct verify_groups *groups) {
  *groups = (struct verify_groups){0};
  for (size_t i = 0; i < list->count; i++) {
    const struct verify_group key = {.labels = {mxq_status_name(list->tasks[i].status)}};
    if (list->tasks[i].state == VERIFY_SKIPPED) count(groups, &key, VERIFY_SKIPPED);
  }
  for (size_t g = 0; g < groups->count; g++)
    for (size_t i = list->count; i-- > 0;)
      if (list->tasks[i].state == VERIFY_SKIPPED &&
          same_label(mxq_status_name(list->tasks[i].status), groups->list[g].labels[0]))
        groups->list[g].labels[1] = list->tasks[i].why;
}

void verify_groups_total(const struct verify_list *list, struct verify_group *total) {
  *total = (struct verify_group){0};
  for (size_t i = 0; i < list->count; i++) total->counts[list->tasks[i].state]++;
}

void verify_groups_free(struct verify_groups *groups) {
  free(groups->list);
  *groups = (struct verify_groups){0};
}

char *verify_repeat(const struct verify_summary *summary, const struct verify_task *task) {
  const int usual = task->check <= VERIFY_SCALES && !task->narrow;
  return text_format("mxq verify %s --device %s%s%s%s", names_of_kernel(&task->id).text,
                     summary->job->device_name, task->narrow ? " --exhaustive" : "",
                     usual ? "" : " --check ", usual ? "" : verify_check_name(task->check));
}

char *verify_narrow_verdict(const struct verify_summary *summary) {
  const struct verify_list *list = &summary->job->list;
  const char *arch = summary->arch->name;
  size_t counts[VERIFY_STATES] = {0};
  if (!summary->exhaustive) return NULL;
  if (!summary->arch->has_narrow)
    return text_format("%s has no conversions to e2m3, e3m2, e2m1 and e8m0: none to turn on", arch);
  if (summary->arch->use_narrow)
    return text_format("%s: conversions to e2m3, e3m2, e2m1 and e8m0 are turned on", arch);
  for (size_t i = 0; i < list->count; i++) counts[list->tasks[i].state] += list->tasks[i].narrow;
  if (counts[VERIFY_FAILED])
    return text_format(
        "%s: %zu checks fail with the hardware's conversions to e2m3, e3m2, e2m1 "
        "and e8m0: use_narrow must stay 0",
        arch, counts[VERIFY_FAILED]);
  if (!summary->whole || counts[VERIFY_SKIPPED] || counts[VERIFY_WAITING])
    return text_format(
        "%s: the hardware's conversions to e2m3, e3m2, e2m1 and e8m0 passed %zu "
        "checks; to turn them on, all must pass: mxq verify --exhaustive",
        arch, counts[VERIFY_PASSED]);
  return text_format(
      "%s: all %zu checks pass with the hardware's conversions to e2m3, e3m2, e2m1 "
      "and e8m0. To turn them on: in the row {\"%s\", ...} of gen/arch.c, set the "
      "last column, use_narrow, to 1",
      arch, counts[VERIFY_PASSED], arch);
}
