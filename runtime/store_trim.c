/* SPDX-License-Identifier: MIT */
#include "store_trim.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store_list.h"

#define TOUCH_SECONDS     60
#define ABANDONED_SECONDS 3600

struct found {
  char name[MXQ_STORE_NAME_SIZE];
  struct timespec used;
  uint64_t bytes;
};

struct list {
  const struct mxq_allocator *allocator;
  struct found *items;
  size_t count, room;
  uint64_t bytes;
};

static struct timespec later(struct timespec a, struct timespec b) {
  return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec) ? a : b;
}

static int older(const void *a, const void *b) {
  const struct found *left = a, *right = b;
  if (left->used.tv_sec != right->used.tv_sec)
    return left->used.tv_sec < right->used.tv_sec ? -1 : 1;
  if (left->used.tv_nsec != right->used.tv_nsec)
    return left->used.tv_nsec < right->used.tv_nsec ? -1 : 1;
  return strcmp(left->name, right->name);
}

static void add(struct list *list, const char *name, const struct stat *status) {
  if (list->count == list->room) {
    const size_t room = list->room ? 2 * list->room : 256;
    struct found *items = mxq_resize(list->allocator, list->items, room * sizeof *items);
    if (!items) return;
    list->items = items;
    list->room = room;
  }
  struct found *item = &list->items[list->count++];
  strcpy(item->name, name);
  item->used = later(status->st_mtim, status->st_atim);
  item->bytes = (uint64_t)status->st_size;
  list->bytes += item->bytes;
}

static void look_at(struct list *list, int folder, const char *name) {
  struct stat status;
  const int is_entry = mxq_store_is_entry(name);
  if (!is_entry && !mxq_store_is_temporary(name)) return;
  if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) return;
  if (is_entry)
    add(list, name, &status);
  else if (status.st_mtime < time(NULL) - ABANDONED_SECONDS)
    unlinkat(folder, name, 0);
}

void mxq_store_touch(int file) {
  struct stat status;
  if (fstat(file, &status) == 0 && status.st_mtime < time(NULL) - TOUCH_SECONDS)
    (void)futimens(file, NULL); /* fails in a read-only folder, which is never trimmed either */
}

uint64_t mxq_store_trim(int folder, const struct mxq_allocator *allocator, uint64_t limit) {
  struct list list = {.allocator = allocator};
  const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = own < 0 ? NULL : fdopendir(own);
  if (!entries) {
    if (own >= 0) close(own);
    return limit;
  }
  for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
    look_at(&list, folder, entry->d_name);
  closedir(entries);
  if (list.bytes > limit) qsort(list.items, list.count, sizeof *list.items, older);
  for (size_t i = 0; i < list.count && list.bytes > limit; ++i)
    if (unlinkat(folder, list.items[i].name, 0) == 0) list.bytes -= list.items[i].bytes;
  mxq_free(allocator, list.items);
  return list.bytes;
}
