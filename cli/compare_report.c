/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "compare.h"
#include "json.h"
#include "table.h"
#include "text.h"

static const char *const kinds[] = {
    [COMPARE_NUMBERS] = "compared",      [COMPARE_EQUAL] = "equal bytes",
    [COMPARE_DIFFERENT] = "other bytes", [COMPARE_SHAPES] = "other shape",
    [COMPARE_NOT_IN_A] = "not in A",     [COMPARE_NOT_IN_B] = "not in B",
};

static const struct values *either(const struct comparison *comparison) {
  return comparison->a ? comparison->a : comparison->b;
}

static void quality_cells(struct table *table, const struct comparison *row) {
  const struct quality *q = &row->quality;
  if (row->kind != COMPARE_NUMBERS || q->elements == 0) {
    for (int i = 0; i < 3; i++) table_cell(table, "-");
    return;
  }
  if (q->noise > 0)
    table_cell(table, "%.2f", quality_decibels(q));
  else
    table_cell(table, "exact");
  table_cell(table, "%.6g", q->largest_error);
  table_cell(table, "%.4f", q->largest_relative);
}

static void note(const struct comparison *row, struct text *notes) {
  if (row->quality.excluded)
    text_print(notes,
               "%s: %" PRIu64
               " elements are not finite on one side, or not the same; the figures are those of "
               "the others\n",
               either(row)->name, row->quality.excluded);
}

void compare_print(const char *const paths[2], const struct comparison *list, size_t count) {
  static const char *const headings[] = {
      "tensor", "A", "B", "shape", ">SNR dB", ">max err", ">max rel err", "result"};
  struct table table;
  struct text notes = {0}, visible = {0};
  size_t mismatches = 0;
  table_begin(&table, 8, headings);
  for (size_t i = 0; i < count; i++) {
    struct text shape = {0};
    text_dims(&shape, either(&list[i])->dims, either(&list[i])->rank);
    table_cell(&table, "%s", either(&list[i])->name);
    table_cell(&table, "%s", list[i].a ? list[i].a->dtype : "-");
    table_cell(&table, "%s", list[i].b ? list[i].b->dtype : "-");
    table_cell(&table, "%s", shape.data);
    quality_cells(&table, &list[i]);
    table_cell(&table, "%s", kinds[list[i].kind]);
    note(&list[i], &notes);
    mismatches += (size_t)compare_is_mismatch(&list[i]);
    text_free(&shape);
  }
  table_print(&table, stdout);
  table_free(&table);
  if (notes.length) text_print(&visible, "\n%s", notes.data);
  text_print(&visible, "\nA: %s\nB: %s\n%zu tensors, %zu of them a mismatch\n", paths[0], paths[1],
             count, mismatches);
  fputs(visible.data, stdout);
  text_free(&notes);
  text_free(&visible);
}

static void add_row(cJSON *rows, const struct comparison *row) {
  const struct quality *q = &row->quality;
  const int any = row->kind == COMPARE_NUMBERS && q->elements > 0;
  cJSON *object = json_object();
  json_add_string(object, "name", either(row)->name);
  json_add_numbers(object, "shape", either(row)->dims, either(row)->rank);
  json_add_string(object, "a", row->a ? row->a->dtype : NULL);
  json_add_string(object, "b", row->b ? row->b->dtype : NULL);
  json_add_string(object, "result", kinds[row->kind]);
  json_add_bool(object, "mismatch", compare_is_mismatch(row));
  if (row->kind == COMPARE_NUMBERS) {
    json_add_bool(object, "exact", !(q->noise > 0) && q->excluded == 0);
    json_add_number(object, "snr_db", any ? quality_decibels(q) : NAN);
    json_add_number(object, "largest_error", any ? q->largest_error : NAN);
    json_add_number(object, "largest_relative_error", any ? q->largest_relative : NAN);
    json_add_number(object, "largest_input", any ? q->largest_input : NAN);
    json_add_integer(object, "elements", (int64_t)q->elements);
    json_add_integer(object, "excluded_elements", (int64_t)q->excluded);
  }
  json_add(rows, NULL, object);
}

void compare_print_json(const char *const paths[2], const struct comparison *list, size_t count) {
  cJSON *object = json_object(), *rows = json_array();
  size_t mismatches = 0;
  for (size_t i = 0; i < count; i++) {
    add_row(rows, &list[i]);
    mismatches += (size_t)compare_is_mismatch(&list[i]);
  }
  json_add_string(object, "version", mxq_version());
  json_add_string(object, "a", paths[0]);
  json_add_string(object, "b", paths[1]);
  json_add_integer(object, "mismatches", (int64_t)mismatches);
  json_add(object, "tensors", rows);
  json_print(object);
}
