/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store.h"
#include "store_folder.h"

#define LOCK_WAIT_MS   20000
#define FIRST_PAUSE_MS 128 /* a compile takes 100 to 600 ms (bench/results) */
#define LATER_PAUSE_MS 192

static int64_t now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Which file the entry is: changes when somebody publishes. */
static uint64_t entry_number(int folder, const char *name) {
  struct stat status;
  return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)status.st_ino : 0;
}

/* The lock's descriptor; -1 when it could not be had in time or the entry was published
 * meanwhile, which the holder of a lock for another key does not wait for. Hundreds of processes
 * may wait: each looks rarely. */
static int wait_for_lock(int folder, const char *name, const char *lock_name) {
  const uint64_t before = entry_number(folder, name);
  const int64_t end = now_ms() + LOCK_WAIT_MS;
  struct timespec pause = {0, FIRST_PAUSE_MS * 1000000};
  const int lock = openat(folder, lock_name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0) return -1;
  for (unsigned looks = 1; flock(lock, LOCK_EX | LOCK_NB) != 0; ++looks) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || now_ms() > end ||
        (looks % 2 == 0 && entry_number(folder, name) != before)) {
      close(lock);
      return -1;
    }
    nanosleep(&pause, NULL);
    pause.tv_nsec = LATER_PAUSE_MS * 1000000;
  }
  return lock;
}

int mxq_store_lock(const struct mxq_store *store, const struct mxq_store_key *key) {
  char name[MXQ_STORE_NAME_SIZE], lock_name[16], why[1024];
  const char *dir = NULL;
  mxq_store_name(key, name);
  snprintf(lock_name, sizeof lock_name, "lock-%.2s", name);
  const int folder = mxq_store_folder_written(store, &dir, why, sizeof why);
  const int lock = folder < 0 ? -1 : wait_for_lock(folder, name, lock_name);
  if (folder >= 0) close(folder);
  return lock;
}

void mxq_store_unlock(int lock) {
  if (lock < 0) return;
  flock(lock, LOCK_UN); /* a forked child may hold the same open file */
  close(lock);
}
