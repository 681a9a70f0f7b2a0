/* SPDX-License-Identifier: MIT
 *
 * The disk cache: one file an entry, published by rename, believed only when every byte agrees.
 */
#ifndef MXQ_STORE_H
#define MXQ_STORE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "image.h"
#include "memory.h"
#include "status.h"

#define MXQ_STORE_FORMAT    1u
#define MXQ_STORE_DIRS      16
#define MXQ_STORE_NAME_SIZE 40

/* Folders in order: the first that is writable is written, all are read, and in the others nothing
 * is ever changed. Nothing is opened or made before the first use. No folder: no disk cache. */
struct mxq_store {
  char *dirs[MXQ_STORE_DIRS];
  unsigned dir_count;
  const char *source;     /* where the folders come from: "MXQ_CACHE_DIR", "HOME", ... */
  uint64_t size_bytes;    /* of the folder that is written; least recently used entries go first */
  _Atomic(uint64_t) room; /* bytes that may be written before the folder is measured again */
  _Atomic(uint64_t) failed_writes;
};

/* Everything that decides what the cubin is, but for NVRTC's version. */
struct mxq_store_key {
  struct mxq_kernel_id kernel;
  const struct mxq_arch *arch;
};

struct mxq_store_entry {
  uint32_t nvrtc_major, nvrtc_minor;
  char nvrtc_build_id[40]; /* hex, zero-padded */
  uint64_t source_hash[2];
  struct mxq_resources resources;
  unsigned char *cubin; /* read: allocated, the caller frees it */
  size_t cubin_size;
};

/* Folders from `dirs` (a colon list, the configuration's), MXQ_CACHE_DIR, XDG_CACHE_HOME, HOME or
 * the password entry, whichever is set first; the middle two only if they are nobody else's. Opens
 * nothing. */
enum mxq_status mxq_store_init(const struct mxq_allocator *allocator, const char *dirs,
                               uint64_t size_bytes, struct mxq_store *store);
void mxq_store_free(const struct mxq_allocator *allocator, struct mxq_store *store);

/* The entry's file name, without a folder: 32 hex digits and ".mxq". */
void mxq_store_name(const struct mxq_store_key *key, char name[MXQ_STORE_NAME_SIZE]);

/* 1 and the entry, or 0 for a miss. `why` (at most `why_size` bytes) says what was wrong with a
 * file that was there and not believed, else it is empty. */
int mxq_store_read(const struct mxq_store *store, const struct mxq_allocator *allocator,
                   const struct mxq_store_key *key, struct mxq_store_entry *entry, char *why,
                   size_t why_size);

/* Publishes an entry: temporary file, fsync, rename. 1, or 0 and the reason in `why`, which is for
 * the log: a failed write never fails the caller's call. No folder at all is 1. */
int mxq_store_write(struct mxq_store *store, const struct mxq_allocator *allocator,
                    const struct mxq_store_key *key, const struct mxq_store_entry *entry, char *why,
                    size_t why_size);

/* Keeps other processes from compiling the same key meanwhile. -1 when it cannot be had within 20
 * seconds or the entry was published meanwhile: the caller looks once more and goes on without, for
 * a lock only saves work. */
int mxq_store_lock(const struct mxq_store *store, const struct mxq_store_key *key);
void mxq_store_unlock(int lock);

#endif
