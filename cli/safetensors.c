/* SPDX-License-Identifier: MIT */
#include "safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "safetensors_parse.h"
#include "safetensors_scan.h"
#include "status.h"

static enum mxq_status header_length(const char *path, const unsigned char *bytes, uint64_t size,
                                     uint64_t *length) {
  MXQ_FAIL_IF(size < 8, MXQ_IO_ERROR,
              "%s: %" PRIu64
              " bytes are too few for a safetensors file, which begins with the "
              "eight bytes of its header's length",
              path, size);
  uint64_t value = 0;
  for (unsigned i = 0; i < 8; i++) value |= (uint64_t)bytes[i] << 8 * i;
  MXQ_FAIL_IF(value > SAFETENSORS_HEADER_MAX, MXQ_IO_ERROR,
              "%s: the header claims %" PRIu64
              " bytes; up to %u are allowed. This is not a "
              "safetensors file",
              path, value, SAFETENSORS_HEADER_MAX);
  MXQ_FAIL_IF(value > size - 8, MXQ_IO_ERROR,
              "%s: truncated: the header claims %" PRIu64 " bytes, the file has %" PRIu64
              " after its first eight",
              path, value, size - 8);
  MXQ_FAIL_IF(value == 0 || bytes[8] != '{', MXQ_IO_ERROR,
              "%s: the header is not a JSON object that begins with {", path);
  *length = value;
  return MXQ_OK;
}

static enum mxq_status map_file(struct safetensors *file, const char *path) {
  struct stat facts;
  file->descriptor = open(path, O_RDONLY | O_CLOEXEC);
  MXQ_FAIL_IF(file->descriptor < 0 || fstat(file->descriptor, &facts), MXQ_IO_ERROR, "%s: %s", path,
              strerror(errno));
  MXQ_FAIL_IF(!S_ISREG(facts.st_mode), MXQ_IO_ERROR,
              "%s: not a regular file. A .safetensors file or an index (*.index.json) is", path);
  const uint64_t size = (uint64_t)facts.st_size;
  MXQ_FAIL_IF(size > SIZE_MAX, MXQ_IO_ERROR, "%s: too large for this machine", path);
  if (size == 0) return MXQ_OK;
  void *map = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file->descriptor, 0);
  MXQ_FAIL_IF(map == MAP_FAILED, MXQ_IO_ERROR, "%s: %s", path, strerror(errno));
  file->map = map;
  file->map_bytes = (size_t)size;
  madvise(map, file->map_bytes, MADV_SEQUENTIAL);
  return MXQ_OK;
}

static enum mxq_status read_into(struct safetensors *file, const char *path,
                                 const unsigned char *bytes, uint64_t size) {
  uint64_t length = 0;
  MXQ_TRY(header_length(path, bytes, size, &length));
  /* A zero-terminated copy: the parser wants one. */
  char *header = text_allocate((size_t)length + 1, 1);
  memcpy(header, bytes + 8, (size_t)length);
  file->path = text_format("%s", path);
  enum mxq_status status = safetensors_scan(path, header, (size_t)length);
  if (status == MXQ_OK)
    status = safetensors_parse(file, header, (size_t)length, bytes + 8 + length, size - 8 - length);
  free(header);
  return status;
}

enum mxq_status safetensors_open(const char *path, struct safetensors **file) {
  struct safetensors *opened = text_allocate(1, sizeof *opened);
  opened->descriptor = -1;
  enum mxq_status status = map_file(opened, path);
  if (status == MXQ_OK) status = read_into(opened, path, opened->map, opened->map_bytes);
  if (status != MXQ_OK)
    safetensors_close(opened);
  else
    *file = opened;
  return status;
}

void safetensors_close(struct safetensors *file) {
  if (!file) return;
  for (size_t i = 0; i < file->count; i++) {
    free(file->tensors[i].name);
    free(file->tensors[i].dtype);
    free(file->tensors[i].dims);
  }
  for (size_t i = 0; i < file->metadata_count; i++) {
    free(file->metadata[i].key);
    free(file->metadata[i].value);
  }
  free(file->tensors);
  free(file->metadata);
  free(file->path);
  if (file->map) munmap(file->map, file->map_bytes);
  if (file->descriptor >= 0) close(file->descriptor);
  free(file);
}

enum mxq_status safetensors_read(const char *path, const unsigned char *bytes, uint64_t size,
                                 struct safetensors **file) {
  struct safetensors *opened = text_allocate(1, sizeof *opened);
  opened->descriptor = -1;
  const enum mxq_status status = read_into(opened, path, bytes, size);
  if (status != MXQ_OK)
    safetensors_close(opened);
  else
    *file = opened;
  return status;
}
