/* SPDX-License-Identifier: MIT
 *
 * A cache folder of its own for each test of the disk cache, and one entry to put into it.
 */
#ifndef MXQ_TESTS_STORE_FIXTURE_H
#define MXQ_TESTS_STORE_FIXTURE_H

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel_id.h"
#include "store.h"

static const char kernel_name[] = "quantize_bf16_e4m3_b32_rceil_colt_lin";

struct fixture {
  char root[64];
  char dir[96];
  struct mxq_store store;
  struct mxq_store_key key;
  char file[PATH_MAX];
};

static inline struct mxq_store store_of(const char *dirs) {
  struct mxq_store store;
  if (mxq_store_init(&mxq_allocator_default, dirs, 1 << 20, &store) != MXQ_OK)
    fail_msg("%s", mxq_last_error());
  return store;
}

static inline int setup(void **state) {
  struct fixture *f = calloc(1, sizeof *f);
  char name[MXQ_STORE_NAME_SIZE];
  if (!f) return -1;
  /* In memory where that is possible: a disk takes its time to flush. */
  snprintf(f->root, sizeof f->root, "%s/mxq-store-XXXXXX",
           access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  if (!mkdtemp(f->root)) return -1;
  snprintf(f->dir, sizeof f->dir, "%s/Caf\xc3\xa9 cache/a b", f->root);
  f->store = store_of(f->dir);
  if (mxq_kernel_id_parse(kernel_name, &f->key.kernel) != MXQ_OK) return -1;
  if (mxq_arch_parse("90a", &f->key.arch) != MXQ_OK) return -1;
  mxq_store_name(&f->key, name);
  snprintf(f->file, sizeof f->file, "%s/%s", f->dir, name);
  *state = f;
  return 0;
}

static inline int teardown(void **state) {
  struct fixture *f = *state;
  char command[256];
  mxq_store_free(&mxq_allocator_default, &f->store);
  snprintf(command, sizeof command, "chmod -R u+rwX '%s'; rm -rf '%s'", f->root, f->root);
  const int result = system(command);
  free(f);
  return result;
}

static inline struct mxq_store_entry sample(void) {
  static unsigned char cubin[] = "\177ELF and some more bytes that stand for code";
  struct mxq_store_entry entry = {.nvrtc_major = 13,
                                  .nvrtc_minor = 1,
                                  .nvrtc_build_id = "0123456789abcdef",
                                  .source_hash = {11, 22},
                                  .resources = {40, 1, 2, 256},
                                  .cubin = cubin,
                                  .cubin_size = sizeof cubin};
  return entry;
}

static inline void must_write(struct fixture *f) {
  const struct mxq_store_entry entry = sample();
  char why[1024];
  if (!mxq_store_write(&f->store, &mxq_allocator_default, &f->key, &entry, why, sizeof why))
    fail_msg("%s", why);
}

/* Reads and compares; 0 for a miss. */
static inline int read_back(const struct mxq_store *store, const struct mxq_store_key *key,
                            char *why, size_t why_size) {
  const struct mxq_store_entry expected = sample();
  struct mxq_store_entry entry;
  if (!mxq_store_read(store, &mxq_allocator_default, key, &entry, why, why_size)) return 0;
  assert_int_equal(entry.nvrtc_major, expected.nvrtc_major);
  assert_int_equal(entry.nvrtc_minor, expected.nvrtc_minor);
  assert_memory_equal(entry.nvrtc_build_id, expected.nvrtc_build_id, 40);
  assert_memory_equal(entry.source_hash, expected.source_hash, 16);
  assert_memory_equal(&entry.resources, &expected.resources, sizeof entry.resources);
  assert_int_equal(entry.cubin_size, expected.cubin_size);
  assert_memory_equal(entry.cubin, expected.cubin, expected.cubin_size);
  free(entry.cubin);
  return 1;
}

static inline int hits(struct fixture *f) {
  char why[1024];
  return read_back(&f->store, &f->key, why, sizeof why);
}

static inline size_t load_file(const char *path, unsigned char *bytes, size_t size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  const size_t length = fread(bytes, 1, size, file);
  fclose(file);
  return length;
}

static inline void save_file(const char *path, const unsigned char *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

#endif
