/* SPDX-License-Identifier: MIT
 *
 * Manifests: both forms select the same, and every error leads to its file and line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "manifest.h"

#define NAME "quantize_bf16_e4m3_b32_rceil_colt_lin"

static char path[] = "/tmp/mxq-manifest-XXXXXX";

static void save(const char *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static struct manifest good(const char *text) {
  struct manifest manifest;
  save(text, strlen(text));
  if (manifest_read(path, &manifest) != MXQ_OK) fail_msg("%s\n%s", mxq_last_error(), text);
  return manifest;
}

/* Refused with "PATH:PLACE" at the beginning and `part` somewhere. */
static void bad(const char *text, enum mxq_status status, const char *place, const char *part) {
  char begin[128];
  struct manifest manifest = {.count = 77};
  save(text, strlen(text));
  snprintf(begin, sizeof begin, "%s:%s", path, place);
  assert_int_equal(manifest_read(path, &manifest), status);
  assert_int_equal(manifest.count, 77);
  if (strncmp(mxq_last_error(), begin, strlen(begin)) || !strstr(mxq_last_error(), part))
    fail_msg("not \"%s...%s\": %s", begin, part, mxq_last_error());
}

static size_t count_all(void) {
  struct mxq_variant variant = {0};
  size_t count = 0;
  while (mxq_variant_next(&variant)) count++;
  return count;
}

static void text_is_names_globs_and_comments(void **state) {
  (void)state;
  static const char *const texts[] = {
      NAME,
      NAME "\n",
      "# what we run\r\n\r\n  " NAME "\t# the weights\r\n" NAME "\n",
      "\xEF\xBB\xBF" NAME "\n",
      "quantize_bf16_e4m3_b32_rceil_colt_li[n]\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char name[MXQ_VARIANT_NAME_SIZE];
    struct manifest manifest = good(texts[i]);
    assert_int_equal(manifest.count, 1);
    assert_int_equal(manifest.arch_count, 0);
    assert_int_equal(mxq_variant_name(&manifest.variants[0], name, sizeof name), MXQ_OK);
    assert_string_equal(name, NAME);
    manifest_free(&manifest);
  }
}

static void the_order_and_repetition_of_lines_change_nothing(void **state) {
  (void)state;
  struct manifest first = good("*_e5m2_*\n*\n"), second = good("*\n*_e4m3_*\n");
  assert_int_equal(first.count, count_all());
  assert_int_equal(second.count, first.count);
  assert_memory_equal(first.variants, second.variants, first.count * sizeof *first.variants);
  manifest_free(&first);
  manifest_free(&second);
}

static void json_includes_then_excludes(void **state) {
  (void)state;
  struct manifest all = good("*_bf16_*"), some = good("*_bf16_e5m2_*\n*_e5m2_bf16_*");
  struct manifest manifest = good(
      "\n {\"mxq_manifest\": 1, \"archs\": [\"100a\", \"90a\", \"100a\"],\n"
      "\"include\": [\"*_bf16_*\"], \"exclude\": [\"*_e5m2_*\"]}\n");
  assert_int_equal(manifest.count, all.count - some.count);
  assert_int_equal(manifest.arch_count, 2);
  assert_string_equal(manifest.archs[0]->name, "100a");
  assert_string_equal(manifest.archs[1]->name, "90a");
  manifest_free(&manifest);
  manifest_free(&all);
  manifest_free(&some);
}

