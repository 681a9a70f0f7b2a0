/* SPDX-License-Identifier: MIT
 *
 * The same kernel gives the same bytes: again, after a failure, in any locale, on any thread, with
 * memory running out at any point.
 */
#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "comma_locale.h"
#include "expand.h"
#include "ledger.h"
#include "status.h"
#include "template_folder.h"

static struct mxq_kernel_id kernel_of(const char *name) {
  struct mxq_kernel_id id;
  if (mxq_kernel_id_parse(name, &id) != MXQ_OK) fail_msg("%s", mxq_last_error());
  return id;
}

static const struct mxq_arch *arch_90a(void) {
  const struct mxq_arch *arch;
  return mxq_arch_parse("90a", &arch) == MXQ_OK ? arch : NULL;
}

static char *built_in(const char *name) {
  const struct mxq_kernel_id id = kernel_of(name);
  char *source = NULL;
  if (mxq_expand(&mxq_allocator_default, &id, arch_90a(), NULL, &source, NULL) != MXQ_OK)
    fail_msg("%s", mxq_last_error());
  return source;
}

/* One variant of these; no factor of any axis, so that each of its values comes. */
enum { sampled_of = 37 };

/* One expander for variants of all kinds, twice, gives what a fresh one gives for each. */
static void an_expander_remembers_nothing(void **state) {
  (void)state;
  struct mxq_expander *expander;
  assert_int_equal(mxq_expander_create(&mxq_allocator_default, NULL, &expander), MXQ_OK);
  for (int round = 0; round < 2; ++round) {
    struct mxq_variant variant = {0};
    for (size_t i = 0; mxq_variant_next(&variant); ++i) {
      if (i % sampled_of) continue;
      char name[MXQ_VARIANT_NAME_SIZE], *source;
      assert_int_equal(mxq_variant_name(&variant, name, sizeof name), MXQ_OK);
      const struct mxq_kernel_id id = kernel_of(name);
      assert_int_equal(mxq_expander_expand(expander, &id, arch_90a(), &source, NULL), MXQ_OK);
      char *fresh = built_in(name);
      assert_string_equal(source, fresh);
      template_free(fresh);
      template_free(source);
    }
  }
  mxq_expander_destroy(expander);
  mxq_expander_destroy(NULL);
}

/* A failing template in the middle of a paste leaves nothing behind for the next kernel. */
static void a_failure_leaves_nothing_behind(void **state) {
  (void)state;
  static const char text[] =
      "//$ if variant.input == \"f16\" then\n//$ paste(\"p.cuh\", {n = 1})\n//$ end\n"
      "//$ paste \"q.cuh\"\n";
  static const char piece[] = "${n}\n${missing}\n", other[] = "${type(\"s\")} ${input.bits}\n";
  const struct template_folder folder = template_folder_make();
  template_folder_write(&folder, TEMPLATE_MAIN, text, strlen(text));
  template_folder_write(&folder, "p.cuh", piece, strlen(piece));
  template_folder_write(&folder, "q.cuh", other, strlen(other));
  const struct mxq_kernel_id good = kernel_of(TEMPLATE_KERNEL);
  const struct mxq_kernel_id bad = kernel_of("quantize_f16_e4m3_b32_rceil_colt_lin");
  struct mxq_expander *expander;
  char *source;
  assert_int_equal(mxq_expander_create(&mxq_allocator_default, folder.path, &expander), MXQ_OK);
  for (int round = 0; round < 40; ++round) {
    assert_int_equal(mxq_expander_expand(expander, &bad, arch_90a(), &source, NULL),
                     MXQ_TEMPLATE_ERROR);
    assert_non_null(strstr(mxq_last_error(), "templates/p.cuh:2: there is no name 'missing'"));
    if (round == 0) continue;
    assert_int_equal(mxq_expander_expand(expander, &good, arch_90a(), &source, NULL), MXQ_OK);
    assert_string_equal(template_body(source), "\n#line 1 \"templates/q.cuh\"\nstring 16\n");
    template_free(source);
    if (round == 1) template_folder_remove(&folder); /* all is read by now, and only once */
  }
  mxq_expander_destroy(expander);
}

static void a_locale_changes_nothing(void **state) {
  (void)state;
  static const char text[] = "${0.5} ${1.25e10} ${tostring(1.5)} ${string.format(\"%.1f\", 2)}\n";
  const struct template_folder folder = template_folder_make();
  char *before = built_in(TEMPLATE_KERNEL), *source, shown[8], remove[128];
  const int set = comma_locale_set(folder.path);
  snprintf(remove, sizeof remove, "rm -rf %s/comma", folder.path); /* it may be there in part */
  if (!set) {
    assert_int_equal(system(remove), 0);
    print_message("skipped: localedef makes no locale with a decimal comma here\n");
    template_free(before);
    template_folder_remove(&folder);
    skip();
  }
  snprintf(shown, sizeof shown, "%.1f", 0.5);
  assert_string_equal(shown, "0,5");
  char *after = built_in(TEMPLATE_KERNEL);
  assert_string_equal(after, before);
  assert_int_equal(template_expand(&folder, text, &source), MXQ_OK);
  assert_non_null(strstr(source, "\n0.5 1.25e+10 1.5 2.0\n"));
  snprintf(shown, sizeof shown, "%.1f", 0.5);
  assert_string_equal(shown, "0,5"); /* the caller's locale is as it was */
  setlocale(LC_NUMERIC, "C");
  template_free(before);
  template_free(after);
  template_free(source);
  assert_int_equal(system(remove), 0);
  template_folder_remove(&folder);
}

