/* SPDX-License-Identifier: MIT
 *
 * The context's NVRTC, opened on a thread of its own while the caller does something else: the
 * loader relocates a large library.
 */
#ifndef MXQ_OPENING_H
#define MXQ_OPENING_H

#include <pthread.h>

#include "context.h"
#include "status.h"

struct mxq_opening {
  struct mxq_context *context;
  pthread_t thread;
  int started; /* a thread; else mxq_opening_end opens */
  enum mxq_status status;
  struct mxq_kept_error error; /* of the thread, where `status` is one */
};

/* Begins, unless NVRTC is open or no thread can be had. `opening` stays where it is until
 * mxq_opening_end, which always follows. */
void mxq_opening_begin(struct mxq_context *context, struct mxq_opening *opening);

/* What mxq_context_nvrtc answers; the error's text is the calling thread's. */
enum mxq_status mxq_opening_end(struct mxq_opening *opening, const struct mxq_nvrtc **nvrtc);

#endif
