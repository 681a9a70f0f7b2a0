/* SPDX-License-Identifier: MIT
 *
 * The disk cache on file systems where anything fails at any time, and in processes that are killed
 * at any step: never a wrong entry, and a good one afterwards.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "file_faults.h"
#include "store_fixture.h"

static const int errors[] = {ENOSPC, EDQUOT, EIO,    ESTALE, EBUSY,  EXDEV,  EINTR,
                             EACCES, EROFS,  EMFILE, ENOLCK, ENOSYS, ETXTBSY};

static const struct mxq_allocator *const memory = &mxq_allocator_default;

/* What a call that missed does: lock, look again, write, unlock. */
static int fill(struct fixture *f) {
  const struct mxq_store_entry entry = sample();
  char why[1024];
  const int lock = mxq_store_lock(&f->store, &f->key);
  const int good = mxq_store_write(&f->store, memory, &f->key, &entry, why, sizeof why);
  mxq_store_unlock(lock);
  return good;
}

/* Descriptors open in this process, those of the count itself left out. */
static int descriptors(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/fd");
  assert_non_null(folder);
  while (readdir(folder)) count++;
  closedir(folder);
  return count;
}

/* The entry is there and whole or it is not there, and writing it again works. */
static void check_after(struct fixture *f, int wrote, const struct file_fault *fault, int before) {
  file_faults_set(NULL);
  if (wrote && !hits(f)) {
    const char *name = file_faults_name(fault->function);
    fail_msg("written, but not there: %s call %lu, error %d", name, fault->first, fault->error);
  }
  if (descriptors() > before + (fault->function == FILE_close || fault->function == FILE_ANY))
    fail_msg("a descriptor leaks: %s call %lu, effect %d, error %d",
             file_faults_name(fault->function), fault->first, (int)fault->effect, fault->error);
  assert_true(fill(f));
  assert_true(hits(f));
}

static void restart(struct fixture *f) {
  char command[256];
  snprintf(command, sizeof command, "rm -rf '%s'", f->dir);
  assert_int_equal(system(command), 0);
  atomic_store(&f->store.room, 0);
}

static void every_call_may_fail_with_any_error(void **state) {
  struct fixture *f = *state;
  static const enum file_effect effects[] = {FILE_FAILS, FILE_FAILS_AFTER};
  unsigned long steps = 0;
  for (size_t e = 0; e < 2 * sizeof errors / sizeof *errors; e++) {
    struct file_fault fault = {FILE_ANY, 1, 1, effects[e % 2], errors[e / 2]};
    if (fault.error == EINTR && e % 2) continue; /* an interrupted call has done nothing */
    for (int reached = 1; reached; fault.first++, fault.last++) {
      restart(f);
      const int before = descriptors();
      file_faults_set(&fault);
      const int wrote = fill(f);
      reached = file_faults_calls(FILE_ANY) >= fault.first;
      check_after(f, wrote, &fault, before);
    }
    steps = fault.first;
  }
  assert_true(steps > 10);
}

static void every_call_may_fail_for_good(void **state) {
  struct fixture *f = *state;
  for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
    for (int function = 0; function < FILE_FUNCTIONS; function++) {
      const struct file_fault fault = {function, 1, ~0ul, FILE_FAILS, errors[e]};
      if (errors[e] == EINTR && (function == FILE_write || function == FILE_flock)) continue;
      restart(f);
      file_faults_set(&fault);
      const int wrote = fill(f);
      file_faults_set(NULL);
      if (wrote) assert_true(hits(f));
      restart(f);
      assert_true(fill(f));
    }
}

static void short_writes_and_reads_are_continued(void **state) {
  struct fixture *f = *state;
  const struct file_fault fault = {FILE_ANY, 1, ~0ul, FILE_SHORT, 0};
  restart(f);
  file_faults_set(&fault);
  assert_true(fill(f));
  assert_true(file_faults_calls(FILE_write) > 200);
  assert_int_equal(file_faults_calls(FILE_fsync), 1);
  assert_int_equal(file_faults_calls(FILE_renameat), 1);
  assert_true(hits(f));
  file_faults_set(NULL);
  assert_true(hits(f));
}

static void interrupted_calls_are_repeated(void **state) {
  struct fixture *f = *state;
  struct file_fault fault = {FILE_write, 2, 3, FILE_FAILS, EINTR};
  restart(f);
  file_faults_set(&fault);
  assert_true(fill(f));
  fault.function = FILE_read;
  file_faults_set(&fault);
  assert_true(hits(f));
  file_faults_set(NULL);
}

