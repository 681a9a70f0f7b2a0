/* SPDX-License-Identifier: MIT
 *
 * The folders of the disk cache: where they come from, who may own and write them.
 */
#include <fcntl.h>

#include "store_fixture.h"

static void a_folder_that_others_may_write_is_not_used(void **state) {
  struct fixture *f = *state;
  const struct mxq_store_entry entry = sample();
  char why[1024];
  must_write(f);
  assert_int_equal(chmod(f->dir, 0770), 0);
  assert_false(read_back(&f->store, &f->key, why, sizeof why));
  assert_non_null(strstr(why, "others may write"));
  assert_false(
      mxq_store_write(&f->store, &mxq_allocator_default, &f->key, &entry, why, sizeof why));
  assert_int_equal(chmod(f->dir, 0700), 0);
  assert_true(hits(f));
}

static void the_first_writable_folder_is_written_and_all_are_read(void **state) {
  struct fixture *f = *state;
  char dirs[512], second[256], why[1024], name[MXQ_STORE_NAME_SIZE], path[PATH_MAX];
  const struct mxq_store_entry entry = sample();
  snprintf(second, sizeof second, "%s/second", f->root);
  /* The first cannot be made: its parent is a file. */
  snprintf(path, sizeof path, "%s/plain", f->root);
  save_file(path, (const unsigned char *)"x", 1);
  snprintf(dirs, sizeof dirs, "%s/plain/sub::%s", f->root, second);
  struct mxq_store store = store_of(dirs);
  assert_int_equal(store.dir_count, 2);
  assert_true(mxq_store_write(&store, &mxq_allocator_default, &f->key, &entry, why, sizeof why));
  mxq_store_name(&f->key, name);
  snprintf(path, sizeof path, "%s/%s", second, name);
  assert_int_equal(access(path, R_OK), 0);
  assert_true(read_back(&store, &f->key, why, sizeof why));
  mxq_store_free(&mxq_allocator_default, &store);
}

static void an_unwritable_folder_is_said_and_survived(void **state) {
  struct fixture *f = *state;
  const struct mxq_store_entry entry = sample();
  char why[1024];
  struct mxq_store store = store_of("/proc/mxq");
  assert_false(mxq_store_write(&store, &mxq_allocator_default, &f->key, &entry, why, sizeof why));
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
  struct fixture *f = *state;
  const struct mxq_store_entry entry = sample();
  struct mxq_store store = {.source = "nothing"};
  char why[1024];
  assert_true(mxq_store_write(&store, &mxq_allocator_default, &f->key, &entry, why, sizeof why));
  assert_false(read_back(&store, &f->key, why, sizeof why));
  assert_int_equal(mxq_store_lock(&store, &f->key), -1);
}

/* Entries of 271 bytes in a folder of 1000: three stay, and which is told by their last use. */
static void the_least_recently_used_entries_go_first(void **state) {
  struct fixture *f = *state;
  struct mxq_store_key keys[5];
  char name[MXQ_STORE_NAME_SIZE], path[PATH_MAX], why[1024];
  const struct mxq_store_entry entry = sample();
  f->store.size_bytes = 1000;
  for (unsigned i = 0; i < 5; ++i) {
    struct timespec times[2] = {{1000000000 + i, 0}, {1000000000 + i, 0}};
    if (i == 1) times[0].tv_sec += 60; /* read later, as the file system notes it */
    keys[i] = f->key;
    keys[i].kernel.tile_k = (uint16_t)(64 + i);
    if (!mxq_store_write(&f->store, &mxq_allocator_default, &keys[i], &entry, why, sizeof why))
      fail_msg("%s", why);
    mxq_store_name(&keys[i], name);
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    if (i == 2) assert_true(read_back(&f->store, &keys[0], why, sizeof why)); /* used again */
  }
  assert_true(read_back(&f->store, &keys[0], why, sizeof why));
  assert_true(read_back(&f->store, &keys[1], why, sizeof why));
  assert_false(read_back(&f->store, &keys[2], why, sizeof why));
  assert_false(read_back(&f->store, &keys[3], why, sizeof why));
  assert_true(read_back(&f->store, &keys[4], why, sizeof why));
}

static void what_a_dead_writer_left_goes(void **state) {
  struct fixture *f = *state;
  struct timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
  char old[PATH_MAX], young[PATH_MAX];
  must_write(f);
  snprintf(old, sizeof old, "%s/old.tmp", f->dir);
  snprintf(young, sizeof young, "%s/young.tmp", f->dir);
  save_file(old, (const unsigned char *)"x", 1);
  save_file(young, (const unsigned char *)"x", 1);
  assert_int_equal(utimensat(AT_FDCWD, old, times, 0), 0);
  atomic_store(&f->store.room, 0);
  must_write(f);
  assert_int_not_equal(access(old, F_OK), 0);
  assert_int_equal(access(young, F_OK), 0);
}

int main(void) {
#define EACH(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
  const struct CMUnitTest tests[] = {
      EACH(a_folder_that_others_may_write_is_not_used),
      EACH(the_first_writable_folder_is_written_and_all_are_read),
      EACH(an_unwritable_folder_is_said_and_survived),
      EACH(folders_come_from_the_first_variable_that_is_set),
      EACH(no_folder_is_no_cache),
      EACH(the_least_recently_used_entries_go_first),
      EACH(what_a_dead_writer_left_goes),
  };
#undef EACH
  return cmocka_run_group_tests(tests, NULL, NULL);
}
