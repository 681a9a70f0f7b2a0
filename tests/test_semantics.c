/* SPDX-License-Identifier: MIT
 *
 * The tables of docs/semantics.md stand there as the CPU path computes them. `test_semantics
 * --print` writes them; without it the test looks each of them up in the document.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "semantics_tables.h"

static char document[1 << 17];

/* Tables stand whole and in order. */
static const char *rest = document;

static void look_up(const char *text) {
  const char *found = strstr(rest, text);
  if (!found || found[strlen(text)] != '\n')
    fail_msg(
        "docs/semantics.md lacks this table, or it stands too early, or goes on (test_semantics "
        "--print writes all):\n%s",
        text);
  else
    rest = found + strlen(text);
}

static void test_document(void **state) {
  FILE *file = fopen(MXQ_TEST_DIR "/../docs/semantics.md", "r");
  (void)state;
  assert_non_null(file);
  const size_t length = fread(document, 1, sizeof document - 1, file);
  fclose(file);
  assert_true(length > 0 && length < sizeof document - 1);
  assert_int_not_equal(semantics_tables(look_up), 0);
}

static void write_out(const char *text) { printf("%s\n", text); }

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_document)};
  if (argc == 2 && !strcmp(argv[1], "--print")) return semantics_tables(write_out) == 0;
  return cmocka_run_group_tests_name("semantics", tests, NULL, NULL);
}
