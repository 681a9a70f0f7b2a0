/* SPDX-License-Identifier: MIT
 *
 * The folders of the disk cache: who may own them, how they are made.
 */
#ifndef MXQ_STORE_FOLDER_H
#define MXQ_STORE_FOLDER_H

#include <stddef.h>

#include "store.h"

enum mxq_folder_use { MXQ_FOLDER_READ, MXQ_FOLDER_WRITE };

/* A descriptor of the folder, or -1 and the reason in `why`; empty for a folder to read that does
 * not exist. A folder to write is made with its parents, mode 0700. Nobody but the user (to read:
 * or root) may own it, and nobody else may be able to write it: whoever can put a file there
 * chooses what runs on the GPU. */
int mxq_store_folder_open(const char *path, enum mxq_folder_use use, char *why, size_t why_size);

/* The first folder of the store that can be written, made if it is not there, and its path; -1 and
 * what is wrong with the first (empty: there are none). */
int mxq_store_folder_written(const struct mxq_store *store, const char **path, char *why,
                             size_t why_size);

#endif
