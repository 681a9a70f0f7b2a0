/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "tuning.h"

static const char head[] =
    "/* SPDX-License-Identifier: MIT\n"
    " *\n"
    " * Schedules chosen by measurements (gen/tune.h): MXQ_TUNE(arch, size class, operation, "
    "layout,\n"
    " * bits of input and output, tile along N and K, path). What has no line gets its schedule by "
    "the\n"
    " * rule of gen/tune.c. Made by\n"
    " *   build/bin/mxq-bench --tune > tune.def && mv tune.def gen/\n"
    " * which leaves the lines of other archs, and of what it did not measure, as they were. */\n";

/* The token of a value. */
static const char *token_of(enum mxq_axis axis, unsigned number) {
  const struct mxq_axis_value *value;
  for (size_t i = 0; (value = mxq_axis_at(axis, 0, i)); i++)
    if (value->number == number) return value->token;
  return "?";
}

static const char *upper(const char *token, char text[32]) {
  size_t i = 0;
  for (; token[i] && i < 31; i++) text[i] = (char)toupper((unsigned char)token[i]);
  text[i] = 0;
  return text;
}

static void print_row(const struct mxq_tune_row *row) {
  char size[32], op[32], layout[32];
  printf("MXQ_TUNE(%u, %s, %s, %s, %u, %u, %u, %u, %s)\n", row->arch,
         upper(mxq_size_class_name(row->size), size), upper(token_of(MXQ_AXIS_OP, row->op), op),
         upper(token_of(MXQ_AXIS_LAYOUT, row->layout), layout), row->in_bits, row->out_bits,
         (unsigned)row->tile_n, (unsigned)row->tile_k,
         row->path == MXQ_PATH_DIRECT ? "DIRECT" : "USUAL");
}

static struct mxq_tune_row row_of(const struct bench *bench, const struct tune_case *one) {
  const struct mxq_kernel_id *id = &one->candidates[one->best].id;
  return (struct mxq_tune_row){.arch = bench->arch->number,
                               .size = one->size,
                               .op = (enum mxq_op)one->variant.op,
                               .layout = (enum mxq_layout)one->variant.layout,
                               .in_bits = mxq_type_facts(one->variant.in)->bits,
                               .out_bits = mxq_type_facts(one->variant.out)->bits,
                               .tile_n = id->tile_n,
                               .tile_k = id->tile_k,
                               .path = (enum mxq_path)id->path};
}

/* Whether two lines are for the same variants and sizes. */
static int is_same_key(const struct mxq_tune_row *a, const struct mxq_tune_row *b) {
  return a->arch == b->arch && a->size == b->size && a->op == b->op && a->layout == b->layout &&
         a->in_bits == b->in_bits && a->out_bits == b->out_bits;
}

static int is_measured(const struct bench *bench, const struct tune_case *cases, size_t count,
                       const struct mxq_tune_row *row) {
  for (size_t i = 0; i < count; i++) {
    const struct mxq_tune_row mine = row_of(bench, &cases[i]);
    if (is_same_key(&mine, row)) return 1;
  }
  return 0;
}

static int compare(const void *left, const void *right) {
  const struct mxq_tune_row *a = left, *b = right;
  const unsigned keys[][2] = {{a->arch, b->arch},         {a->op, b->op},
                              {a->layout, b->layout},     {a->in_bits, b->in_bits},
                              {a->out_bits, b->out_bits}, {a->size, b->size}};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (keys[i][0] != keys[i][1]) return keys[i][0] < keys[i][1] ? -1 : 1;
  return 0;
}

void tune_print(const struct bench *bench, const struct tune_case *cases, size_t count) {
  static struct mxq_tune_row rows[TUNE_ROWS_MAX];
  const struct mxq_tune_row *old;
  size_t kept = 0;
  for (size_t i = 0; kept < TUNE_ROWS_MAX && (old = mxq_tune_at(i)); i++)
    if (!is_measured(bench, cases, count, old)) rows[kept++] = *old;
  for (size_t i = 0; kept < TUNE_ROWS_MAX && i < count; i++)
    if (cases[i].count) rows[kept++] = row_of(bench, &cases[i]);
  qsort(rows, kept, sizeof rows[0], compare);
  fputs(head, stdout);
  for (size_t i = 0; i < kept; i++) print_row(&rows[i]);
}
