/* SPDX-License-Identifier: MIT
 *
 * Results that --save wrote, read again: what they measured, their table, and the reasons beside
 * it.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "bench.h"
#include "text_file.h"

#define SAVED_MOST ((size_t)256 << 20)

static const cJSON *get(const cJSON *object, const char *key) {
  return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* 0 for what is none, or not between 0 and 2^53. */
static double value_of(const cJSON *item) {
  const int whole = cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble <= 0x1p53;
  return whole ? item->valuedouble : 0;
}

static double number(const cJSON *object, const char *key) { return value_of(get(object, key)); }

/* The same, at most `most`: what `unsigned` holds of it. */
static unsigned small(const cJSON *object, const char *key) {
  const double value = number(object, key);
  return value <= UINT32_MAX ? (unsigned)value : 0;
}

static const char *text(const cJSON *object, const char *key) {
  const char *value = cJSON_GetStringValue(get(object, key));
  return value ? value : "";
}

int bench_saved_read(const char *path, const char *kind, struct cJSON **saved) {
  struct text held = {0};
  const enum mxq_status status = text_read_file(path, SAVED_MOST, &held);
  if (status == MXQ_OK) *saved = cJSON_Parse(held.data);
  text_free(&held);
  if (status != MXQ_OK) return bench_exit(status);
  if (number(*saved, kind) > 0 && cJSON_IsArray(get(*saved, "rows"))) return BENCH_DONE;
  fprintf(stderr, "mxq-bench: %s holds no rows of '%s'\n", path, kind);
  return BENCH_FAILED;
}

static void read_shape(const cJSON *array, struct bench_shape *shape) {
  int64_t *const lengths[] = {&shape->e, &shape->n, &shape->k};
  for (int i = 0; i < 3; i++) *lengths[i] = (int64_t)value_of(cJSON_GetArrayItem(array, i));
}

static void read_series(const cJSON *row, const char *key, struct bench_series *series) {
  const cJSON *us = NULL;
  cJSON_ArrayForEach(us, get(get(row, key), "us")) if (series->count < BENCH_REPS_MAX)
      series->us[series->count++] = us->valuedouble;
}

static int read_row(const cJSON *from, struct bench_row *row) {
  const cJSON *straight = get(from, "straight_kernel");
  if (mxq_kernel_id_parse(text(from, "kernel"), &row->id) != MXQ_OK) return 0;
  snprintf(row->name, sizeof row->name, "%s", text(from, "kernel"));
  snprintf(row->why, sizeof row->why, "%s", text(from, "why"));
  read_shape(get(from, "shape"), &row->shape);
  row->shape.source = text(from, "shape_source");
  row->set = get(from, "set") ? text(from, "set") : NULL;
  row->status = strcmp(text(from, "status"), "MXQ_OK") ? MXQ_UNSUPPORTED : MXQ_OK;
  row->read = (uint64_t)number(from, "bytes_read");
  row->written = (uint64_t)number(from, "bytes_written");
  row->in_l2 = cJSON_IsTrue(get(from, "in_l2"));
  row->straight.threads = small(straight, "threads");
  row->straight.reads = small(straight, "reads");
  row->straight.writes = small(straight, "writes");
  read_series(from, "kernel_times", &row->kernel_us);
  read_series(from, "straight_times", &row->straight_us);
  read_series(from, "memcpy_times", &row->memcpy_us);
  const int measured = row->kernel_us.count && row->straight_us.count;
  return row->shape.e > 0 && row->shape.n > 0 && row->shape.k > 0 &&
         (row->status != MXQ_OK || measured);
}

/* "13.0" as 13000. */
static int version_of(const char *given) {
  int major = 0, minor = 0;
  return sscanf(given, "%d.%d", &major, &minor) == 2 ? 1000 * major + 10 * minor : 0;
}

/* What was measured, on what, for the printing of tables. */
struct shown {
  struct bench_options options;
  struct bench bench;
  struct bench_row *rows;
  size_t count;
};

static void read_head(const cJSON *saved, struct shown *shown) {
  const cJSON *device = get(saved, "device");
  struct mxq_device_info *info = &shown->bench.info;
  const int capability = version_of(text(device, "compute_capability"));
  snprintf(info->name, sizeof info->name, "%s", text(device, "name"));
  info->multiprocessors = small(device, "multiprocessors");
  info->l2_bytes = (uint64_t)number(device, "l2_bytes");
  info->driver_version = version_of(text(saved, "driver_cuda"));
  shown->bench.nvrtc_version = version_of(text(saved, "nvrtc"));
  shown->options.main = get(saved, "sample_seed") != NULL;
  shown->options.reps = small(saved, "repetitions");
  shown->bench.options = &shown->options;
  if (mxq_arch_of_device(capability / 1000, capability % 1000 / 10, &shown->bench.arch) != MXQ_OK)
    shown->bench.arch = NULL;
}

