/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "dequantize_task.h"
#include "json.h"
#include "names.h"
#include "table.h"
#include "text.h"

static uint64_t bytes_before(const struct task *task) {
  return task->tensor->bytes + (task->scale ? task->scale->bytes : 0);
}

static double bandwidth(const struct task *task) {
  const double bytes = (double)(bytes_before(task) + quantize_bytes_after(task));
  return task->outcome.seconds > 0 ? bytes / task->outcome.seconds / 1e9 : NAN;
}

static void add_row(struct table *table, const struct task *task) {
  const struct output *output = &task->outputs.list[0];
  struct text shape = {0};
  text_dims(&shape, output->dims, output->rank);
  table_cell(table, "%s", output->name);
  table_cell(table, "%s", task->tensor->dtype);
  table_cell(table, "%s", output->dtype);
  table_cell(table, "%s", shape.data);
  table_cell(table, "%" PRIu64, bytes_before(task));
  table_cell(table, "%" PRIu64, output->bytes);
  table_cell(table, "%s", task->outcome.device);
  table_cell(table, "%.3f", task->outcome.seconds * 1e3);
  if (isnan(bandwidth(task)))
    table_cell(table, "-");
  else
    table_cell(table, "%.1f", bandwidth(task));
  text_free(&shape);
}

void dequantize_print(const struct quantize *quantize, double seconds) {
  static const char *const headings[] = {"tensor", "from",   "to",  "shape", ">before",
                                         ">after", "device", ">ms", ">GB/s"};
  struct table table;
  size_t copied = 0;
  table_begin(&table, 9, headings);
  for (size_t i = 0; i < quantize->count; i++) {
    const struct task *task = &quantize->tasks[i];
    copied += task->skip != NULL;
    if (!task->skip && !task->dropped) add_row(&table, task);
  }
  table_print(&table, stdout);
  table_free(&table);
  for (size_t i = 0; i < quantize->count; i++)
    if (quantize->tasks[i].outcome.note)
      printf("%s: on the CPU, because %s\n", quantize->tasks[i].tensor->name,
             quantize->tasks[i].outcome.note);
  printf("\n%zu tensors dequantized, %zu copied, in %.2f s\n", quantize->selected, copied, seconds);
}

static void add_json_row(cJSON *rows, const struct task *task) {
  cJSON *row = json_object();
  json_add_string(row, "name", task->tensor->name);
  json_add_string(row, "skipped", task->skip);
  json_add_integer(row, "bytes_before", (int64_t)bytes_before(task));
  json_add_integer(row, "bytes_after", (int64_t)quantize_bytes_after(task));
  if (!task->skip) {
    const struct output *output = &task->outputs.list[0];
    json_add_string(row, "variant", names_of(&task->variant).text);
    json_add_string(row, "dtype", output->dtype);
    json_add_numbers(row, "shape", output->dims, output->rank);
    json_add_string(row, "device", task->outcome.device);
    json_add_string(row, "note", task->outcome.note);
    json_add_number(row, "seconds", task->outcome.seconds);
    json_add_number(row, "gb_per_s", bandwidth(task));
  }
  json_add(rows, NULL, row);
}

void dequantize_print_json(const struct quantize *quantize, double seconds) {
  cJSON *object = json_object(), *rows = json_array(), *files = json_array();
  for (size_t i = 0; i < quantize->file_count; i++)
    json_add(files, NULL, cJSON_CreateString(quantize->files[i].path));
  for (size_t i = 0; i < quantize->count; i++)
    if (!quantize->tasks[i].dropped) add_json_row(rows, &quantize->tasks[i]);
  json_add_string(object, "version", mxq_version());
  json_add_string(object, "input", quantize->in->path);
  json_add(object, "files", files);
  json_add_string(object, "index", quantize->index_path);
  json_add_integer(object, "dequantized", (int64_t)quantize->selected);
  json_add_number(object, "seconds", seconds);
  json_add(object, "tensors", rows);
  json_print(object);
}
