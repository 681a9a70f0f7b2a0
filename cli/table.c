/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* Characters, not bytes: names may be in any script. */
static size_t width(const char *cell) {
  size_t characters = 0;
  const char *end = cell + strlen(cell);
  while (cell < end) {
    const size_t step = text_utf8_step(cell, (size_t)(end - cell));
    cell += step ? step : 1;
    characters++;
  }
  return characters;
}

static void add(struct table *table, const char *cell) {
  struct text visible = {0};
  text_append(&visible, "", 0);
  text_visible(&visible, cell, strlen(cell));
  table->cells = text_grow(table->cells, table->count, &table->capacity, sizeof *table->cells);
  table->cells[table->count++] = visible.data;
}

static void print_cell(const char *cell, size_t column_width, int right, int last, FILE *stream) {
  const int padding = (int)(column_width - width(cell));
  if (right)
    fprintf(stream, "%*s%s", padding, "", cell);
  else if (last)
    fputs(cell, stream);
  else
    fprintf(stream, "%s%*s", cell, padding, "");
  fputs(last ? "\n" : "  ", stream);
}

void table_begin(struct table *table, size_t columns, const char *const *headings) {
  *table = (struct table){.columns = columns};
  for (size_t i = 0; i < columns; i++) add(table, headings[i]);
}

void table_cell(struct table *table, const char *format, ...) {
  struct text cell = {0};
  va_list arguments;
  va_start(arguments, format);
  text_print_list(&cell, format, arguments);
  va_end(arguments);
  add(table, cell.data);
  text_free(&cell);
}

void table_print(const struct table *table, FILE *stream) {
  size_t *widths = text_allocate(table->columns, sizeof *widths);
  for (size_t i = 0; i < table->count; i++) {
    const char *cell = table->cells[i];
    const size_t wide = width(cell + (i < table->columns && cell[0] == '>'));
    if (wide > widths[i % table->columns]) widths[i % table->columns] = wide;
  }
  for (size_t i = 0; i < table->count; i++) {
    const size_t column = i % table->columns;
    const int right = table->cells[column][0] == '>';
    print_cell(table->cells[i] + (i < table->columns && right), widths[column], right,
               column + 1 == table->columns, stream);
  }
  free(widths);
}

void table_free(struct table *table) {
  for (size_t i = 0; i < table->count; i++) free(table->cells[i]);
  free(table->cells);
  *table = (struct table){0};
}
