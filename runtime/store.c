/* SPDX-License-Identifier: MIT */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store_entry.h"
#include "store_folder.h"
#include "store_trim.h"

#define NAME_TRIES 8

/* `is_written`: whether uses of entries are noted here. */
static int read_in(int folder, int is_written, const struct mxq_allocator *allocator,
                   const struct mxq_entry_key *key, const char *name, struct mxq_store_entry *entry,
                   const char **wrong) {
  const int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  int error = errno;
  *wrong = NULL;
  if (file < 0 && error != ENOENT) *wrong = strerror(error);
  if (file >= 0) {
    errno = 0;
    *wrong = mxq_entry_read(file, allocator, key, entry);
    error = errno;
    if (!*wrong && is_written) mxq_store_touch(file);
    close(file);
  }
  errno = error;
  return file >= 0 && !*wrong;
}

/* `*written` becomes 1 at the folder that is written; those behind it are only read. */
static int read_from(const char *dir, int *written, const struct mxq_allocator *allocator,
                     const struct mxq_entry_key *key, const char *name,
                     struct mxq_store_entry *entry, char *why, size_t why_size) {
  const char *wrong = NULL;
  const int folder = mxq_store_folder_open(dir, MXQ_FOLDER_READ, why, why_size);
  if (folder < 0) {
    *written |= !why[0]; /* not there yet */
    return 0;
  }
  const int is_written = !*written && faccessat(folder, ".", W_OK, AT_EACCESS) == 0;
  *written |= is_written;
  int hit = read_in(folder, is_written, allocator, key, name, entry, &wrong);
  if (wrong && errno == ESTALE) /* another node replaced it meanwhile: the new one is there */
    hit = read_in(folder, is_written, allocator, key, name, entry, &wrong);
  if (wrong) snprintf(why, why_size, "%s/%s: %s", dir, name, wrong);
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

/* ---- Public -------------------------------------------------------------------------------- */

void mxq_store_name(const struct mxq_store_key *key, char name[MXQ_STORE_NAME_SIZE]) {
  struct mxq_entry_key entry_key;
  mxq_entry_key_make(key, &entry_key);
  mxq_entry_key_name(&entry_key, name);
}

int mxq_store_read(const struct mxq_store *store, const struct mxq_allocator *allocator,
                   const struct mxq_store_key *key, struct mxq_store_entry *entry, char *why,
                   size_t why_size) {
  char name[MXQ_STORE_NAME_SIZE], wrong[1024];
  struct mxq_entry_key entry_key;
  int written = 0;
  mxq_entry_key_make(key, &entry_key);
  mxq_entry_key_name(&entry_key, name);
  why[0] = 0;
  for (unsigned i = 0; i < store->dir_count; ++i) {
    wrong[0] = 0;
    if (read_from(store->dirs[i], &written, allocator, &entry_key, name, entry, wrong,
                  sizeof wrong))
      return 1;
    if (wrong[0] && !why[0]) snprintf(why, why_size, "%s", wrong);
  }
  return 0;
}

int mxq_store_write(struct mxq_store *store, const struct mxq_allocator *allocator,
                    const struct mxq_store_key *key, const struct mxq_store_entry *entry, char *why,
                    size_t why_size) {
  char name[MXQ_STORE_NAME_SIZE];
  const char *dir = NULL;
  struct mxq_entry_key entry_key;
  mxq_entry_key_make(key, &entry_key);
  mxq_entry_key_name(&entry_key, name);
  const int folder = mxq_store_folder_written(store, &dir, why, why_size);
  if (folder >= 0) {
    const int wrong = publish(folder, name, &entry_key, entry);
    if (!wrong) keep_small(store, allocator, folder, mxq_entry_bytes(entry));
    close(folder);
    why[0] = 0;
    if (wrong) snprintf(why, why_size, "%s/%s: %s", dir, name, strerror(wrong));
  }
  if (why[0]) atomic_fetch_add(&store->failed_writes, 1);
  return !why[0];
}