static int is_named(const struct bench_options *options, const struct bench_row *row) {
  for (size_t i = 0; i < options->pattern_count; i++)
    if (fnmatch(options->patterns[i], row->name, 0) == 0) return 1;
  return options->pattern_count == 0;
}

/* free() gives shown->rows back, also after BENCH_FAILED. */
static int read_result(const struct bench_options *options, const cJSON *saved,
                       struct shown *shown) {
  const cJSON *rows = get(saved, "rows"), *row = NULL;
  const size_t count = (size_t)cJSON_GetArraySize(rows);
  shown->options = *options;
  read_head(saved, shown);
  shown->rows = calloc(count + 1, sizeof *shown->rows);
  if (!shown->rows || !shown->bench.arch) {
    fprintf(stderr, "mxq-bench: %s tells of no device that is known\n", options->from);
    return BENCH_FAILED;
  }
  cJSON_ArrayForEach(row, rows) if (!read_row(row, &shown->rows[shown->count++])) {
    fprintf(stderr, "mxq-bench: %s: row %zu is none of this version\n", options->from,
            shown->count);
    return BENCH_FAILED;
  }
  for (size_t i = 0; i < shown->count; i++)
    if (is_named(options, &shown->rows[i])) return BENCH_DONE;
  if (!options->pattern_count) return BENCH_DONE;
  fprintf(stderr, "mxq-bench: no kernel of %s matches '%s'\n", options->from, options->patterns[0]);
  return BENCH_USAGE;
}

static int is_wanted(const struct shown *shown, const struct bench_row *row) {
  const struct bench_options *options = &shown->options;
  struct bench_target target;
  if (!is_named(options, row)) return 0;
  if (!options->missed) return 1;
  if (row->status != MXQ_OK) return 0;
  bench_target_of(row, shown->bench.arch, &target);
  return target.exists && !target.met;
}

/* A kernel may stand in two sets. */
static int is_there(const struct bench_item *items, size_t count, const struct bench_row *row) {
  for (size_t i = 0; i < count; i++) {
    const struct bench_shape *shape = &items[i].shape;
    if (memcmp(&items[i].id, &row->id, sizeof row->id) == 0 && shape->e == row->shape.e &&
        shape->n == row->shape.n && shape->k == row->shape.k)
      return 1;
  }
  return 0;
}

int bench_saved_items(const struct bench_options *options, const struct cJSON *saved,
                      struct bench_item **items, size_t *count) {
  struct shown shown = {.rows = NULL};
  int status = read_result(options, saved, &shown);
  if (status == BENCH_DONE && !(*items = calloc(shown.count + 1, sizeof **items)))
    status = BENCH_FAILED;
  for (size_t i = 0; status == BENCH_DONE && i < shown.count; i++) {
    const struct bench_row *row = &shown.rows[i];
    if (!is_wanted(&shown, row) || is_there(*items, *count, row)) continue;
    (*items)[(*count)++] = (struct bench_item){
        .id = row->id, .shape = row->shape, .set = row->set, .straight = row->straight};
  }
  free(shown.rows);
  return status;
}

int bench_saved_show(const struct bench_options *options, const struct cJSON *saved,
                     const struct cJSON *reasons) {
  struct shown shown = {.rows = NULL};
  const int status = read_result(options, saved, &shown);
  if (status == BENCH_DONE) bench_table_header(&shown.bench);
  size_t wanted = 0; /* which come first, for the last line */
  for (size_t i = 0; status == BENCH_DONE && i < shown.count; i++) {
    if (!is_wanted(&shown, &shown.rows[i])) continue;
    struct bench_row *row = &shown.rows[wanted++];
    if (row != &shown.rows[i]) *row = shown.rows[i];
    row->reason = bench_reason_of(reasons, row);
    bench_table_row(&shown.bench, row);
  }
  if (status == BENCH_DONE) bench_table_end(&shown.bench, shown.rows, wanted);
  free(shown.rows);
  return status;
}

const char *bench_reason_of(const struct cJSON *reasons, const struct bench_row *row) {
  const cJSON *found = NULL;
  cJSON_ArrayForEach(found, get(reasons, "rows")) {
    struct bench_shape shape = {0};
    read_shape(get(found, "shape"), &shape);
    if (strcmp(text(found, "kernel"), row->name) == 0 && shape.e == row->shape.e &&
        shape.n == row->shape.n && shape.k == row->shape.k)
      return cJSON_GetStringValue(get(found, "reason"));
  }
  return NULL;
}
