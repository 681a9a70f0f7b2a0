/* SPDX-License-Identifier: MIT
 *
 * Tables for people: columns as wide as their widest cell.
 */
#ifndef MXQ_CLI_TABLE_H
#define MXQ_CLI_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct table {
  size_t columns;
  char **cells; /* row after row; the first row is the heading */
  size_t count, capacity;
};

/* `columns` headings; a heading that begins with '>' is of a column of numbers, set to the right.
 */
void table_begin(struct table *table, size_t columns, const char *const *headings);
/* The next cell of the current row, formatted; control characters are made visible. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_print(const struct table *table, FILE *stream);
void table_free(struct table *table);

#endif
