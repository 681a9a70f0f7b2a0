/* SPDX-License-Identifier: MIT */
#include "opening.h"

#include <signal.h>

#include "heap.h"

/* Of static constructors and the loader; NVRTC's compiler does not run here. */
#define STACK_BYTES ((size_t)1 << 20)

static void *run(void *user) {
  struct mxq_opening *opening = user;
  const struct mxq_nvrtc *nvrtc = NULL;
  opening->status = mxq_context_nvrtc(opening->context, &nvrtc);
  if (opening->status != MXQ_OK) mxq_error_keep(&opening->error);
  return NULL;
}

static int is_open(struct mxq_context *context) {
  mxq_guard_lock();
  const int open = context->nvrtc.handle != NULL;
  mxq_guard_unlock();
  return open;
}

/* Signals are the host's: its handlers run on its own threads. */
static int start(struct mxq_opening *opening) {
  pthread_attr_t attributes;
  sigset_t all, before;
  if (pthread_attr_init(&attributes) != 0) return 0;
  (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int wrong = pthread_create(&opening->thread, &attributes, run, opening);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return !wrong;
}

void mxq_opening_begin(struct mxq_context *context, struct mxq_opening *opening) {
  opening->context = context;
  opening->status = MXQ_OK;
  opening->started = !is_open(context) && start(opening);
}

enum mxq_status mxq_opening_end(struct mxq_opening *opening, const struct mxq_nvrtc **nvrtc) {
  if (opening->started) {
    mxq_heap_reserve();
    pthread_join(opening->thread, NULL);
    if (opening->status != MXQ_OK) return mxq_error_restore(&opening->error), opening->status;
  }
  return mxq_context_nvrtc(opening->context, nvrtc);
}
