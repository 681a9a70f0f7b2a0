/* SPDX-License-Identifier: MIT */
#include "store_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quote.h"

/* ---- Opening one --------------------------------------------------------------------------- */

static int make_with_parents(const char *path) {
  char part[PATH_MAX];
  const size_t length = strlen(path);
  if (length >= sizeof part) return errno = ENAMETOOLONG, -1;
  memcpy(part, path, length + 1);
  for (size_t i = 1; i <= length; ++i) {
    if (part[i] != '/' && part[i] != 0) continue;
    const char end = part[i];
    part[i] = 0;
    if (mkdir(part, 0700) != 0 && errno != EEXIST && end == 0) return -1;
    part[i] = end;
  }
  return 0;
}

int mxq_store_folder_open(const char *path, enum mxq_folder_use use, char *why, size_t why_size) {
  const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  struct stat status;
  why[0] = 0;
  int folder = open(path, flags);
  if (folder < 0 && errno == ENOENT && use == MXQ_FOLDER_WRITE && make_with_parents(path) == 0)
    folder = open(path, flags);
  if (folder < 0) {
    if (use == MXQ_FOLDER_WRITE || errno != ENOENT)
      snprintf(why, why_size, "%s: %s", path, strerror(errno));
    return -1;
  }
  const uid_t user = geteuid();
  if (fstat(folder, &status) != 0)
    snprintf(why, why_size, "%s: %s", path, strerror(errno));
  else if (status.st_uid != user && (use == MXQ_FOLDER_WRITE || status.st_uid != 0))
    snprintf(why, why_size, "%s belongs to user %lu, not to %lu: not used", path,
             (unsigned long)status.st_uid, (unsigned long)user);
  else if (status.st_mode & (S_IWGRP | S_IWOTH))
    snprintf(why, why_size, "others may write %s (mode %03o): not used; chmod 700 it", path,
             (unsigned)(status.st_mode & 0777u));
  if (!why[0]) return folder;
  close(folder);
  return -1;
}

int mxq_store_folder_written(const struct mxq_store *store, const char **dir, char *why,
                             size_t why_size) {
  char wrong[1024];
  why[0] = 0;
  for (unsigned i = 0; i < store->dir_count; ++i) {
    const int folder = mxq_store_folder_open(store->dirs[i], MXQ_FOLDER_WRITE, wrong, sizeof wrong);
    if (folder >= 0 && faccessat(folder, ".", W_OK, AT_EACCESS) == 0) {
      *dir = store->dirs[i];
      return folder;
    }
    if (folder >= 0) snprintf(wrong, sizeof wrong, "%s: %s", store->dirs[i], strerror(errno));
    if (folder >= 0) close(folder);
    if (!why[0]) snprintf(why, why_size, "%s", wrong);
  }
  return -1;
}

/* ---- Choosing them ------------------------------------------------------------------------- */

static enum mxq_status add(const struct mxq_allocator *allocator, struct mxq_store *store,
                           const char *path, size_t length, const char *below) {
  char folder[2 * PATH_MAX], working[PATH_MAX] = "";
  const char *separator = "";
  MXQ_FAIL_IF(store->dir_count == MXQ_STORE_DIRS, MXQ_INVALID_ARGUMENT,
              "%s names more than %d cache folders", store->source, MXQ_STORE_DIRS);
  if (path[0] != '/') { /* stays what it means now when the program changes its folder */
    MXQ_FAIL_IF(!getcwd(working, sizeof working), MXQ_IO_ERROR,
                "the cache folder %s of %s is relative, and the working folder is unknown: %s",
                mxq_quote_bytes(path, length).text, store->source, strerror(errno));
    separator = "/";
  }
  const int size =
      snprintf(folder, sizeof folder, "%s%s%.*s%s", working, separator, (int)length, path, below);
  MXQ_FAIL_IF(size >= PATH_MAX, MXQ_INVALID_ARGUMENT, "the cache folder %s of %s is too long",
              mxq_quote_bytes(path, length).text, store->source);
  char *copy = mxq_copy_string(allocator, folder);
  MXQ_FAIL_IF(!copy, MXQ_OUT_OF_MEMORY, "no memory for the cache folders");
  store->dirs[store->dir_count++] = copy;
  return MXQ_OK;
}

static enum mxq_status add_list(const struct mxq_allocator *allocator, struct mxq_store *store,
                                const char *list) {
  for (const char *at = list; *at; at += *at == ':') {
    const size_t length = strcspn(at, ":");
    if (length) MXQ_TRY(add(allocator, store, at, length, ""));
    at += length;
  }
  return MXQ_OK;
}

static enum mxq_status add_password_entry(const struct mxq_allocator *allocator,
                                          struct mxq_store *store) {
  char text[4096];
  struct passwd entry, *found = NULL;
  if (getpwuid_r(geteuid(), &entry, text, sizeof text, &found) != 0 || !found) return MXQ_OK;
  if (!entry.pw_dir || entry.pw_dir[0] != '/') return MXQ_OK;
  store->source = "the password entry's home";
  return add(allocator, store, entry.pw_dir, strlen(entry.pw_dir), "/.cache/mxq");
}

/* A process of root may have got somebody else's HOME: its files are not ours to add to. */
static int is_of_another(const char *home) {
  struct stat status;
  return stat(home, &status) == 0 && status.st_uid != geteuid() && status.st_uid != 0;
}

static enum mxq_status choose(const struct mxq_allocator *allocator, const char *dirs,
                              struct mxq_store *store) {
  const struct {
    const char *source;
    const char *value;
    const char *below; /* NULL: a list, used as it is */
  } rows[] = {
      {"the configuration", dirs, NULL},
      {"MXQ_CACHE_DIR", getenv("MXQ_CACHE_DIR"), NULL},
      {"XDG_CACHE_HOME", getenv("XDG_CACHE_HOME"), "/mxq"},
      {"HOME", getenv("HOME"), "/.cache/mxq"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    if (!rows[i].value || !rows[i].value[0]) continue;
    if (rows[i].below && rows[i].value[0] != '/') continue; /* as the XDG rules ask */
    if (rows[i].below && is_of_another(rows[i].value)) continue;
    store->source = rows[i].source;
    return rows[i].below
               ? add(allocator, store, rows[i].value, strlen(rows[i].value), rows[i].below)
               : add_list(allocator, store, rows[i].value);
  }
  return add_password_entry(allocator, store);
}

enum mxq_status mxq_store_init(const struct mxq_allocator *allocator, const char *dirs,
                               uint64_t size_bytes, struct mxq_store *store) {
  memset(store, 0, sizeof *store);
  store->source = "nothing";
  store->size_bytes = size_bytes;
  const enum mxq_status status = choose(allocator, dirs, store);
  if (status != MXQ_OK) mxq_store_free(allocator, store);
  return status;
}

void mxq_store_free(const struct mxq_allocator *allocator, struct mxq_store *store) {
  for (unsigned i = 0; i < store->dir_count; ++i) mxq_free(allocator, store->dirs[i]);
  store->dir_count = 0;
}
