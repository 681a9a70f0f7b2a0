/* SPDX-License-Identifier: MIT
 *
 * The bytes of a prebuilt set of kernels: a header, rows in order, and cubins.
 */
#ifndef MXQ_GEN_KERNEL_SET_H
#define MXQ_GEN_KERNEL_SET_H

#include <stddef.h>
#include <stdint.h>

#include "kernel_id.h"

#define MXQ_SET_MAGIC     "MXQ-SET"
#define MXQ_SET_ALIGNMENT 64u /* of the blob and of each cubin in it */

/* Numbers are little-endian, as on every host that CUDA has. No padding. */
struct mxq_set_header {
  char magic[8];
  uint32_t format; /* MXQ_KERNEL_SET_FORMAT */
  uint32_t header_bytes;
  uint32_t row_bytes;
  uint32_t row_count;
  uint64_t blob_bytes;
  char args_digest[32]; /* of what host and kernels must agree on: mxq_args_digest */
  uint64_t checksum[2]; /* XXH3, 128 bits, of all above and the rows */
};

/* Sorted by kernel, then arch, as memcmp sees them. */
struct mxq_set_row {
  struct mxq_kernel_id kernel;
  char arch[8];
  uint64_t offset, size; /* of the cubin in the blob */
  uint64_t cubin_hash;   /* XXH3, 64 bits */
  uint64_t geometry_hash;
  uint32_t registers, spill_store_bytes, spill_load_bytes, stack_bytes;
};

/* Hash of the numbers that the host launches a kernel with: a set of another version whose schedule
 * had other ones is not used. */
uint64_t mxq_set_geometry_hash(const struct mxq_kernel_id *id);

/* XXH3 of the header, without its checksum, and of the rows behind it. */
void mxq_set_checksum(const struct mxq_set_header *header, const struct mxq_set_row *rows,
                      uint64_t checksum[2]);

/* The row of a kernel on an arch; NULL if there is none. */
const struct mxq_set_row *mxq_set_find(const struct mxq_set_row *rows, size_t count,
                                       const struct mxq_kernel_id *id, const struct mxq_arch *arch);

/* Order of rows. */
int mxq_set_compare(const struct mxq_set_row *a, const struct mxq_set_row *b);

/* What is wrong with a blob's frame (not with its cubins), NULL if nothing is. */
const char *mxq_set_check(const unsigned char *blob, uint64_t bytes);

/* 32 hex digits: a digest of templates/args.h, fixed at build. */
extern const char mxq_args_digest[];

#endif
