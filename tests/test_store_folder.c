/* SPDX-License-Identifier: MIT
 *
 * The folders of the disk cache: where they come from, who may own and write them.
 */
#include "store_fixture.h"

static void a_folder_that_others_may_write_is_not_used(void **state) {
  const struct fixture *f = *state;
  const struct mxq_store_entry entry = sample();
  char why[1024];
  must_write(f);
  assert_int_equal(chmod(f->dir, 0770), 0);
  assert_false(read_back(&f->store, &f->key, why, sizeof why));
  assert_non_null(strstr(why, "others may write"));
  assert_false(mxq_store_write(&f->store, &f->key, &entry, why, sizeof why));
  assert_int_equal(chmod(f->dir, 0700), 0);
  assert_true(hits(f));
}

static void the_first_writable_folder_is_written_and_all_are_read(void **state) {
  const struct fixture *f = *state;
  char dirs[512], second[256], why[1024], name[MXQ_STORE_NAME_SIZE], path[PATH_MAX];
  const struct mxq_store_entry entry = sample();
  snprintf(second, sizeof second, "%s/second", f->root);
  /* The first cannot be made: its parent is a file. */
  snprintf(path, sizeof path, "%s/plain", f->root);
  save_file(path, (const unsigned char *)"x", 1);
  snprintf(dirs, sizeof dirs, "%s/plain/sub::%s", f->root, second);
  struct mxq_store store = store_of(dirs);
  assert_int_equal(store.dir_count, 2);
  assert_true(mxq_store_write(&store, &f->key, &entry, why, sizeof why));
  mxq_store_name(&f->key, name);
  snprintf(path, sizeof path, "%s/%s", second, name);
  assert_int_equal(access(path, R_OK), 0);
  assert_true(read_back(&store, &f->key, why, sizeof why));
  mxq_store_free(&mxq_allocator_default, &store);
}

static void an_unwritable_folder_is_said_and_survived(void **state) {
  const struct fixture *f = *state;
  const struct mxq_store_entry entry = sample();
  char why[1024];
  struct mxq_store store = store_of("/proc/mxq");
  assert_false(mxq_store_write(&store, &f->key, &entry, why, sizeof why));
  assert_non_null(strstr(why, "/proc/mxq"));
  assert_int_equal(mxq_store_lock(&store, &f->key), -1);
  assert_false(read_back(&store, &f->key, why, sizeof why));
  mxq_store_free(&mxq_allocator_default, &store);
}

static void expect_folder(const char *expected, const char *source) {
  struct mxq_store store = store_of(NULL);
  assert_int_equal(store.dir_count, 1);
  assert_string_equal(store.dirs[0], expected);
  assert_string_equal(store.source, source);
  mxq_store_free(&mxq_allocator_default, &store);
}

static void folders_come_from_the_first_variable_that_is_set(void **state) {
  char working[PATH_MAX], expected[PATH_MAX + 16];
  (void)state;
  assert_non_null(getcwd(working, sizeof working));
  setenv("MXQ_CACHE_DIR", "/a", 1);
  setenv("XDG_CACHE_HOME", "/b", 1);
  setenv("HOME", "/home/of me", 1);
  expect_folder("/a", "MXQ_CACHE_DIR");
  setenv("MXQ_CACHE_DIR", "rel", 1);
  snprintf(expected, sizeof expected, "%s/rel", working);
  expect_folder(expected, "MXQ_CACHE_DIR");
  unsetenv("MXQ_CACHE_DIR");
  expect_folder("/b/mxq", "XDG_CACHE_HOME");
  setenv("XDG_CACHE_HOME", "relative", 1); /* not allowed by the XDG rules: ignored */
  expect_folder("/home/of me/.cache/mxq", "HOME");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  struct mxq_store store = store_of(NULL); /* the password entry, or nothing */
  assert_in_range(store.dir_count, 0, 1);
  if (store.dir_count) assert_non_null(strstr(store.dirs[0], "/.cache/mxq"));
  mxq_store_free(&mxq_allocator_default, &store);
}

static void no_folder_is_no_cache(void **state) {
  const struct fixture *f = *state;
  const struct mxq_store_entry entry = sample();
  struct mxq_store store = {.source = "nothing"};
  char why[1024];
  assert_true(mxq_store_write(&store, &f->key, &entry, why, sizeof why));
  assert_false(read_back(&store, &f->key, why, sizeof why));
  assert_int_equal(mxq_store_lock(&store, &f->key), -1);
}

int main(void) {
#define EACH(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
  const struct CMUnitTest tests[] = {
      EACH(a_folder_that_others_may_write_is_not_used),
      EACH(the_first_writable_folder_is_written_and_all_are_read),
      EACH(an_unwritable_folder_is_said_and_survived),
      EACH(folders_come_from_the_first_variable_that_is_set),
      EACH(no_folder_is_no_cache),
  };
#undef EACH
  return cmocka_run_group_tests(tests, NULL, NULL);
}
