/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "names.h"
#include "quantize_task.h"
#include "table.h"
#include "text.h"

struct totals {
  uint64_t before, after, quantized_before, quantized_after;
  size_t quantized;
  double seconds; /* of kernels */
  struct quality quality;
};

static struct totals add_up(const struct quantize *quantize) {
  struct totals totals = {0};
  for (size_t i = 0; i < quantize->count; i++) {
    const struct task *task = &quantize->tasks[i];
    totals.before += task->tensor->bytes;
    totals.after += quantize_bytes_after(task);
    if (task->skip) continue;
    totals.quantized++;
    totals.quantized_before += task->tensor->bytes;
    totals.quantized_after += quantize_bytes_after(task);
    totals.seconds += task->outcome.seconds;
    quality_add(&totals.quality, &task->quality);
  }
  return totals;
}

static double bandwidth(uint64_t before, uint64_t after, double seconds) {
  return seconds > 0 ? (double)(before + after) / seconds / 1e9 : NAN;
}

/* What the rate of an empty tensor or the quality of nothing is: a dash. */
static void number_cell(struct table *table, const char *format_of_number, double value) {
  char number[64];
  if (isnan(value))
    snprintf(number, sizeof number, "-");
  else if (isinf(value))
    snprintf(number, sizeof number, "exact");
  else
    snprintf(number, sizeof number, "%.*f", format_of_number[0] - '0', value);
  table_cell(table, "%s", number);
}

static void add_row(struct table *table, const struct task *task) {
  struct text shape = {0};
  const uint64_t after = quantize_bytes_after(task);
  text_dims(&shape, task->tensor->dims, task->tensor->rank);
  table_cell(table, "%s", task->tensor->name);
  table_cell(table, "%s", task->tensor->dtype);
  table_cell(table, "%s", shape.data);
  table_cell(table, "%" PRIu64, task->tensor->bytes);
  table_cell(table, "%" PRIu64, after);
  number_cell(table, "2", quality_decibels(&task->quality));
  number_cell(table, "4", task->quality.elements ? task->quality.largest_relative : NAN);
  table_cell(table, "%s", task->outcome.device);
  number_cell(table, "3", task->outcome.seconds * 1e3);
  number_cell(table, "1", bandwidth(task->tensor->bytes, after, task->outcome.seconds));
  text_free(&shape);
}

static void print_quantized(const struct quantize *quantize) {
  static const char *const headings[] = {"tensor",  "type",         "shape",  ">before", ">after",
                                         ">SNR dB", ">max rel err", "device", ">ms",     ">GB/s"};
  struct table table;
  table_begin(&table, 10, headings);
  for (size_t i = 0; i < quantize->count; i++)
    if (!quantize->tasks[i].skip) add_row(&table, &quantize->tasks[i]);
  table_print(&table, stdout);
  table_free(&table);
}

static void print_skipped(const struct quantize *quantize) {
  static const char *const headings[] = {"skipped (copied)", "type", "shape", ">bytes", "why"};
  struct table table;
  table_begin(&table, 5, headings);
  for (size_t i = 0; i < quantize->count; i++) {
    const struct task *task = &quantize->tasks[i];
    struct text shape = {0};
    if (!task->skip) continue;
    text_dims(&shape, task->tensor->dims, task->tensor->rank);
    table_cell(&table, "%s", task->tensor->name);
    table_cell(&table, "%s", task->tensor->dtype);
    table_cell(&table, "%s", shape.data);
    table_cell(&table, "%" PRIu64, task->tensor->bytes);
    table_cell(&table, "%s", task->skip);
    text_free(&shape);
  }
  puts("");
  table_print(&table, stdout);
  table_free(&table);
}

static void print_notes(const struct quantize *quantize) {
  struct text notes = {0};
  for (size_t i = 0; i < quantize->count; i++) {
    const struct task *task = &quantize->tasks[i];
    const char *name = task->tensor->name;
    if (task->outcome.note)
      text_print(&notes, "%s: on the CPU, because %s\n", name, task->outcome.note);
    if (task->quality.excluded)
      text_print(&notes,
                 "%s: %" PRIu64
                 " elements are not finite, or in a block that has one that is "
                 "not; quality is that of the others\n",
                 name, task->quality.excluded);
  }
  if (notes.length) printf("\n%s", notes.data);
  text_free(&notes);
}

