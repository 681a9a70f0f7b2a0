/* SPDX-License-Identifier: MIT
 *
 * The bytes of a cache entry: a header, which begins with the whole key, and the cubin.
 */
#ifndef MXQ_STORE_ENTRY_H
#define MXQ_STORE_ENTRY_H

#include <stdint.h>

#include "store.h"

/* Everything that the key is made of; the entry's file begins with it, its name is its hash.
 * Numbers are little-endian, as on every host that CUDA has. No padding. */
struct mxq_entry_key {
  char magic[8];
  uint32_t format;
  uint32_t header_bytes;
  struct mxq_kernel_id kernel;
  char arch[8];
  char generator[32];
  uint64_t options[2];
};
void mxq_entry_key_make(const struct mxq_store_key *from, struct mxq_entry_key *key);

/* The name of the key's file: its XXH3, 128 bits. */
void mxq_entry_key_name(const struct mxq_entry_key *key, char name[MXQ_STORE_NAME_SIZE]);

/* Reads an open file. NULL and the entry when every byte agrees, else what is wrong with it. */
const char *mxq_entry_read(int file, const struct mxq_allocator *allocator,
                           const struct mxq_entry_key *key, struct mxq_store_entry *entry);

/* What an entry says of itself, whatever its key is. */
struct mxq_entry_facts {
  struct mxq_entry_key key;
  uint32_t nvrtc_major, nvrtc_minor;
  char nvrtc_build_id[41];
  uint64_t source_hash[2];
  struct mxq_resources resources;
  uint64_t cubin_bytes;
  int is_current; /* of this build's templates, generator and options: it may be hit */
};

/* Reads an open file that should hold the entry called `name`: all of its bytes. NULL, or what is
 * wrong with it. */
const char *mxq_entry_examine(int file, const struct mxq_allocator *allocator, const char *name,
                              struct mxq_entry_facts *facts);

/* The bytes of the entry's file. */
uint64_t mxq_entry_bytes(const struct mxq_store_entry *entry);

/* Writes the entry into an open file and flushes it to the disk. 0, or the number of the error. */
int mxq_entry_write(int file, const struct mxq_entry_key *key, const struct mxq_store_entry *entry);

#endif
