/* SPDX-License-Identifier: MIT
 *
 * Sizes and offsets of the public structs against abi/libmxq.layout. `test_abi --update` writes
 * that file anew: only before a new minor version.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <mxq/mxq.h>

#define LAYOUT MXQ_TEST_DIR "/../abi/libmxq.layout"

struct row {
  const char *type, *member; /* member NULL: the whole struct */
  size_t offset, size;
};
#define STRUCT(type) \
  { #type, NULL, 0, sizeof(struct type) }
#define FIELD(type, member) \
  { #type, #member, offsetof(struct type, member), sizeof(((struct type *)0)->member) }

static const struct row rows[] = {
    STRUCT(mxq_variant),
    FIELD(mxq_variant, op),
    FIELD(mxq_variant, in),
    FIELD(mxq_variant, out),
    FIELD(mxq_variant, mode),
    FIELD(mxq_variant, layout),
    FIELD(mxq_variant, scales),
    FIELD(mxq_variant, block),
    FIELD(mxq_variant, reserved),
    STRUCT(mxq_shape),
    FIELD(mxq_shape, e),
    FIELD(mxq_shape, n),
    FIELD(mxq_shape, k),
    FIELD(mxq_shape, stride_e),
    FIELD(mxq_shape, stride_n),
    STRUCT(mxq_pointers),
    FIELD(mxq_pointers, in),
    FIELD(mxq_pointers, in_scale),
    FIELD(mxq_pointers, out),
    FIELD(mxq_pointers, scale),
    STRUCT(mxq_byte_counts),
    FIELD(mxq_byte_counts, in),
    FIELD(mxq_byte_counts, in_scale),
    FIELD(mxq_byte_counts, out),
    FIELD(mxq_byte_counts, scale),
    STRUCT(mxq_scale_grid),
    FIELD(mxq_scale_grid, rows),
    FIELD(mxq_scale_grid, columns),
    FIELD(mxq_scale_grid, blocks_n),
    FIELD(mxq_scale_grid, blocks_k),
    FIELD(mxq_scale_grid, block_n),
    FIELD(mxq_scale_grid, block_k),
    FIELD(mxq_scale_grid, rows_along_k),
    STRUCT(mxq_config),
    FIELD(mxq_config, size),
    FIELD(mxq_config, resize),
    FIELD(mxq_config, resize_user),
    FIELD(mxq_config, log),
    FIELD(mxq_config, log_user),
    FIELD(mxq_config, log_level),
    FIELD(mxq_config, jit),
    FIELD(mxq_config, cache_dirs),
    FIELD(mxq_config, cache_size_bytes),
    FIELD(mxq_config, nvrtc_path),
    FIELD(mxq_config, compile_threads),
    FIELD(mxq_config, cache_strict),
    STRUCT(mxq_kernel_set),
    FIELD(mxq_kernel_set, magic),
    FIELD(mxq_kernel_set, format),
    FIELD(mxq_kernel_set, size),
    FIELD(mxq_kernel_set, blob),
    FIELD(mxq_kernel_set, blob_bytes),
    STRUCT(mxq_relayout_args),
    FIELD(mxq_relayout_args, variant),
    FIELD(mxq_relayout_args, shape),
    FIELD(mxq_relayout_args, part),
    FIELD(mxq_relayout_args, from),
    FIELD(mxq_relayout_args, to),
    FIELD(mxq_relayout_args, src),
    FIELD(mxq_relayout_args, dst),
};
#define ROWS (sizeof rows / sizeof *rows)

static void spell(const struct row *row, char *line, size_t size) {
  if (row->member)
    snprintf(line, size, "  %s.%s offset %zu size %zu\n", row->type, row->member, row->offset,
             row->size);
  else
    snprintf(line, size, "struct %s size %zu\n", row->type, row->size);
}

static int update(void) {
  char line[160];
  FILE *file = fopen(LAYOUT, "w");
  if (!file) return 1;
  fputs(
      "# Sizes and offsets of the public structs on 64-bit systems (build/bin/test_abi "
      "--update).\n",
      file);
  for (size_t i = 0; i < ROWS; i++) {
    spell(&rows[i], line, sizeof line);
    fputs(line, file);
  }
  return fclose(file) != 0;
}

static void layouts_are_as_recorded(void **state) {
  char recorded[160], now[160];
  FILE *file = fopen(LAYOUT, "r");
  (void)state;
  assert_non_null(file);
  assert_non_null(fgets(recorded, sizeof recorded, file)); /* the comment */
  for (size_t i = 0; i < ROWS; i++) {
    spell(&rows[i], now, sizeof now);
    assert_non_null(fgets(recorded, sizeof recorded, file));
    assert_string_equal(now, recorded);
  }
  assert_null(fgets(recorded, sizeof recorded, file));
  fclose(file);
}

static size_t count_rows(const char *type, size_t length, int members) {
  size_t count = 0;
  for (size_t i = 0; i < ROWS; i++)
    count += !strncmp(rows[i].type, type, length) && !rows[i].type[length] &&
             (rows[i].member != NULL) == members;
  return count;
}

/* Each "struct mxq_... {" of a header stands in the table with as many members as it has. */
static size_t check_header(const char *name) {
  char path[512], text[1 << 16];
  size_t structs = 0;
  snprintf(path, sizeof path, "%s/../include/mxq/%s", MXQ_TEST_DIR, name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  for (const char *at = text; (at = strstr(at, "\nstruct mxq_")) != NULL;) {
    const char *type = at + strlen("\nstruct ");
    const size_t length = strcspn(type, " ;");
    at = type + length;
    if (strncmp(at, " {", 2) != 0) continue;
    size_t members = 0, in_comment = 0;
    for (; *at != '}'; at++) {
      if (!strncmp(at, "/*", 2)) in_comment = 1;
      if (!strncmp(at, "*/", 2)) in_comment = 0;
      members += (*at == ';' || *at == ',') && !in_comment;
    }
    structs++;
    if (count_rows(type, length, 0) != 1 || count_rows(type, length, 1) != members)
      fail_msg("%s: struct %.*s has %zu members, this test knows %zu: add them", name, (int)length,
               type, members, count_rows(type, length, 1));
  }
  return structs;
}

static void every_public_struct_is_recorded(void **state) {
  (void)state;
  assert_true(check_header("mxq.h") + check_header("variant.h") + check_header("status.h") >= 6);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layouts_are_as_recorded),
      cmocka_unit_test(every_public_struct_is_recorded),
  };
  if (argc > 1 && !strcmp(argv[1], "--update")) return update();
  return cmocka_run_group_tests_name("abi", tests, NULL, NULL);
}