static void a_full_disk_leaves_nothing(void **state) {
  struct fixture *f = *state;
  const struct mxq_store_entry entry = sample();
  char command[256], why[1024];
  for (unsigned long n = 1; n <= 2; n++) { /* of the header, of the cubin */
    const struct file_fault fault = {FILE_write, n, ~0ul, FILE_FAILS, ENOSPC};
    restart(f);
    file_faults_set(&fault);
    assert_false(mxq_store_write(&f->store, memory, &f->key, &entry, why, sizeof why));
    file_faults_set(NULL);
    assert_non_null(strstr(why, strerror(ENOSPC)));
    snprintf(command, sizeof command, "ls '%s' | grep -q '[.]'", f->dir);
    assert_int_not_equal(system(command), 0);
    assert_int_equal(atomic_load(&f->store.failed_writes), n);
  }
}

static void every_read_may_fail(void **state) {
  struct fixture *f = *state;
  char why[1024];
  assert_true(fill(f));
  for (size_t e = 0; e < sizeof errors / sizeof *errors; e++) {
    struct file_fault fault = {FILE_ANY, 1, 1, FILE_FAILS, errors[e]};
    for (int reached = 1; reached; fault.first++, fault.last++) {
      const int before = descriptors();
      file_faults_set(&fault);
      const int hit = read_back(&f->store, &f->key, why, sizeof why);
      reached = file_faults_calls(FILE_ANY) >= fault.first;
      file_faults_set(NULL);
      if (!hit && !why[0]) fail_msg("a miss without a reason: call %lu", fault.first);
      assert_true(descriptors() <= before + 1); /* a close that fails in a test closes nothing */
      assert_true(hits(f));
    }
  }
}

static void a_file_that_goes_stale_is_opened_once_more(void **state) {
  struct fixture *f = *state;
  struct file_fault fault = {FILE_read, 1, 1, FILE_FAILS, ESTALE};
  assert_true(fill(f));
  file_faults_set(&fault);
  assert_true(hits(f));
  fault.function = FILE_openat;
  file_faults_set(&fault);
  assert_true(hits(f));
  file_faults_set(NULL);
}

/* In a child; the parent finds an entry that is whole or none, and a lock that is free. */
static void killed_at_every_step(void **state) {
  struct fixture *f = *state;
  static const enum file_effect effects[] = {FILE_KILL, FILE_KILL_AFTER};
  for (int round = 0; round < 4; round++) { /* over nothing, and over an entry that is there */
    struct file_fault fault = {FILE_ANY, 1, 1, effects[round % 2], 0};
    for (int killed = 1; killed; fault.first++, fault.last++) {
      int status = 0;
      char why[1024];
      restart(f);
      if (round >= 2) assert_true(fill(f));
      const pid_t child = fork();
      assert_true(child >= 0);
      if (child == 0) {
        file_faults_set(&fault);
        _exit(!fill(f));
      }
      assert_int_equal(waitpid(child, &status, 0), child);
      killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
      if (!killed) assert_int_equal(status, 0);
      const int hit = read_back(&f->store, &f->key, why, sizeof why);
      if (!hit && why[0]) fail_msg("call %lu leaves a damaged entry: %s", fault.first, why);
      if (!hit && (round >= 2 || !killed)) fail_msg("call %lu leaves no entry", fault.first);
      const time_t start = time(NULL);
      assert_true(fill(f));
      assert_true(time(NULL) - start < 5);
      assert_true(hits(f));
    }
    assert_true(fault.first > 8);
  }
}

/* Without locks, as on a file system that has none, all write, and all is well. */
static void without_locks_everybody_writes(void **state) {
  struct fixture *f = *state;
  const struct file_fault fault = {FILE_flock, 1, ~0ul, FILE_FAILS, ENOLCK};
  pid_t children[8];
  restart(f);
  file_faults_set(&fault);
  for (int i = 0; i < 8; i++) {
    children[i] = fork();
    assert_true(children[i] >= 0);
    if (children[i] == 0) {
      for (int n = 0; n < 50; n++)
        if (!fill(f) || !hits(f)) _exit(1);
      _exit(0);
    }
  }
  for (int i = 0; i < 8; i++) {
    int status = 0;
    assert_int_equal(waitpid(children[i], &status, 0), children[i]);
    assert_int_equal(status, 0);
  }
  file_faults_set(NULL);
  assert_true(hits(f));
}

int main(void) {
#define EACH(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
  const struct CMUnitTest tests[] = {
      EACH(every_call_may_fail_with_any_error),
      EACH(every_call_may_fail_for_good),
      EACH(short_writes_and_reads_are_continued),
      EACH(interrupted_calls_are_repeated),
      EACH(a_full_disk_leaves_nothing),
      EACH(every_read_may_fail),
      EACH(a_file_that_goes_stale_is_opened_once_more),
      EACH(killed_at_every_step),
      EACH(without_locks_everybody_writes),
  };
#undef EACH
  return cmocka_run_group_tests(tests, NULL, NULL);
}
