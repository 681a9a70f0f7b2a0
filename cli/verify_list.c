/* SPDX-License-Identifier: MIT */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "selectable.h"
#include "status.h"
#include "text.h"
#include "verify.h"

/* What is selected: kernels, and which patterns selected any. */
struct picker {
  const char *const *patterns;
  size_t pattern_count;
  char *used;
  const struct mxq_arch *arch;
  struct mxq_kernel_id *ids;
  size_t count, capacity;
};

static int picks(struct picker *picker, const char *variant, const char *kernel) {
  int matched = picker->pattern_count == 0;
  for (size_t i = 0; i < picker->pattern_count; i++) {
    const char *pattern = picker->patterns[i];
    if (fnmatch(pattern, strchr(pattern, '.') ? kernel : variant, 0)) continue;
    matched = 1;
    picker->used[i] = 1;
  }
  return matched;
}

static void pick(struct picker *picker, const struct mxq_kernel_id *id) {
  picker->ids = text_grow(picker->ids, picker->count, &picker->capacity, sizeof *picker->ids);
  picker->ids[picker->count++] = *id;
}

/* Every kernel that selection can return for the variant on the arch. */
static enum mxq_status pick_kernels(struct picker *picker, const struct mxq_variant *variant) {
  struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST];
  char kernel[MXQ_KERNEL_NAME_SIZE];
  size_t count = 0;
  const enum mxq_status status = mxq_selectable_by_plans(variant, picker->arch, ids, &count);
  if (status != MXQ_UNSUPPORTED) MXQ_TRY(status);
  for (size_t i = 0; i < count; i++) {
    MXQ_TRY(mxq_kernel_id_name(&ids[i], kernel, sizeof kernel));
    if (picks(picker, names_of(variant).text, kernel)) pick(picker, &ids[i]);
  }
  return MXQ_OK;
}

/* A kernel by its full name may have a schedule that selection does not return. */
static enum mxq_status pick_unused(struct picker *picker) {
  for (size_t i = 0; i < picker->pattern_count; i++) {
    const char *pattern = picker->patterns[i];
    struct mxq_variant *variants = NULL;
    struct mxq_kernel_id id;
    size_t found = 0;
    if (picker->used[i]) continue;
    if (!strchr(pattern, '.')) {
      MXQ_TRY(names_match(&pattern, 1, &variants, &found));
      free(variants);
    } else if (!strpbrk(pattern, "*?[")) {
      MXQ_TRY(mxq_kernel_id_parse(pattern, &id));
      pick(picker, &id);
      continue;
    }
    MXQ_FAIL(MXQ_UNKNOWN_NAME, "no kernel for arch %s matches \"%s\"", picker->arch->name, pattern);
  }
  return MXQ_OK;
}

static void add_tasks(struct verify_list *list, const struct picker *picker,
                      enum verify_check check, int narrow) {
  for (size_t i = 0; i < picker->count; i++) {
    const struct mxq_kernel_id *id = &picker->ids[i];
    const unsigned parts = verify_parts(id, check);
    const int runs = mxq_kernel_id_check_arch(id, picker->arch) == MXQ_OK;
    for (unsigned part = 0; part < parts; part++) {
      list->tasks = text_grow(list->tasks, list->count, &list->capacity, sizeof *list->tasks);
      struct verify_task *task = &list->tasks[list->count++];
      *task = (struct verify_task){
          .id = *id, .check = (uint8_t)check, .narrow = (uint8_t)narrow, .part = (uint8_t)part};
      if (runs) continue;
      task->state = VERIFY_SKIPPED;
      task->status = MXQ_UNSUPPORTED;
      task->why = text_format("%s", mxq_last_error());
    }
  }
}

const char *verify_check_name(unsigned check) {
  static const char *const names[] = {"shapes", "maxima", "codes", "casts"};
  return check < VERIFY_CHECKS ? names[check] : "unknown";
}

const char *verify_state_name(unsigned state) {
  static const char *const names[] = {"not run", "passed", "failed", "skipped"};
  return state < VERIFY_STATES ? names[state] : "unknown";
}

enum mxq_status verify_list_make(const char *const *patterns, size_t count,
                                 const struct mxq_arch *arch, int exhaustive,
                                 struct verify_list *list) {
  struct picker picker = {.patterns = patterns, .pattern_count = count, .arch = arch};
  struct mxq_variant variant = {0};
  enum mxq_status status = MXQ_OK;
  picker.used = text_allocate(count, 1);
  while (status == MXQ_OK && mxq_variant_next(&variant)) status = pick_kernels(&picker, &variant);
  if (status == MXQ_OK) status = pick_unused(&picker);
  *list = (struct verify_list){0};
  const int narrow = exhaustive && verify_can_turn_on(arch);
  for (int n = 0; status == MXQ_OK && n <= narrow; n++)
    for (int check = 0; check < (exhaustive ? VERIFY_CHECKS : 1); check++)
      add_tasks(list, &picker, (enum verify_check)check, n);
  free(picker.used);
  free(picker.ids);
  return status;
}

void verify_list_free(struct verify_list *list) {
  for (size_t i = 0; i < list->count; i++) {
    free(list->tasks[i].why);
    cJSON_Delete(list->tasks[i].details);
  }
  free(list->tasks);
  *list = (struct verify_list){0};
}

int verify_can_turn_on(const struct mxq_arch *arch) {
  return arch->has_narrow && !arch->use_narrow;
}

void verify_task_write(const struct verify_task *task, size_t index, struct text *line) {
  text_print(line, "%zu %u %u %u %s\n", index, task->check, task->narrow, task->part,
             names_of_kernel(&task->id).text);
}

enum mxq_status verify_task_read(const char *line, struct verify_task *task, size_t *index) {
  char name[MXQ_KERNEL_NAME_SIZE];
  unsigned check = 0, narrow = 0, part = 0;
  const int read = sscanf(line, "%zu %u %u %u %95s", index, &check, &narrow, &part, name);
  MXQ_FAIL_IF(read != 5 || check >= VERIFY_CHECKS || narrow > 1 || part > 255, MXQ_INVALID_ARGUMENT,
              "\"%s\" is no task", line);
  *task = (struct verify_task){
      .check = (uint8_t)check, .narrow = (uint8_t)narrow, .part = (uint8_t)part};
  return mxq_kernel_id_parse(name, &task->id);
}
