/* SPDX-License-Identifier: MIT */
#include "store_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_folder.h"

#define HASH_DIGITS 32

int mxq_store_is_entry(const char *name) {
  return strspn(name, "0123456789abcdef") == HASH_DIGITS && !strcmp(name + HASH_DIGITS, ".mxq");
}

int mxq_store_is_temporary(const char *name) {
  const size_t length = strlen(name);
  return length > 4 && !strcmp(name + length - 4, ".tmp");
}

/* ---- Names --------------------------------------------------------------------------------- */

struct names {
  char (*items)[MXQ_STORE_NAME_SIZE];
  size_t count, room;
};

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static int add_name(struct names *names, const struct mxq_allocator *allocator, const char *name) {
  if (names->count == names->room) {
    const size_t room = names->room ? 2 * names->room : 256;
    void *items = mxq_resize(allocator, names->items, room * sizeof *names->items);
    if (!items) return errno = ENOMEM, 0;
    names->items = items;
    names->room = room;
  }
  strcpy(names->items[names->count++], name);
  return 1;
}

/* The stream has a descriptor of its own. */
static DIR *open_stream(int folder) {
  const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = own < 0 ? NULL : fdopendir(own);
  if (!stream && own >= 0) close(own);
  return stream;
}

static int read_names(int folder, const struct mxq_allocator *allocator, struct names *names) {
  int good = 1;
  DIR *stream = open_stream(folder);
  if (!stream) return 0;
  for (const struct dirent *entry; good && (entry = readdir(stream)) != NULL;)
    if (mxq_store_is_entry(entry->d_name)) good = add_name(names, allocator, entry->d_name);
  closedir(stream);
  if (names->count) qsort(names->items, names->count, sizeof *names->items, by_name);
  return good;
}

/* ---- Looking ------------------------------------------------------------------------------- */

/* Looking is no use of an entry; only its owner may say so. */
static int open_quietly(int folder, const char *name) {
  const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const int file = openat(folder, name, flags | O_NOATIME);
  return file < 0 && errno == EPERM ? openat(folder, name, flags) : file;
}

/* 0 for an entry that is gone meanwhile. */
static int look_at(int folder, const char *name, const struct mxq_allocator *allocator,
                   struct mxq_store_item *item) {
  struct stat status;
  memset(item, 0, sizeof *item);
  strcpy(item->name, name);
  if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  item->bytes = (uint64_t)status.st_size;
  item->used = status.st_mtim.tv_sec > status.st_atim.tv_sec ? status.st_mtim : status.st_atim;
  const int file = open_quietly(folder, name);
  if (file < 0) {
    item->wrong = errno == ELOOP ? "is no regular file" : strerror(errno);
    return 1;
  }
  item->wrong = mxq_entry_examine(file, allocator, name, &item->facts);
  close(file);
  return 1;
}

int mxq_store_each(const char *dir, const struct mxq_allocator *allocator,
                   void (*visit)(void *user, const struct mxq_store_item *item), void *user,
                   char *why, size_t why_size) {
  struct names names = {.count = 0};
  struct mxq_store_item item;
  const int folder = mxq_store_folder_open(dir, MXQ_FOLDER_READ, why, why_size);
  if (folder < 0) return 0;
  const int good = read_names(folder, allocator, &names);
  if (!good) snprintf(why, why_size, "%s: %s", dir, strerror(errno));
  for (size_t i = 0; good && i < names.count; ++i)
    if (look_at(folder, names.items[i], allocator, &item)) visit(user, &item);
  mxq_free(allocator, names.items);
  close(folder);
  return good;
}

/* ---- Clearing ------------------------------------------------------------------------------ */

static void clear_one(int folder, const char *name, uint64_t *files, uint64_t *bytes, int *wrong) {
  struct stat status;
  if (!mxq_store_is_entry(name) && !mxq_store_is_temporary(name)) return;
  if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (unlinkat(folder, name, 0) != 0) {
    if (errno != ENOENT) *wrong = errno;
    return;
  }
  ++*files;
  *bytes += (uint64_t)status.st_size;
}

/* The folder that is written, if it is there; -1 with an empty `why` if it is not. */
static int open_written(const struct mxq_store *store, const char **dir, char *why,
                        size_t why_size) {
  why[0] = 0;
  for (unsigned i = 0; i < store->dir_count; ++i) {
    *dir = store->dirs[i];
    const int folder = mxq_store_folder_open(*dir, MXQ_FOLDER_READ, why, why_size);
    if (folder < 0 && !why[0]) return -1;
    if (folder >= 0 && faccessat(folder, ".", W_OK, AT_EACCESS) == 0) return folder;
    if (folder >= 0) snprintf(why, why_size, "%s: %s", *dir, strerror(errno));
    if (folder >= 0) close(folder);
  }
  return -1;
}

int mxq_store_clear(const struct mxq_store *store, uint64_t *files, uint64_t *bytes, char *why,
                    size_t why_size) {
  const char *dir = "";
  int wrong = 0;
  *files = *bytes = 0;
  const int folder = open_written(store, &dir, why, why_size);
  if (folder < 0) return !why[0];
  DIR *stream = open_stream(folder);
  if (!stream) wrong = errno;
  for (const struct dirent *entry; stream && (entry = readdir(stream)) != NULL;)
    clear_one(folder, entry->d_name, files, bytes, &wrong);
  if (stream) closedir(stream);
  close(folder);
  why[0] = 0;
  if (wrong) snprintf(why, why_size, "%s: %s", dir, strerror(wrong));
  return !wrong;
}
