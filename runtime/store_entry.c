/* SPDX-License-Identifier: MIT */
#include "store_entry.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile.h"
#include "expand.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define CUBIN_MAX (64u << 20)

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

/* NULL when the file's header and size are those of an entry of the key, else what is wrong. */
static const char *check_header(int file, const struct mxq_entry_key *key, struct header *header) {
  struct stat status;
  if (fstat(file, &status) != 0) return "cannot be examined";
  if (!S_ISREG(status.st_mode)) return "is no regular file";
  if (status.st_uid != geteuid() && status.st_uid != 0) return "belongs to another user";
  if (!read_all(file, header, sizeof *header)) return "is too short";
  if (memcmp(&header->key, key, sizeof *key) != 0) return "is of another format or key";
  if (header->cubin_bytes == 0 || header->cubin_bytes > CUBIN_MAX ||
      (uint64_t)status.st_size != sizeof *header + header->cubin_bytes)
    return "has a wrong length";
  return NULL;
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

void mxq_entry_key_make(const struct mxq_store_key *from, struct mxq_entry_key *key) {
  memset(key, 0, sizeof *key);
  memcpy(key->magic, "MXQCUBIN", sizeof key->magic);
  key->format = MXQ_STORE_FORMAT;
  key->header_bytes = sizeof(struct header);
  key->kernel = from->kernel;
  strncpy(key->arch, from->arch->name, sizeof key->arch - 1);
  memcpy(key->generator, mxq_generator_hash, sizeof key->generator);
  set_hash(key->options, XXH3_128bits(mxq_compile_options, strlen(mxq_compile_options)));
}

void mxq_entry_key_hash(const struct mxq_entry_key *key, uint64_t hash[2]) {
  set_hash(hash, XXH3_128bits(key, sizeof *key));
}

const char *mxq_entry_read(int file, const struct mxq_allocator *allocator,
                           const struct mxq_entry_key *key, struct mxq_store_entry *entry) {
  struct header header;
  uint64_t checksum[2];
  const char *wrong = check_header(file, key, &header);
  if (wrong) return wrong;
  unsigned char *cubin = mxq_resize(allocator, NULL, header.cubin_bytes);
  if (!cubin) return "does not fit in memory";
  if (!read_all(file, cubin, header.cubin_bytes)) wrong = "cannot be read";
  if (!wrong) seal(&header, cubin, checksum);
  if (!wrong && memcmp(checksum, header.checksum, sizeof checksum) != 0)
    wrong = "has a wrong checksum";
  if (wrong)
    mxq_free(allocator, cubin);
  else
    take(&header, cubin, entry);
  return wrong;
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
