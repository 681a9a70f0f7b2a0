/* SPDX-License-Identifier: MIT
 *
 * What a context holds: settings read once, and the tables of images and kernels.
 */
#ifndef MXQ_CONTEXT_H
#define MXQ_CONTEXT_H

#include <stdatomic.h>
#include <stdint.h>

#include <mxq/mxq.h>

#include "guard.h"
#include "image.h"
#include "memory.h"
#include "nvrtc.h"
#include "store.h"

#define MXQ_BUCKETS 1024u

/* A slot of the memory table, one for each kernel and arch ever asked for. */
struct mxq_image_slot;

/* A registered set of prebuilt kernels. */
struct mxq_set_link;

struct mxq_context {
  struct mxq_allocator allocator;
  mxq_log_fn log;
  void *log_user;
  enum mxq_log_level log_level;
  enum mxq_jit_mode jit;
  int cache_strict; /* the disk's entries must be of the NVRTC that would compile them */
  unsigned compile_threads;
  char *record_path;         /* MXQ_RECORD, or NULL */
  _Atomic(int) record_fails; /* that was logged, once */
  struct mxq_nvrtc_search search;
  struct mxq_nvrtc nvrtc;       /* opened at the first compile; guarded */
  struct mxq_claim nvrtc_claim; /* for opening it */
  struct mxq_claim load_claim;  /* for handing a cubin to the driver */
  struct mxq_store store;
  _Atomic(uint64_t) warned;            /* hash of the last warning about the disk cache */
  _Atomic(uint64_t) made[4];           /* images that calls put into memory, by enum mxq_origin */
  _Atomic(struct mxq_set_link *) sets; /* grows at its end, under the guard */
  /* Chains only grow, at their head, under the guard: readers take no lock. */
  _Atomic(struct mxq_image_slot *) images[MXQ_BUCKETS];
  _Atomic(struct mxq_kernel *) kernels[MXQ_BUCKETS];
};

/* The context's NVRTC, opened at the first call; the same pointer ever after. */
enum mxq_status mxq_context_nvrtc(struct mxq_context *context, const struct mxq_nvrtc **nvrtc);

/* Appends a variant's name to the file of MXQ_RECORD, if there is one. Trouble is logged. */
void mxq_context_record(struct mxq_context *context, const struct mxq_variant *variant);

/* Whether a message of this level would reach anybody. */
int mxq_log_wants(const struct mxq_context *context, enum mxq_log_level level);
void mxq_log(const struct mxq_context *context, enum mxq_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A cubin from disk that the driver refused: compiled once more and replaced, in memory and on
 * disk. `image` becomes the new one. The old one stays readable. */
enum mxq_status mxq_image_renew(struct mxq_context *context, const struct mxq_image **image);

/* Frees the tables; called by mxq_context_destroy. */
void mxq_image_free_all(struct mxq_context *context);
void mxq_kernel_free_all(struct mxq_context *context);

#endif
