/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <string.h>

#include "context.h"
#include "device.h"
#include "selectable.h"
#include "status.h"

/* NVRTC's compiler recurses deeply; a thread's default may be small. */
#define STACK_BYTES ((size_t)16 << 20)
#define TEXT_SIZE   4096

struct work {
  struct mxq_context *context;
  const struct mxq_arch *arch;
  const struct mxq_variant *variants;
  size_t count;
  atomic_size_t next;
  pthread_mutex_t lock; /* of the rest */
  size_t failed_count;
  size_t failed; /* the first in the caller's order */
  enum mxq_status status;
  char text[TEXT_SIZE];
};

/* Every kernel that a plan of the variant can choose on the arch. */
static enum mxq_status prepare_variant(const struct work *work, const struct mxq_variant *variant) {
  struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST];
  const struct mxq_image *image = NULL;
  size_t count = 0;
  MXQ_TRY(mxq_selectable(variant, work->arch, ids, &count));
  for (size_t i = 0; i < count; ++i)
    MXQ_TRY(mxq_image_get(work->context, &ids[i], work->arch, &image, NULL));
  return MXQ_OK;
}

static void note_failure(struct work *work, size_t index, enum mxq_status status) {
  pthread_mutex_lock(&work->lock);
  if (work->failed_count++ == 0 || index < work->failed) {
    work->failed = index;
    work->status = status;
    strncpy(work->text, mxq_last_error(), TEXT_SIZE - 1);
  }
  pthread_mutex_unlock(&work->lock);
}

static void *run(void *user) {
  struct work *work = user;
  for (;;) {
    const size_t index = atomic_fetch_add(&work->next, 1);
    if (index >= work->count) return NULL;
    const enum mxq_status status = prepare_variant(work, &work->variants[index]);
    if (status != MXQ_OK) note_failure(work, index, status);
    if (status == MXQ_NO_NVRTC || status == MXQ_OUT_OF_MEMORY) /* no other will fare better */
      atomic_store(&work->next, work->count);
  }
}

/* The calling thread works too: where no other can be made, it does everything. */
static void run_on_threads(struct work *work, size_t threads) {
  pthread_t others[8];
  pthread_attr_t attributes;
  size_t started = 0;
  if (threads > 8) threads = 8;
  if (threads > 1 && pthread_attr_init(&attributes) == 0) {
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (started + 1 < threads && pthread_create(&others[started], &attributes, run, work) == 0)
      ++started;
    pthread_attr_destroy(&attributes);
  }
  run(work);
  for (size_t i = 0; i < started; ++i) pthread_join(others[i], NULL);
}

static enum mxq_status choose_arch(const char *name, const struct mxq_arch **arch) {
  struct mxq_device_info info;
  if (name) return mxq_arch_parse(name, arch);
  MXQ_TRY(mxq_device_describe(0, &info));
  return mxq_arch_of_device(info.major, info.minor, arch);
}

enum mxq_status mxq_prepare(struct mxq_context *context, const char *arch,
                            const struct mxq_variant *variants, size_t count) {
  MXQ_FAIL_IF(!context || (!variants && count), MXQ_INVALID_ARGUMENT,
              "mxq_prepare was given NULL for its %s", !context ? "context" : "variants");
  struct work work = {.context = context, .variants = variants, .count = count};
  MXQ_TRY(choose_arch(arch, &work.arch));
  pthread_mutex_init(&work.lock, NULL);
  run_on_threads(&work, count < context->compile_threads ? count : context->compile_threads);
  pthread_mutex_destroy(&work.lock);
  MXQ_FAIL_IF(work.failed_count, work.status,
              "%zu of %zu variants could not be prepared; the first: %s", work.failed_count, count,
              work.text);
  return MXQ_OK;
}
