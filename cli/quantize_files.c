/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "quantize_task.h"
#include "status.h"
#include "text.h"

static int is_folder(const char *path) {
  struct stat facts;
  const size_t length = strlen(path);
  if (length && path[length - 1] == '/') return 1;
  return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static enum mxq_status make_folder(const char *path) {
  MXQ_FAIL_IF(mkdir(path, 0777) && errno != EEXIST, MXQ_IO_ERROR, "%s: %s", path, strerror(errno));
  return MXQ_OK;
}

static char *in_folder(const char *folder, size_t length, const char *name) {
  const char *slash = length && folder[length - 1] != '/' ? "/" : "";
  return text_format("%.*s%s%s", (int)length, folder, slash, name);
}

/* One file for everything. */
static void place_single(struct quantize *quantize, char *path) {
  quantize->file_count = 1;
  quantize->files = text_allocate(1, sizeof *quantize->files);
  quantize->files[0].path = path;
  quantize->files[0].count = quantize->count;
}

/* A file for each shard, in the folder of the index. */
static void place_shards(struct quantize *quantize, char *index_path) {
  const struct checkpoint *in = quantize->in;
  const size_t folder = (size_t)(base_of(index_path) - index_path);
  size_t first = 0;
  quantize->index_path = index_path;
  quantize->file_count = in->count;
  quantize->files = text_allocate(in->count, sizeof *quantize->files);
  for (size_t i = 0; i < in->count; i++) {
    struct target_file *file = &quantize->files[i];
    file->path = in_folder(index_path, folder, in->names[i]);
    file->first = first;
    file->count = in->shards[i]->count;
    first += file->count;
  }
}

static int is_same(const struct stat *a, const char *path) {
  struct stat b;
  return stat(path, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

static enum mxq_status check_not_input(const struct quantize *quantize, const char *path) {
  struct stat facts;
  const struct checkpoint *in = quantize->in;
  if (stat(path, &facts)) return MXQ_OK;
  MXQ_FAIL_IF(!S_ISREG(facts.st_mode), MXQ_INVALID_ARGUMENT,
              "-o: %s exists and is not a regular file; name a file to be written", path);
  int same = is_same(&facts, in->path);
  for (size_t i = 0; i < in->count; i++) same |= is_same(&facts, in->shards[i]->path);
  MXQ_FAIL_IF(same, MXQ_INVALID_ARGUMENT,
              "-o: %s is a file of the input; name another file or another folder", path);
  return MXQ_OK;
}

enum mxq_status quantize_place(struct quantize *quantize, const char *out) {
  const struct checkpoint *in = quantize->in;
  MXQ_FAIL_IF(!*out, MXQ_INVALID_ARGUMENT, "-o: the output has an empty name");
  MXQ_FAIL_IF(!in->index && checkpoint_is_index(out), MXQ_INVALID_ARGUMENT,
              "-o: %s is the name of an index, but %s is a single file; name a .safetensors file",
              out, in->path);
  const int folder = is_folder(out);
  if (folder) MXQ_TRY(make_folder(out));
  char *path = folder ? in_folder(out, strlen(out), base_of(in->path)) : text_format("%s", out);
  if (in->index && checkpoint_is_index(path))
    place_shards(quantize, path);
  else
    place_single(quantize, path);
  if (quantize->index_path) MXQ_TRY(check_not_input(quantize, quantize->index_path));
  for (size_t i = 0; i < quantize->file_count; i++)
    MXQ_TRY(check_not_input(quantize, quantize->files[i].path));
  return MXQ_OK;
}
