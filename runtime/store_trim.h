/* SPDX-License-Identifier: MIT
 *
 * Keeping a folder of the disk cache below its size.
 */
#ifndef MXQ_STORE_TRIM_H
#define MXQ_STORE_TRIM_H

#include <stdint.h>

#include "memory.h"

/* Says that the entry of an open file was used, at most once a minute: most file systems note the
 * first read by themselves. */
void mxq_store_touch(int file);

/* Removes the entries that were used longest ago until those left take at most `limit` bytes, and
 * temporary files of writers that died. Returns the bytes left; trouble only leaves more of them.
 * Entries being read stay readable. */
uint64_t mxq_store_trim(int folder, const struct mxq_allocator *allocator, uint64_t limit);

#endif