void quantize_print(const struct quantize *quantize, double seconds) {
  const struct totals totals = add_up(quantize);
  if (totals.quantized) print_quantized(quantize);
  if (totals.quantized < quantize->count) print_skipped(quantize);
  print_notes(quantize);
  printf("\n%s: %zu of %zu tensors quantized, %zu copied, %" PRIu64 " -> %" PRIu64
         " bytes (%.1f %%)",
         quantize->selection.name, totals.quantized, quantize->count,
         quantize->count - totals.quantized, totals.before, totals.after,
         totals.before ? 100 * (double)totals.after / (double)totals.before : 100.0);
  if (totals.quality.noise > 0) printf(", SNR %.2f dB", quality_decibels(&totals.quality));
  printf(", %.3f s", seconds);
  if (totals.seconds > 0)
    printf(", kernels %.3f s at %.1f GB/s", totals.seconds,
           bandwidth(totals.quantized_before, totals.quantized_after, totals.seconds));
  puts("");
  for (size_t i = 0; i < quantize->file_count; i++) printf("wrote %s\n", quantize->files[i].path);
  if (quantize->index_path) printf("wrote %s\n", quantize->index_path);
}

static void add_outputs(cJSON *row, const struct outputs *outputs) {
  cJSON *list = json_array();
  for (size_t i = 0; i < outputs->count; i++) {
    const struct output *output = &outputs->list[i];
    cJSON *item = json_object();
    json_add_string(item, "name", output->name);
    json_add_string(item, "dtype", output->dtype);
    json_add_numbers(item, "shape", output->dims, output->rank);
    json_add_integer(item, "bytes", (int64_t)output->bytes);
    json_add(list, NULL, item);
  }
  json_add(row, "outputs", list);
}

static void add_quality(cJSON *row, const struct quality *quality) {
  const int any = quality->elements > 0;
  json_add_number(row, "snr_db", quality_decibels(quality));
  json_add_number(row, "largest_relative_error", any ? quality->largest_relative : NAN);
  json_add_number(row, "largest_error", any ? quality->largest_error : NAN);
  json_add_number(row, "largest_input", any ? quality->largest_input : NAN);
  json_add_integer(row, "excluded_elements", (int64_t)quality->excluded);
}

static void add_json_row(cJSON *rows, const struct task *task) {
  const uint64_t after = quantize_bytes_after(task);
  cJSON *row = json_object();
  json_add_string(row, "name", task->tensor->name);
  json_add_string(row, "dtype", task->tensor->dtype);
  json_add_numbers(row, "shape", task->tensor->dims, task->tensor->rank);
  json_add_integer(row, "bytes_before", (int64_t)task->tensor->bytes);
  json_add_integer(row, "bytes_after", (int64_t)after);
  json_add_string(row, "skipped", task->skip);
  if (!task->skip) {
    json_add_string(row, "variant", names_of(&task->variant).text);
    add_outputs(row, &task->outputs);
    add_quality(row, &task->quality);
    json_add_string(row, "device", task->outcome.device);
    json_add_string(row, "note", task->outcome.note);
    json_add_number(row, "seconds", task->outcome.seconds);
    json_add_number(row, "gb_per_s", bandwidth(task->tensor->bytes, after, task->outcome.seconds));
  }
  json_add(rows, NULL, row);
}

void quantize_print_json(const struct quantize *quantize, double seconds) {
  const struct totals totals = add_up(quantize);
  cJSON *object = json_object(), *rows = json_array(), *files = json_array();
  for (size_t i = 0; i < quantize->file_count; i++)
    json_add(files, NULL, cJSON_CreateString(quantize->files[i].path));
  for (size_t i = 0; i < quantize->count; i++) add_json_row(rows, &quantize->tasks[i]);
  json_add_string(object, "version", mxq_version());
  json_add_string(object, "variant", quantize->selection.name);
  json_add_string(object, "input", quantize->in->path);
  json_add(object, "files", files);
  json_add_string(object, "index", quantize->index_path);
  json_add_integer(object, "quantized", (int64_t)totals.quantized);
  json_add_integer(object, "skipped", (int64_t)(quantize->count - totals.quantized));
  json_add_integer(object, "bytes_before", (int64_t)totals.before);
  json_add_integer(object, "bytes_after", (int64_t)totals.after);
  add_quality(object, &totals.quality);
  json_add_number(object, "seconds", seconds);
  json_add_number(object, "kernel_seconds", totals.seconds);
  json_add(object, "tensors", rows);
  json_print(object);
}
