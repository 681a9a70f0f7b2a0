/* SPDX-License-Identifier: MIT */
#include "store_entry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile.h"
#include "expand.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define CUBIN_MAX (64u << 20)

static const char magic[] = "MXQCUBIN";

struct header {
  struct mxq_entry_key key;
  uint32_t nvrtc_major, nvrtc_minor;
  char nvrtc_build_id[40];
  uint64_t source_hash[2];
  struct mxq_resources resources;
  uint64_t cubin_bytes;
  uint64_t checksum[2]; /* XXH3, 128 bits, of all above and the cubin */
};
_Static_assert(sizeof(struct mxq_entry_key) == 120, "no padding in what is hashed");
_Static_assert(sizeof(struct header) == 224, "no padding in what is stored");

static void set_hash(uint64_t to[2], XXH128_hash_t hash) {
  to[0] = hash.low64;
  to[1] = hash.high64;
}

static void seal(const struct header *header, const void *cubin, uint64_t checksum[2]) {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, header, offsetof(struct header, checksum));
  XXH3_128bits_update(&state, cubin, header->cubin_bytes);
  set_hash(checksum, XXH3_128bits_digest(&state));
}

static int read_all(int file, void *to, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t count = read(file, (char *)to + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return 0;
    done += (size_t)count;
  }
  return 1;
}

static int write_all(int file, const void *from, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t count = write(file, (const char *)from + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = ENOSPC;
    if (count <= 0) return 0;
    done += (size_t)count;
  }
  return 1;
}

/* NULL when the file is one that may be read, with a header and the length that it tells. */
static const char *read_header(int file, struct header *header) {
  struct stat status;
  if (fstat(file, &status) != 0) return "cannot be examined";
  if (!S_ISREG(status.st_mode)) return "is no regular file";
  if (status.st_uid != geteuid() && status.st_uid != 0) return "belongs to another user";
  if (status.st_mode & (S_IWGRP | S_IWOTH)) return "may be written by others";
  if (!read_all(file, header, sizeof *header)) return "is too short";
  if (memcmp(header->key.magic, magic, sizeof header->key.magic) != 0 ||
      header->key.format != MXQ_STORE_FORMAT || header->key.header_bytes != sizeof *header)
    return "is of another format or key";
  if (header->cubin_bytes == 0 || header->cubin_bytes > CUBIN_MAX ||
      (uint64_t)status.st_size != sizeof *header + header->cubin_bytes)
    return "has a wrong length";
  return NULL;
}

/* NULL and the rest of the file, or what is wrong with it. */
static const char *read_cubin(int file, const struct mxq_allocator *allocator,
                              const struct header *header, unsigned char **cubin) {
  const char *wrong = NULL;
  uint64_t checksum[2];
  unsigned char *bytes = mxq_resize(allocator, NULL, header->cubin_bytes);
  if (!bytes) return "does not fit in memory";
  if (!read_all(file, bytes, header->cubin_bytes)) wrong = "cannot be read";
  if (!wrong) seal(header, bytes, checksum);
  if (!wrong && memcmp(checksum, header->checksum, sizeof checksum) != 0)
    wrong = "has a wrong checksum";
  if (wrong)
    mxq_free(allocator, bytes);
  else
    *cubin = bytes;
  return wrong;
}

static void take(const struct header *header, unsigned char *cubin, struct mxq_store_entry *entry) {
  entry->nvrtc_major = header->nvrtc_major;
  entry->nvrtc_minor = header->nvrtc_minor;
  memcpy(entry->nvrtc_build_id, header->nvrtc_build_id, sizeof entry->nvrtc_build_id);
  memcpy(entry->source_hash, header->source_hash, sizeof entry->source_hash);
  entry->resources = header->resources;
  entry->cubin = cubin;
  entry->cubin_size = header->cubin_bytes;
}

