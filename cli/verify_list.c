/* SPDX-License-Identifier: MIT */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "check_pairs.h"
#include "names.h"
#include "report.h"
#include "selectable.h"
#include "status.h"
#include "text.h"
#include "verify.h"

/* What is selected: kernels, and which patterns selected any. */
struct picker {
  const struct verify_choice *choice;
  char *used;
  struct mxq_kernel_id *ids;
  size_t count, capacity;
};

static int picks(struct picker *picker, const char *variant, const char *kernel) {
  int matched = picker->choice->pattern_count == 0;
  for (size_t i = 0; i < picker->choice->pattern_count; i++) {
    const char *pattern = picker->choice->patterns[i];
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

/* Every kernel that selection can return for the variant on the arch; one that moves scales, which
 * many variants share, with the variant that names it. */
static enum mxq_status pick_kernels(struct picker *picker, const struct mxq_variant *variant) {
  struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST];
  char kernel[MXQ_KERNEL_NAME_SIZE];
  size_t count = 0;
  const enum mxq_status status = mxq_selectable(variant, picker->choice->arch, ids, &count);
  if (status == MXQ_UNSUPPORTED) return MXQ_OK;
  MXQ_TRY(status);
  for (size_t i = 0; i < count; i++) {
    if (memcmp(&ids[i].variant, variant, sizeof *variant) != 0) continue;
    MXQ_TRY(mxq_kernel_id_name(&ids[i], kernel, sizeof kernel));
    if (picks(picker, names_of(variant).text, kernel)) pick(picker, &ids[i]);
  }
  return MXQ_OK;
}

/* A kernel by its full name may have a schedule that selection does not return. */
static enum mxq_status pick_unused(struct picker *picker) {
  for (size_t i = 0; i < picker->choice->pattern_count; i++) {
    const char *pattern = picker->choice->patterns[i];
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
    MXQ_FAIL(MXQ_UNKNOWN_NAME, "no kernel for arch %s matches \"%s\"", picker->choice->arch->name,
             pattern);
  }
  return MXQ_OK;
}

/* ---- Pairwise sets ------------------------------------------------------------------------ */

enum { PROPERTY_TILE = MXQ_AXIS_COUNT, PROPERTIES };

static uint32_t property_of(const struct mxq_kernel_id *id, int property) {
  if (property == PROPERTY_TILE)
    return (uint32_t)id->family << 28 | (uint32_t)id->path << 27 | (uint32_t)id->tile_n << 14 |
           id->tile_k;
  return mxq_axis_get(&id->variant, (enum mxq_axis)property);
}

static int by_number(const void *a, const void *b) {
  const size_t left = *(const size_t *)a, right = *(const size_t *)b;
  return (left > right) - (left < right);
}

/* Those that move scales stay: they are few, and have nothing to pair. */
static enum mxq_status keep_pairs(struct picker *picker) {
  struct mxq_kernel_id *ids = text_allocate(picker->count, sizeof *ids);
  uint32_t *properties = text_allocate(picker->count * PROPERTIES, sizeof *properties);
  size_t *picked = text_allocate(picker->count, sizeof *picked), tensors = 0, moves = 0, count = 0;
  for (size_t i = 0; i < picker->count; i++) {
    if (picker->ids[i].family == MXQ_FAMILY_RELAYOUT)
      picker->ids[moves++] = picker->ids[i];
    else
      ids[tensors++] = picker->ids[i];
  }
  for (size_t i = 0; i < tensors * PROPERTIES; i++)
    properties[i] = property_of(&ids[i / PROPERTIES], (int)(i % PROPERTIES));
  const enum mxq_status status =
      check_pairs_pick(properties, tensors, PROPERTIES, picker->choice->seed, picked, &count);
  if (status == MXQ_OK && count) qsort(picked, count, sizeof *picked, by_number);
  for (size_t i = 0; i < count; i++) picker->ids[moves + i] = ids[picked[i]];
  picker->count = moves + count;
  free(picked);
  free(properties);
  free(ids);
  return status;
}

/* ---- Tasks -------------------------------------------------------------------------------- */

static void add_task(struct verify_list *list, const struct picker *picker,
                     const struct verify_task *task) {
  list->tasks = text_grow(list->tasks, list->count, &list->capacity, sizeof *list->tasks);
  struct verify_task *added = &list->tasks[list->count++];
  *added = *task;
  added->light = picker->choice->light != 0;
  if (mxq_kernel_id_check_arch(&task->id, picker->choice->arch) == MXQ_OK) return;
  added->state = VERIFY_SKIPPED;
  added->status = MXQ_UNSUPPORTED;
  added->why = text_format("%s", mxq_last_error());
}

static void add_tasks(struct verify_list *list, const struct picker *picker,
                      enum verify_check check, int narrow) {
  for (size_t i = 0; i < picker->count; i++) {
    struct verify_task task = {
        .id = picker->ids[i], .check = (uint8_t)check, .narrow = (uint8_t)narrow};
    const unsigned parts = verify_parts(&task.id, check);
    for (unsigned part = 0; part < parts; part++) {
      task.part = (uint8_t)part;
      add_task(list, picker, &task);
    }
  }
}

static const char *const check_names[] = {"shapes", "scales", "maxima", "codes", "casts"};

const char *verify_check_name(unsigned check) {
  return check < VERIFY_CHECKS ? check_names[check] : "unknown";
}

unsigned verify_check_bit(const char *name, size_t length) {
  for (unsigned check = 0; check < VERIFY_CHECKS; check++)
    if (strlen(check_names[check]) == length && !memcmp(check_names[check], name, length))
      return 1u << check;
  return 0;
}

const char *verify_state_name(unsigned state) {
  static const char *const names[] = {"not run", "passed", "failed", "skipped"};
  return state < VERIFY_STATES ? names[state] : "unknown";
}

enum mxq_status verify_list_make(const struct verify_choice *choice, struct verify_list *list) {
  struct picker picker = {.choice = choice};
  struct mxq_variant variant = {0};
  enum mxq_status status = MXQ_OK;
  picker.used = text_allocate(choice->pattern_count, 1);
  while (status == MXQ_OK && mxq_variant_next(&variant)) status = pick_kernels(&picker, &variant);
  if (status == MXQ_OK) status = pick_unused(&picker);
  if (status == MXQ_OK && choice->pairwise) status = keep_pairs(&picker);
  *list = (struct verify_list){0};
  for (int narrow = 0; status == MXQ_OK && narrow <= choice->narrow; narrow++)
    for (unsigned check = 0; check < VERIFY_CHECKS; check++) /* Moving scales converts nothing. */
      if (choice->checks >> check & 1 && !(narrow && check == VERIFY_SCALES))
        add_tasks(list, &picker, (enum verify_check)check, narrow);
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

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct kernel_name *)a)->text, ((const struct kernel_name *)b)->text);
}

