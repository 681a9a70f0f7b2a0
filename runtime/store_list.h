/* SPDX-License-Identifier: MIT
 *
 * Looking over the folders of the disk cache, for mxq cache.
 */
#ifndef MXQ_STORE_LIST_H
#define MXQ_STORE_LIST_H

#include <time.h>

#include "store_entry.h"

struct mxq_store_item {
  char name[MXQ_STORE_NAME_SIZE];
  uint64_t bytes; /* of the file */
  struct timespec used;
  const char *wrong; /* NULL: `facts` holds */
  struct mxq_entry_facts facts;
};

/* Whether a file's name is that of an entry, or of the temporary file of one. */
int mxq_store_is_entry(const char *name);
int mxq_store_is_temporary(const char *name);

/* Calls `visit` for each entry of a folder, in the order of their names, all of its bytes checked.
 * Changes nothing, not even when they were used. 0 and the reason in `why`, empty
 * for a folder that does not exist. */
int mxq_store_each(const char *dir, const struct mxq_allocator *allocator,
                   void (*visit)(void *user, const struct mxq_store_item *item), void *user,
                   char *why, size_t why_size);

/* Removes every entry and temporary file of the folder that is written; locks stay. 0 and the
 * reason. */
int mxq_store_clear(const struct mxq_store *store, uint64_t *files, uint64_t *bytes, char *why,
                    size_t why_size);

#endif
