/* SPDX-License-Identifier: MIT */
#include "kernel_set.h"

#include <mxq/mxq.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(sizeof(struct mxq_set_header) == 80, "no padding in what is stored");
_Static_assert(sizeof(struct mxq_set_row) == sizeof(struct mxq_kernel_id) + 56,
               "no padding in what is stored");

#define KEY_BYTES (sizeof(struct mxq_kernel_id) + 8)

uint64_t mxq_set_geometry_hash(const struct mxq_kernel_id *id) {
  struct mxq_geometry geometry;
  memset(&geometry, 0, sizeof geometry);
  mxq_geometry_of(id, &geometry);
  return XXH3_64bits(&geometry, sizeof geometry);
}

void mxq_set_checksum(const struct mxq_set_header *header, const struct mxq_set_row *rows,
                      uint64_t checksum[2]) {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, header, offsetof(struct mxq_set_header, checksum));
  XXH3_128bits_update(&state, rows, header->row_count * sizeof *rows);
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  checksum[0] = hash.low64;
  checksum[1] = hash.high64;
}

int mxq_set_compare(const struct mxq_set_row *a, const struct mxq_set_row *b) {
  return memcmp(a, b, KEY_BYTES); /* kernel and arch come first */
}

const struct mxq_set_row *mxq_set_find(const struct mxq_set_row *rows, size_t count,
                                       const struct mxq_kernel_id *id,
                                       const struct mxq_arch *arch) {
  struct mxq_set_row wanted = {.kernel = *id};
  strncpy(wanted.arch, arch->name, sizeof wanted.arch - 1);
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = mxq_set_compare(&rows[middle], &wanted);
    if (order == 0) return &rows[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

static const char *check_rows(const struct mxq_set_header *header, const struct mxq_set_row *rows) {
  const uint64_t begin = header->header_bytes + (uint64_t)header->row_count * sizeof *rows;
  for (size_t i = 0; i < header->row_count; ++i) {
    if (i && mxq_set_compare(&rows[i - 1], &rows[i]) >= 0) return "its rows are not in order";
    if (rows[i].offset < begin || rows[i].offset % MXQ_SET_ALIGNMENT || rows[i].size == 0 ||
        rows[i].offset > header->blob_bytes || rows[i].size > header->blob_bytes - rows[i].offset)
      return "a cubin lies outside of it";
  }
  return NULL;
}

const char *mxq_set_check(const unsigned char *blob, uint64_t bytes) {
  const struct mxq_set_header *header = (const void *)blob;
  const struct mxq_set_row *rows = (const void *)(blob + sizeof *header);
  uint64_t checksum[2];
  if ((uintptr_t)blob % _Alignof(struct mxq_set_row)) return "it is not aligned to 8 bytes";
  if (bytes < sizeof *header || memcmp(header->magic, MXQ_SET_MAGIC, sizeof header->magic) != 0)
    return "it does not begin like one";
  if (header->format != MXQ_KERNEL_SET_FORMAT || header->header_bytes != sizeof *header ||
      header->row_bytes != sizeof *rows)
    return "it is of another format";
  if (header->blob_bytes != bytes || header->row_count > (bytes - sizeof *header) / sizeof *rows)
    return "its length is wrong";
  mxq_set_checksum(header, rows, checksum);
  if (memcmp(checksum, header->checksum, sizeof checksum) != 0) return "its checksum is wrong";
  return check_rows(header, rows);
}