/* Expands with allocation `n` refused, and those after it unless `once`. 1: it had to fail. */
static size_t expand_refusing(const char *directory, size_t n, int once, size_t *calls) {
  const struct mxq_kernel_id id = kernel_of(TEMPLATE_KERNEL);
  struct ledger ledger = {.refuse_from = n, .once = once};
  const struct mxq_allocator allocator = {ledger_resize, &ledger};
  char *source = NULL;
  const enum mxq_status status = mxq_expand(&allocator, &id, arch_90a(), directory, &source, NULL);
  if (status != MXQ_OK) assert_int_equal(status, MXQ_OUT_OF_MEMORY);
  assert_int_equal(source != NULL, status == MXQ_OK);
  if (source) assert_int_equal(strncmp(source, "// " TEMPLATE_KERNEL, 10), 0);
  mxq_free(&allocator, source);
  assert_int_equal(ledger.live, 0);
  assert_int_equal(ledger.bytes, 0);
  *calls = ledger.calls;
  return status != MXQ_OK;
}

/* Refuses each allocation alone, and all from it on: the first and last ones, and every 29th
 * between them. */
static void running_out_of_memory_leaks_nothing(void **state) {
  (void)state;
  static const char text[] = "//$ local s = string.format(\"%s%s\", (\"x\"):rep(3000), \"y\")\n";
  const struct template_folder folder = template_folder_make();
  template_folder_write(&folder, TEMPLATE_MAIN, text, strlen(text));
  for (int run = 0; run < 4; ++run) {
    const char *directory = run / 2 ? folder.path : NULL;
    size_t total, calls, refused = 0;
    assert_int_equal(expand_refusing(directory, 0, 0, &total), 0);
    for (size_t n = 1; n <= total; n += n < 100 || n + 100 > total ? 1 : 29)
      refused += expand_refusing(directory, n, run % 2, &calls);
    assert_true(refused > 2);
  }
  template_folder_remove(&folder);
}

/* Memory after many kernels is what it is after a few. */
static void an_expander_does_not_grow(void **state) {
  (void)state;
  struct ledger ledger = {0};
  const struct mxq_allocator allocator = {ledger_resize, &ledger};
  const struct mxq_kernel_id id = kernel_of(TEMPLATE_KERNEL);
  struct mxq_expander *expander;
  size_t most[2] = {0, 0};
  assert_int_equal(mxq_expander_create(&allocator, NULL, &expander), MXQ_OK);
  for (int round = 0; round < 2000; ++round) {
    char *source;
    assert_int_equal(mxq_expander_expand(expander, &id, arch_90a(), &source, NULL), MXQ_OK);
    mxq_free(&allocator, source);
    size_t *largest = &most[round >= 500];
    if (ledger.bytes > *largest) *largest = ledger.bytes;
  }
  mxq_expander_destroy(expander);
  assert_int_equal(ledger.live, 0);
  assert_true(most[1] <= most[0] + most[0] / 10);
  assert_true(most[1] < (size_t)4 << 20);
}

static void *expand_many(void *expected) {
  const char *wrong = NULL;
  const struct mxq_arch *arch;
  struct mxq_kernel_id id;
  if (mxq_arch_parse("90a", &arch) != MXQ_OK || mxq_kernel_id_parse(TEMPLATE_KERNEL, &id) != MXQ_OK)
    return "parse";
  for (int round = 0; round < 30 && !wrong; ++round) {
    char *source = NULL;
    if (mxq_expand(&mxq_allocator_default, &id, arch, NULL, &source, NULL) != MXQ_OK)
      wrong = "expand";
    else if (strcmp(source, expected) != 0)
      wrong = "bytes";
    template_free(source);
  }
  return (void *)(uintptr_t)wrong;
}

static void threads_do_not_meet(void **state) {
  (void)state;
  char *expected = built_in(TEMPLATE_KERNEL);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    assert_int_equal(pthread_create(&threads[i], NULL, expand_many, expected), 0);
  for (int i = 0; i < 4; ++i) {
    void *wrong;
    assert_int_equal(pthread_join(threads[i], &wrong), 0);
    assert_null(wrong);
  }
  template_free(expected);
}

/* With an argument only the test of threads, the one that the thread sanitizer can say something
 * of. */
int main(int argc, char **argv) {
  const struct CMUnitTest alone[] = {
      cmocka_unit_test(an_expander_remembers_nothing),
      cmocka_unit_test(a_failure_leaves_nothing_behind),
      cmocka_unit_test(a_locale_changes_nothing),
      cmocka_unit_test(running_out_of_memory_leaks_nothing),
      cmocka_unit_test(an_expander_does_not_grow),
  };
  const struct CMUnitTest threads[] = {cmocka_unit_test(threads_do_not_meet)};
  (void)argv;
  if (argc > 1) return cmocka_run_group_tests(threads, NULL, NULL);
  return cmocka_run_group_tests(alone, NULL, NULL);
}