static void fill_header(const struct mxq_entry_key *key, const struct mxq_store_entry *entry,
                        struct header *header) {
  memset(header, 0, sizeof *header);
  header->key = *key;
  header->nvrtc_major = entry->nvrtc_major;
  header->nvrtc_minor = entry->nvrtc_minor;
  memcpy(header->nvrtc_build_id, entry->nvrtc_build_id, sizeof header->nvrtc_build_id);
  memcpy(header->source_hash, entry->source_hash, sizeof header->source_hash);
  header->resources = entry->resources;
  header->cubin_bytes = entry->cubin_size;
  seal(header, entry->cubin, header->checksum);
}

/* What this build decides of a key. */
static void fill_build(struct mxq_entry_key *key) {
  memcpy(key->magic, magic, sizeof key->magic);
  key->format = MXQ_STORE_FORMAT;
  key->header_bytes = sizeof(struct header);
  memcpy(key->generator, mxq_generator_hash, sizeof key->generator);
  set_hash(key->options, XXH3_128bits(mxq_compile_options, strlen(mxq_compile_options)));
}

void mxq_entry_key_make(const struct mxq_store_key *from, struct mxq_entry_key *key) {
  memset(key, 0, sizeof *key);
  fill_build(key);
  key->kernel = from->kernel;
  snprintf(key->arch, sizeof key->arch, "%s%s", from->arch->name,
           from->arch->use_narrow ? "+n" : "");
}

void mxq_entry_key_name(const struct mxq_entry_key *key, char name[MXQ_STORE_NAME_SIZE]) {
  const XXH128_hash_t hash = XXH3_128bits(key, sizeof *key);
  snprintf(name, MXQ_STORE_NAME_SIZE, "%016llx%016llx.mxq", (unsigned long long)hash.high64,
           (unsigned long long)hash.low64);
}

const char *mxq_entry_read(int file, const struct mxq_allocator *allocator,
                           const struct mxq_entry_key *key, struct mxq_store_entry *entry) {
  struct header header;
  unsigned char *cubin = NULL;
  const char *wrong = read_header(file, &header);
  if (!wrong && memcmp(&header.key, key, sizeof *key) != 0) wrong = "is of another format or key";
  if (!wrong) wrong = read_cubin(file, allocator, &header, &cubin);
  if (!wrong) take(&header, cubin, entry);
  return wrong;
}

static int is_current(const struct mxq_entry_key *key) {
  struct mxq_entry_key other = *key;
  fill_build(&other);
  return memcmp(&other, key, sizeof other) == 0;
}

const char *mxq_entry_examine(int file, const struct mxq_allocator *allocator, const char *name,
                              struct mxq_entry_facts *facts) {
  struct header header;
  char expected[MXQ_STORE_NAME_SIZE];
  unsigned char *cubin = NULL;
  const char *wrong = read_header(file, &header);
  if (wrong) return wrong;
  mxq_entry_key_name(&header.key, expected);
  if (strcmp(expected, name) != 0) return "has the name of another key";
  if ((wrong = read_cubin(file, allocator, &header, &cubin)) != NULL) return wrong;
  mxq_free(allocator, cubin);
  memset(facts, 0, sizeof *facts);
  facts->key = header.key;
  facts->nvrtc_major = header.nvrtc_major;
  facts->nvrtc_minor = header.nvrtc_minor;
  memcpy(facts->nvrtc_build_id, header.nvrtc_build_id, sizeof header.nvrtc_build_id);
  memcpy(facts->source_hash, header.source_hash, sizeof facts->source_hash);
  facts->resources = header.resources;
  facts->cubin_bytes = header.cubin_bytes;
  facts->is_current = is_current(&facts->key);
  return NULL;
}

uint64_t mxq_entry_bytes(const struct mxq_store_entry *entry) {
  return sizeof(struct header) + entry->cubin_size;
}

int mxq_entry_write(int file, const struct mxq_entry_key *key,
                    const struct mxq_store_entry *entry) {
  struct header header;
  fill_header(key, entry, &header);
  if (!write_all(file, &header, sizeof header) || !write_all(file, entry->cubin, entry->cubin_size))
    return errno;
  /* Some file systems cannot flush; a reader sees by the checksum what did not arrive. */
  if (fsync(file) != 0 && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return errno;
  return 0;
}
