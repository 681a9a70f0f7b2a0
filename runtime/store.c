/* SPDX-License-Identifier: MIT */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store_entry.h"
#include "store_folder.h"
#include "store_trim.h"

#define LOCK_WAIT_MS 20000
#define NAME_TRIES   8

static void name_of(const struct mxq_entry_key *key, char name[MXQ_STORE_NAME_SIZE]) {
  uint64_t hash[2];
  mxq_entry_key_hash(key, hash);
  snprintf(name, MXQ_STORE_NAME_SIZE, "%016llx%016llx.mxq", (unsigned long long)hash[1],
           (unsigned long long)hash[0]);
}

static int read_from(const char *dir, const struct mxq_allocator *allocator,
                     const struct mxq_entry_key *key, const char *name,
                     struct mxq_store_entry *entry, char *why, size_t why_size) {
  const char *wrong = NULL;
  const int folder = mxq_store_folder_open(dir, MXQ_FOLDER_READ, why, why_size);
  if (folder < 0) return 0;
  const int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0 && errno != ENOENT) wrong = strerror(errno);
  if (file >= 0) wrong = mxq_entry_read(file, allocator, key, entry);
  if (wrong) snprintf(why, why_size, "%s/%s: %s", dir, name, wrong);
  const int hit = file >= 0 && !wrong;
  if (hit) mxq_store_touch(file);
  if (file >= 0) close(file);
  close(folder);
  return hit;
}

static int create_temporary(int folder, const char *name, char *temporary, size_t size) {
  for (int i = 0; i < NAME_TRIES; ++i) {
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
      number = (uint64_t)getpid() << 32 ^ (uint64_t)clock() ^ (uint64_t)i;
    snprintf(temporary, size, "%s.%016llx.tmp", name, (unsigned long long)number);
    const int file =
        openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

/* 0, or the number of the error. */
static int publish(int folder, const char *name, const struct mxq_entry_key *key,
                   const struct mxq_store_entry *entry) {
  char temporary[MXQ_STORE_NAME_SIZE + 32];
  const int file = create_temporary(folder, name, temporary, sizeof temporary);
  if (file < 0) return errno;
  int wrong = mxq_entry_write(file, key, entry);
  if (close(file) != 0 && !wrong) wrong = errno;
  if (!wrong && renameat(folder, temporary, folder, name) != 0) wrong = errno;
  if (wrong) unlinkat(folder, temporary, 0);
  return wrong;
}

/* Measuring a large folder takes longer than writing an entry: a quarter of what was free is
 * written before the next time, which leaves room for other processes. */
static void keep_small(struct mxq_store *store, const struct mxq_allocator *allocator, int folder,
                       uint64_t written) {
  uint64_t room = atomic_load(&store->room);
  while (room >= written)
    if (atomic_compare_exchange_weak(&store->room, &room, room - written)) return;
  const uint64_t left = mxq_store_trim(folder, allocator, store->size_bytes);
  atomic_store(&store->room, left < store->size_bytes ? (store->size_bytes - left) / 4 : 0);
}

static int write_to(struct mxq_store *store, const struct mxq_allocator *allocator, const char *dir,
                    const char *name, const struct mxq_entry_key *key,
                    const struct mxq_store_entry *entry, char *why, size_t why_size) {
  const int folder = mxq_store_folder_open(dir, MXQ_FOLDER_WRITE, why, why_size);
  if (folder < 0) return 0;
  const int wrong = publish(folder, name, key, entry);
  if (!wrong) keep_small(store, allocator, folder, mxq_entry_bytes(entry));
  close(folder);
  if (wrong) snprintf(why, why_size, "%s/%s: %s", dir, name, strerror(wrong));
  return !wrong;
}

/* ---- Locking ------------------------------------------------------------------------------- */

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
 * meanwhile. */
static int wait_for_lock(int folder, const char *name, const char *lock_name) {
  const uint64_t before = entry_number(folder, name);
  const int64_t end = now_ms() + LOCK_WAIT_MS;
  struct timespec pause = {0, 1000000};
  const int lock = openat(folder, lock_name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0) return -1;
  while (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || now_ms() > end ||
        entry_number(folder, name) != before) {
      close(lock);
      return -1;
    }
    nanosleep(&pause, NULL);
    if (pause.tv_nsec < 16000000) pause.tv_nsec *= 2;
  }
  return lock;
}

/* ---- Public -------------------------------------------------------------------------------- */

void mxq_store_name(const struct mxq_store_key *key, char name[MXQ_STORE_NAME_SIZE]) {
  struct mxq_entry_key entry_key;
  mxq_entry_key_make(key, &entry_key);
  name_of(&entry_key, name);
}

int mxq_store_read(const struct mxq_store *store, const struct mxq_allocator *allocator,
                   const struct mxq_store_key *key, struct mxq_store_entry *entry, char *why,
                   size_t why_size) {
  char name[MXQ_STORE_NAME_SIZE], wrong[1024];
  struct mxq_entry_key entry_key;
  mxq_entry_key_make(key, &entry_key);
  name_of(&entry_key, name);
  why[0] = 0;
  for (unsigned i = 0; i < store->dir_count; ++i) {
    wrong[0] = 0;
    if (read_from(store->dirs[i], allocator, &entry_key, name, entry, wrong, sizeof wrong))
      return 1;
    if (wrong[0] && !why[0]) snprintf(why, why_size, "%s", wrong);
  }
  return 0;
}

int mxq_store_write(struct mxq_store *store, const struct mxq_allocator *allocator,
                    const struct mxq_store_key *key, const struct mxq_store_entry *entry, char *why,
                    size_t why_size) {
  char name[MXQ_STORE_NAME_SIZE], wrong[1024] = "";
  struct mxq_entry_key entry_key;
  mxq_entry_key_make(key, &entry_key);
  name_of(&entry_key, name);
  why[0] = 0;
  for (unsigned i = 0; i < store->dir_count; ++i) {
    if (write_to(store, allocator, store->dirs[i], name, &entry_key, entry, wrong, sizeof wrong))
      return why[0] = 0, 1;
    if (!why[0]) snprintf(why, why_size, "%s", wrong);
  }
  return store->dir_count == 0;
}

int mxq_store_lock(const struct mxq_store *store, const struct mxq_store_key *key) {
  char name[MXQ_STORE_NAME_SIZE], lock_name[16], why[1024];
  mxq_store_name(key, name);
  snprintf(lock_name, sizeof lock_name, "lock-%.2s", name);
  for (unsigned i = 0; i < store->dir_count; ++i) {
    const int folder = mxq_store_folder_open(store->dirs[i], MXQ_FOLDER_WRITE, why, sizeof why);
    if (folder < 0) continue;
    const int writable = faccessat(folder, ".", W_OK, AT_EACCESS) == 0;
    const int lock = writable ? wait_for_lock(folder, name, lock_name) : -1;
    close(folder);
    if (writable) return lock;
  }
  return -1;
}

void mxq_store_unlock(int lock) {
  if (lock < 0) return;
  flock(lock, LOCK_UN); /* a forked child may hold the same open file */
  close(lock);
}
