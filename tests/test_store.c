/* SPDX-License-Identifier: MIT
 *
 * The disk cache: what was written is read back, and nothing else is ever believed.
 */
#include <sys/wait.h>
#include <time.h>

#include "store_fixture.h"

static void reads_back_what_was_written(void **state) {
  struct fixture *f = *state;
  struct stat status;
  assert_false(hits(f));
  must_write(f);
  assert_true(hits(f));
  assert_int_equal(stat(f->dir, &status), 0);
  assert_int_equal(status.st_mode & 0777, 0700);
  assert_int_equal(stat(f->file, &status), 0);
  assert_int_equal(status.st_mode & 0077, 0);
  must_write(f); /* in place of the first */
  assert_true(hits(f));
}

static void a_file_name_depends_on_kernel_and_arch_alone(void **state) {
  struct fixture *f = *state;
  char first[MXQ_STORE_NAME_SIZE], second[MXQ_STORE_NAME_SIZE];
  struct mxq_store_key key = f->key;
  mxq_store_name(&f->key, first);
  assert_int_equal(strlen(first), 36);
  mxq_store_name(&key, second);
  assert_string_equal(first, second);
  key.kernel.tile_n = 64;
  mxq_store_name(&key, second);
  assert_string_not_equal(first, second);
  key = f->key;
  assert_int_equal(mxq_arch_parse("100a", &key.arch), MXQ_OK);
  mxq_store_name(&key, second);
  assert_string_not_equal(first, second);
}

static void every_flipped_byte_is_a_miss(void **state) {
  struct fixture *f = *state;
  unsigned char bytes[1024];
  must_write(f);
  const size_t length = load_file(f->file, bytes, sizeof bytes);
  assert_in_range(length, 200, 500);
  for (size_t i = 0; i < length; ++i) {
    bytes[i] ^= (unsigned char)(1u << i % 8);
    save_file(f->file, bytes, length);
    if (hits(f)) fail_msg("byte %zu of %zu may be changed", i, length);
    bytes[i] ^= (unsigned char)(1u << i % 8);
  }
  save_file(f->file, bytes, length);
  assert_true(hits(f));
}

static void every_other_length_is_a_miss(void **state) {
  struct fixture *f = *state;
  unsigned char bytes[1024] = {0};
  must_write(f);
  const size_t length = load_file(f->file, bytes, sizeof bytes);
  for (size_t i = 0; i < length + 20; ++i) {
    if (i == length) continue;
    save_file(f->file, bytes, i);
    if (hits(f)) fail_msg("%zu of %zu bytes are enough", i, length);
  }
  must_write(f); /* replaces what is damaged */
  assert_true(hits(f));
}

static void an_entry_of_another_key_is_a_miss(void **state) {
  struct fixture *f = *state;
  char name[MXQ_STORE_NAME_SIZE], other[PATH_MAX], why[1024];
  struct mxq_store_key key = f->key;
  key.kernel.tile_n = 64;
  mxq_store_name(&key, name);
  snprintf(other, sizeof other, "%s/%s", f->dir, name);
  must_write(f);
  assert_int_equal(rename(f->file, other), 0);
  assert_false(read_back(&f->store, &key, why, sizeof why));
  assert_non_null(strstr(why, "another format or key"));
}

static void what_is_no_file_is_a_miss(void **state) {
  struct fixture *f = *state;
  char why[1024];
  must_write(f);
  assert_int_equal(unlink(f->file), 0);
  assert_int_equal(mkfifo(f->file, 0600), 0); /* must not wait for a writer */
  assert_false(read_back(&f->store, &f->key, why, sizeof why));
  assert_int_equal(unlink(f->file), 0);
  assert_int_equal(symlink("/etc/passwd", f->file), 0);
  assert_false(hits(f));
  must_write(f);
  assert_true(hits(f));
}

/* Whoever may write a file chooses what runs. */
static void what_others_may_write_is_a_miss(void **state) {
  static const mode_t open_modes[] = {0620, 0602, 0666}, good_modes[] = {0600, 0644, 0400, 0444};
  struct fixture *f = *state;
  char why[1024];
  must_write(f);
  for (size_t i = 0; i < sizeof open_modes / sizeof open_modes[0]; i++) {
    assert_int_equal(chmod(f->file, open_modes[i]), 0);
    assert_false(read_back(&f->store, &f->key, why, sizeof why));
    assert_non_null(strstr(why, "may be written by others"));
  }
  for (size_t i = 0; i < sizeof good_modes / sizeof good_modes[0]; i++) {
    assert_int_equal(chmod(f->file, good_modes[i]), 0);
    assert_true(hits(f));
  }
}

static void nothing_is_left_beside_the_entry(void **state) {
  struct fixture *f = *state;
  char command[256];
  const struct mxq_store_entry entry = sample();
  char why[1024];
  must_write(f);
  assert_int_equal(unlink(f->file), 0);
  assert_int_equal(mkdir(f->file, 0700), 0); /* the rename fails */
  assert_false(
      mxq_store_write(&f->store, &mxq_allocator_default, &f->key, &entry, why, sizeof why));
  assert_non_null(strstr(why, f->dir));
  snprintf(command, sizeof command, "ls '%s' | grep -q tmp", f->dir);
  assert_int_not_equal(system(command), 0);
  assert_int_equal(rmdir(f->file), 0);
}

static void a_lock_keeps_a_process_out_until_the_entry_is_there(void **state) {
  struct fixture *f = *state;
  const int lock = mxq_store_lock(&f->store, &f->key);
  const time_t start = time(NULL);
  int status = 0;
  assert_true(lock >= 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) { /* waits, sees the entry and gives the lock up */
    const int mine = mxq_store_lock(&f->store, &f->key);
    _exit(mine < 0 && hits(f) ? 0 : 1);
  }
  usleep(50000);
  assert_int_equal(waitpid(child, &status, WNOHANG), 0);
  must_write(f);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  assert_true(time(NULL) - start < 10); /* it saw the entry, and did not wait its time out */
  mxq_store_unlock(lock);
  const int again = mxq_store_lock(&f->store, &f->key);
  assert_true(again >= 0);
  mxq_store_unlock(again);
}

int main(void) {
#define EACH(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
  const struct CMUnitTest tests[] = {
      EACH(reads_back_what_was_written),
      EACH(a_file_name_depends_on_kernel_and_arch_alone),
      EACH(every_flipped_byte_is_a_miss),
      EACH(every_other_length_is_a_miss),
      EACH(an_entry_of_another_key_is_a_miss),
      EACH(what_is_no_file_is_a_miss),
      EACH(what_others_may_write_is_a_miss),
      EACH(nothing_is_left_beside_the_entry),
      EACH(a_lock_keeps_a_process_out_until_the_entry_is_there),
  };
#undef EACH
  return cmocka_run_group_tests(tests, NULL, NULL);
}
