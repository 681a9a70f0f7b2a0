/* SPDX-License-Identifier: MIT */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "status.h"
#include "text.h"

#define NAMES_TRIED 100
#define WRITE_MOST  (64u << 20)

struct output_file {
  char *path;      /* what it will be called */
  char *temporary; /* what it is called now */
  int descriptor;
  int exists; /* under the temporary name */
  struct output_file *next;
};

/* Files to be removed when the program ends. Changed with signals blocked; read by the handler. */
static struct output_file *volatile unpublished;

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGBUS};
#define ENDING_SIGNALS (sizeof ending_signals / sizeof *ending_signals)

static void remove_all(void) {
  for (struct output_file *file = unpublished; file; file = file->next)
    if (file->exists) unlink(file->temporary);
}

/* SIGBUS: a mapped input was cut short, or its disk failed. */
static void end_by_signal(int number) {
  static const char cut[] = "mxq: an input file changed or failed while it was read\n";
  remove_all();
  if (number == SIGBUS && write(STDERR_FILENO, cut, sizeof cut - 1) > 0) _exit(1);
  signal(number, SIG_DFL);
  raise(number);
}

static void block_signals(sigset_t *before) {
  sigset_t blocked;
  sigemptyset(&blocked);
  for (size_t i = 0; i < ENDING_SIGNALS; i++) sigaddset(&blocked, ending_signals[i]);
  sigprocmask(SIG_BLOCK, &blocked, before);
}

static void install_once(void) {
  static int installed;
  struct sigaction before, action = {.sa_handler = end_by_signal};
  if (installed) return;
  installed = 1;
  atexit(remove_all);
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < ENDING_SIGNALS; i++) {
    sigaction(ending_signals[i], NULL, &before);
    if (before.sa_handler != SIG_IGN) sigaction(ending_signals[i], &action, NULL);
  }
}

static void list_remove(struct output_file *file) {
  sigset_t before;
  block_signals(&before);
  if (unpublished == file) unpublished = file->next;
  for (struct output_file *at = unpublished; at; at = at->next)
    if (at->next == file) at->next = file->next;
  sigprocmask(SIG_SETMASK, &before, NULL);
}

static enum mxq_status open_temporary(struct output_file *file) {
  sigset_t before;
  for (unsigned i = 0; i < NAMES_TRIED && file->descriptor < 0; i++) {
    free(file->temporary);
    file->temporary = text_format("%s.%ld-%u.tmp", file->path, (long)getpid(), i);
    block_signals(&before);
    file->descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    file->exists = file->descriptor >= 0;
    if (file->exists) {
      file->next = unpublished;
      unpublished = file;
    }
    const int reason = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    MXQ_FAIL_IF(!file->exists && reason != EEXIST, MXQ_IO_ERROR, "cannot create %s: %s",
                file->temporary, strerror(reason));
  }
  MXQ_FAIL_IF(!file->exists, MXQ_IO_ERROR, "cannot create %s: %s", file->temporary,
              strerror(EEXIST));
  return MXQ_OK;
}

static enum mxq_status reserve(const struct output_file *file, uint64_t size) {
  MXQ_FAIL_IF(size > INT64_MAX, MXQ_IO_ERROR, "%s: would be larger than files can be", file->path);
  if (size == 0 || fallocate(file->descriptor, 0, 0, (off_t)size) == 0) return MXQ_OK;
  MXQ_FAIL_IF(errno == ENOSPC || errno == EFBIG || errno == EDQUOT, MXQ_IO_ERROR,
              "%s: no room for %llu bytes: %s", file->path, (unsigned long long)size,
              strerror(errno));
  return MXQ_OK;
}

static enum mxq_status resolve(const char *path, char **resolved) {
  struct stat facts;
  MXQ_FAIL_IF(!*path, MXQ_INVALID_ARGUMENT, "the output file has an empty name");
  if (stat(path, &facts)) {
    *resolved = text_format("%s", path);
    return MXQ_OK;
  }
  MXQ_FAIL_IF(!S_ISREG(facts.st_mode), MXQ_INVALID_ARGUMENT,
              "%s exists and is not a regular file; name a file to be written", path);
  char *real = realpath(path, NULL);
  MXQ_FAIL_IF(!real, MXQ_IO_ERROR, "%s: %s", path, strerror(errno));
  *resolved = real;
  return MXQ_OK;
}

/* The new name survives a crash only when its folder was written too. */
static void sync_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash ? text_format("%.*s", (int)(slash - path) + 1, path) : text_format(".");
  const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    fsync(descriptor);
    close(descriptor);
  }
  free(folder);
}

enum mxq_status output_file_create(const char *path, uint64_t size, struct output_file **file) {
  char *resolved = NULL;
  MXQ_TRY(resolve(path, &resolved));
  struct output_file *created = text_allocate(1, sizeof *created);
  created->path = resolved;
  created->descriptor = -1;
  install_once();
  enum mxq_status status = open_temporary(created);
  if (status == MXQ_OK) status = reserve(created, size);
  if (status != MXQ_OK)
    output_file_destroy(created);
  else
    *file = created;
  return status;
}

enum mxq_status output_file_write(struct output_file *file, const void *bytes, uint64_t size) {
  const unsigned char *at = bytes;
  while (size > 0) {
    const ssize_t written = write(file->descriptor, at, size < WRITE_MOST ? size : WRITE_MOST);
    if (written < 0 && errno == EINTR) continue;
    MXQ_FAIL_IF(written < 0, MXQ_IO_ERROR, "%s: %s", file->temporary, strerror(errno));
    at += written;
    size -= (uint64_t)written;
  }
  return MXQ_OK;
}

enum mxq_status output_file_finish(struct output_file *file) {
  const int descriptor = file->descriptor;
  /* Some file systems cannot sync; all others say what failed. */
  const int failed = fsync(descriptor) != 0 && errno != EINVAL && errno != ENOTSUP;
  const int reason = errno;
  file->descriptor = -1;
  MXQ_FAIL_IF(close(descriptor) && !failed, MXQ_IO_ERROR, "%s: %s", file->temporary,
              strerror(errno));
  MXQ_FAIL_IF(failed, MXQ_IO_ERROR, "%s: %s", file->temporary, strerror(reason));
  return MXQ_OK;
}

enum mxq_status output_file_publish(struct output_file *file) {
  MXQ_FAIL_IF(rename(file->temporary, file->path), MXQ_IO_ERROR, "cannot rename %s to %s: %s",
              file->temporary, file->path, strerror(errno));
  file->exists = 0;
  sync_folder(file->path);
  return MXQ_OK;
}

void output_file_destroy(struct output_file *file) {
  if (!file) return;
  if (file->descriptor >= 0) close(file->descriptor);
  if (file->exists) unlink(file->temporary);
  list_remove(file);
  free(file->temporary);
  free(file->path);
  free(file);
}

enum mxq_status output_file_write_whole(const char *path, const void *bytes, uint64_t size) {
  struct output_file *file = NULL;
  MXQ_TRY(output_file_create(path, size, &file));
  enum mxq_status status = output_file_write(file, bytes, size);
  if (status == MXQ_OK) status = output_file_finish(file);
  if (status == MXQ_OK) status = output_file_publish(file);
  output_file_destroy(file);
  return status;
}