/* Several checks may be of one kernel. */
int verify_list_print(const struct verify_list *list, int json) {
  struct kernel_name *names = text_allocate(list->count, sizeof *names);
  cJSON *array = json ? json_array() : NULL;
  for (size_t i = 0; i < list->count; i++) names[i] = names_of_kernel(&list->tasks[i].id);
  if (list->count) qsort(names, list->count, sizeof *names, by_name);
  for (size_t i = 0; i < list->count; i++) {
    if (i && by_name(&names[i - 1], &names[i]) == 0) continue;
    if (json)
      json_add_string(array, NULL, names[i].text);
    else
      puts(names[i].text);
  }
  if (json) json_print(array);
  free(names);
  return EXIT_DONE;
}

int verify_can_turn_on(const struct mxq_arch *arch) {
  return arch->has_narrow && !arch->use_narrow;
}

void verify_task_write(const struct verify_task *task, size_t index, struct text *line) {
  text_print(line, "%zu %u %u %u %u %s\n", index, task->check, task->narrow, task->light,
             task->part, names_of_kernel(&task->id).text);
}

enum mxq_status verify_task_read(const char *line, struct verify_task *task, size_t *index) {
  char name[MXQ_KERNEL_NAME_SIZE];
  unsigned check = 0, narrow = 0, light = 0, part = 0;
  const int read =
      sscanf(line, "%zu %u %u %u %u %95s", index, &check, &narrow, &light, &part, name);
  MXQ_FAIL_IF(read != 6 || check >= VERIFY_CHECKS || narrow > 1 || light > 1 || part > 255,
              MXQ_INVALID_ARGUMENT, "\"%s\" is no task", line);
  *task = (struct verify_task){.check = (uint8_t)check,
                               .narrow = (uint8_t)narrow,
                               .light = (uint8_t)light,
                               .part = (uint8_t)part};
  return mxq_kernel_id_parse(name, &task->id);
}
