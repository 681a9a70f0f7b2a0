/* SPDX-License-Identifier: MIT
 *
 * From a kernel's id to the cubin of an arch: registered sets, memory, disk, NVRTC, in this order.
 */
#ifndef MXQ_IMAGE_H
#define MXQ_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/mxq.h>

#include "kernel_id.h"

enum mxq_origin { MXQ_ORIGIN_AOT, MXQ_ORIGIN_MEMORY, MXQ_ORIGIN_DISK, MXQ_ORIGIN_COMPILED };
/* "aot", "memory", "disk", "compiled" */
const char *mxq_origin_name(enum mxq_origin origin);

/* What the assembler says of a kernel; kept with the cubin wherever it is stored. */
struct mxq_resources {
  uint32_t registers;
  uint32_t spill_store_bytes;
  uint32_t spill_load_bytes;
  uint32_t stack_bytes; /* local memory of a thread */
};

/* Owned by the context's memory table until the context is destroyed. */
struct mxq_image {
  struct mxq_kernel_id kernel;
  const struct mxq_arch *arch;
  enum mxq_origin origin; /* of the call that put it into memory */
  uint64_t nanoseconds;   /* that call's time */
  struct mxq_resources resources;
  const unsigned char *cubin;
  size_t cubin_size;
  uint64_t cubin_hash; /* XXH3, 64 bits, of the cubin */
};

/* Finds or makes the image. `origin` (may be NULL) tells where this very call found it. Needs no
 * GPU. */
enum mxq_status mxq_image_get(struct mxq_context *context, const struct mxq_kernel_id *id,
                              const struct mxq_arch *arch, const struct mxq_image **image,
                              enum mxq_origin *origin);

#endif