static void errors_name_file_and_line(void **state) {
  (void)state;
  bad("*\n\nquantize_bf17_e4m3_b32_rceil_colt_lin\n", MXQ_UNKNOWN_NAME, "3: ", "bf17");
  bad("*\n*_bf17_*\n", MXQ_UNKNOWN_NAME, "2: ", "*_bf17_*");
  bad("# nothing\n", MXQ_INVALID_ARGUMENT, " ", "no variant");
  bad("", MXQ_INVALID_ARGUMENT, " ", "no variant");
  bad("{\"mxq_manifest\": 1,\n\"include\": [\"*\",]}", MXQ_INVALID_ARGUMENT, "2: ", "JSON");
  bad("{\"mxq_manifest\": 1, \"include\": [\"*\"]} x", MXQ_INVALID_ARGUMENT, "1: ", "JSON");
  bad("{\"include\": [\"*\"]}", MXQ_INVALID_ARGUMENT, "1: ", "mxq_manifest");
  bad("{\"mxq_manifest\": 2, \"include\": [\"*\"]}", MXQ_INVALID_ARGUMENT, "1: ", "mxq_manifest");
  bad("{\"mxq_manifest\": 1}", MXQ_INVALID_ARGUMENT, "1: ", "include");
  bad("{\"mxq_manifest\": 1,\n\n\"inclde\": [], \"include\": []}", MXQ_INVALID_ARGUMENT,
      "3: ", "\"inclde\" is no key");
  bad("{\"mxq_manifest\": 1, \"include\": [\"*\"],\n\"include\": [\"*\"]}", MXQ_INVALID_ARGUMENT,
      "1: ", "twice");
  bad("{\"mxq_manifest\": 1, \"include\": \"*\"}", MXQ_INVALID_ARGUMENT, "1: ", "list of strings");
  bad("{\"mxq_manifest\": 1, \"include\": [1]}", MXQ_INVALID_ARGUMENT, "1: ", "list of strings");
  bad("{\"mxq_manifest\": 1, \"include\": [\"*\"],\n\"archs\": [\"12x\"]}", MXQ_INVALID_ARGUMENT,
      "2: ", "12x");
  bad("{\"mxq_manifest\": 1, \"include\": [\"*\",\n\"nope_*\"]}", MXQ_UNKNOWN_NAME,
      "2: ", "nope_*");
  bad("{\"mxq_manifest\": 1, \"include\": [\"*\"],\n\"exclude\": [\"*\"]}", MXQ_INVALID_ARGUMENT,
      " ", "excludes everything");
}

static void what_is_no_text_is_refused(void **state) {
  (void)state;
  struct manifest manifest;
  save("*\n*\0", 4);
  assert_int_equal(manifest_read(path, &manifest), MXQ_INVALID_ARGUMENT);
  assert_non_null(strstr(mxq_last_error(), ":2: "));
  assert_int_equal(manifest_read("/no/such/manifest", &manifest), MXQ_IO_ERROR);
  assert_non_null(strstr(mxq_last_error(), "/no/such/manifest"));
  assert_int_equal(manifest_read("/tmp", &manifest), MXQ_IO_ERROR);
}

static void archs_of_the_command_line_win(void **state) {
  (void)state;
  const struct mxq_arch **archs = NULL;
  size_t count = 0;
  struct manifest manifest =
      good("{\"mxq_manifest\": 1, \"archs\": [\"90a\"], \"include\": [\"*\"]}");
  assert_int_equal(manifest_archs(&manifest, NULL, &archs, &count), MXQ_OK);
  assert_int_equal(count, 1);
  free(archs);
  assert_int_equal(manifest_archs(&manifest, "100a,90a,100a", &archs, &count), MXQ_OK);
  assert_int_equal(count, 2);
  assert_string_equal(archs[0]->name, "100a");
  free(archs);
  assert_int_equal(manifest_archs(&manifest, "90a,", &archs, &count), MXQ_INVALID_ARGUMENT);
  manifest_free(&manifest);
  manifest = good("*");
  assert_int_equal(manifest_archs(&manifest, NULL, &archs, &count), MXQ_INVALID_ARGUMENT);
  assert_non_null(strstr(mxq_last_error(), "--archs"));
  manifest_free(&manifest);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_is_names_globs_and_comments),
      cmocka_unit_test(the_order_and_repetition_of_lines_change_nothing),
      cmocka_unit_test(json_includes_then_excludes),
      cmocka_unit_test(errors_name_file_and_line),
      cmocka_unit_test(what_is_no_text_is_refused),
      cmocka_unit_test(archs_of_the_command_line_win),
  };
  const int file = mkstemp(path);
  if (file < 0) return 1;
  close(file);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  unlink(path);
  return failed;
}
