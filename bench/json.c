/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "bench.h"
#include "report_json.h"

/* cJSON ignores NULL objects and returns NULL for what it could not add; the whole is checked
 * once, where it is printed, by `complete`. */
static int complete = 1;

static void add(cJSON *to, const char *key, cJSON *value) {
  const int added = key ? cJSON_AddItemToObject(to, key, value) : cJSON_AddItemToArray(to, value);
  if (!added) {
    cJSON_Delete(value);
    complete = 0;
  }
}

static void add_text(cJSON *to, const char *key, const char *text) {
  add(to, key, cJSON_CreateString(text));
}

/* Times to a tenth of a nanosecond: digits beyond are noise. */
static void add_number(cJSON *to, const char *key, double value) {
  add(to, key, cJSON_CreateNumber(round(value * 1e4) / 1e4));
}

static void add_version(cJSON *to, const char *key, int major, int minor) {
  char text[32];
  snprintf(text, sizeof text, "%d.%d", major, minor);
  add_text(to, key, text);
}

static cJSON *make_series(const struct bench_series *series) {
  cJSON *object = cJSON_CreateObject(), *us = cJSON_CreateArray();
  add_number(object, "median_us", bench_median(series));
  add_number(object, "spread", bench_spread(series));
  for (unsigned i = 0; i < series->count; i++) add_number(us, NULL, series->us[i]);
  add(object, "us", us);
  return object;
}

static cJSON *make_shape(const struct bench_shape *shape) {
  cJSON *array = cJSON_CreateArray();
  add_number(array, NULL, (double)shape->e);
  add_number(array, NULL, (double)shape->n);
  add_number(array, NULL, (double)shape->k);
  return array;
}

static cJSON *make_straight(const struct bench_row *row) {
  const struct bench_straight *straight = &row->straight;
  cJSON *object = cJSON_CreateObject();
  add_number(object, "threads", straight->threads);
  add_number(object, "reads", straight->reads);
  add_number(object, "writes", straight->writes);
  add_number(object, "bytes_read", (double)row->straight_read);
  add_number(object, "bytes_written", (double)row->straight_written);
  return object;
}

static cJSON *make_target(const struct bench_target *target, const char *reason) {
  cJSON *object = cJSON_CreateObject();
  if (target->percent > 0) add_number(object, "percent_at_least", target->percent);
  if (target->over_us > 0) add_number(object, "us_over_straight_at_most", target->over_us);
  add(object, "met", cJSON_CreateBool(target->met));
  if (!target->met && reason) add_text(object, "reason", reason);
  return object;
}

static cJSON *make_row(const struct bench *bench, const struct bench_row *row) {
  cJSON *object = cJSON_CreateObject();
  struct bench_target target;
  const double us = bench_median(&row->kernel_us), straight = bench_median(&row->straight_us);
  add_text(object, "kernel", row->name);
  if (row->set) add_text(object, "set", row->set);
  add(object, "shape", make_shape(&row->shape));
  add_text(object, "shape_source", row->shape.source);
  add_text(object, "status", mxq_status_name(row->status));
  if (row->status != MXQ_OK) {
    add_text(object, "why", row->why);
    return object;
  }
  add_number(object, "bytes_read", (double)row->read);
  add_number(object, "bytes_written", (double)row->written);
  add(object, "in_l2", cJSON_CreateBool(row->in_l2));
  add_number(object, "sets", row->sets);
  add_number(object, "launches", row->launches);
  add_number(object, "us", us);
  add_number(object, "tb_per_s", (double)(row->read + row->written) / us / 1e6);
  add_number(object, "percent_of_straight", 100 * straight / us);
  bench_target_of(row, bench->arch, &target);
  add_text(object, "class", bench_class_name(bench_class_of(row)));
  if (target.exists) add(object, "target", make_target(&target, row->reason));
  add(object, "straight_kernel", make_straight(row));
  add(object, "kernel_times", make_series(&row->kernel_us));
  add(object, "straight_times", make_series(&row->straight_us));
  add(object, "memcpy_times", make_series(&row->memcpy_us));
  return object;
}

static cJSON *make_device(const struct mxq_device_info *info) {
  cJSON *object = cJSON_CreateObject();
  add_text(object, "name", info->name);
  add_version(object, "compute_capability", info->major, info->minor);
  add_number(object, "multiprocessors", info->multiprocessors);
  add_number(object, "memory_bytes", (double)info->memory_bytes);
  add_number(object, "l2_bytes", (double)info->l2_bytes);
  return object;
}

static cJSON *make_command(const struct bench_options *options) {
  cJSON *array = cJSON_CreateArray();
  const char *slash = strrchr(options->argv[0], '/');
  add_text(array, NULL, slash ? slash + 1 : options->argv[0]);
  for (int i = 1; i < options->argc; i++) add_text(array, NULL, options->argv[i]);
  return array;
}

static cJSON *make_head(const struct bench *bench) {
  const struct mxq_nvrtc *nvrtc = bench_straights_nvrtc(bench->straights);
  cJSON *object = report_begin("mxq_bench");
  add(object, "command", make_command(bench->options));
  add(object, "device", make_device(&bench->info));
  add_version(object, "driver_cuda", bench->info.driver_version / 1000,
              bench->info.driver_version % 1000 / 10);
  add_version(object, "nvrtc", nvrtc->major, nvrtc->minor);
  add_number(object, "repetitions", bench->options->reps);
  if (bench->options->main) add_number(object, "sample_seed", BENCH_SEED);
  return object;
}

/* Prints without the last `cut` bytes, and takes the object. */
static void print(FILE *to, cJSON *object, size_t cut) {
  char *text = cJSON_PrintUnformatted(object);
  cJSON_Delete(object);
  if (text)
    fprintf(to, "%.*s", (int)(strlen(text) - cut), text);
  else
    complete = 0;
  cJSON_free(text);
}

/* A line a row, so that two results can be compared by lines. */
int bench_json_print(FILE *to, const struct bench *bench, const struct bench_row *rows,
                     size_t count) {
  print(to, make_head(bench), 1);
  fputs(",\n\"rows\":[", to);
  for (size_t i = 0; i < count; i++) {
    fputs(i ? ",\n" : "\n", to);
    print(to, make_row(bench, &rows[i]), 0);
  }
  fputs("\n]}\n", to);
  if (complete) return BENCH_DONE;
  fprintf(stderr, "mxq-bench: no memory for the JSON\n");
  return BENCH_FAILED;
}
