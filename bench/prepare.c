/* SPDX-License-Identifier: MIT
 *
 * Compiles all kernels of a run on all processors before the first is timed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "heap.h"
#include "image.h"
#include "status.h"

#define STACK_BYTES ((size_t)16 << 20) /* NVRTC recurses deeply */

enum { threads_max = 64 };

struct work {
  const struct bench *bench;
  const struct bench_item *items;
  size_t count;
  atomic_size_t next;
  pthread_mutex_t lock; /* of the rest */
  enum mxq_status status;
  char text[512];
};

static void note_failure(struct work *work, enum mxq_status status) {
  pthread_mutex_lock(&work->lock);
  if (work->status == MXQ_OK) {
    work->status = status;
    snprintf(work->text, sizeof work->text, "%s", mxq_last_error());
  }
  pthread_mutex_unlock(&work->lock);
  atomic_store(&work->next, work->count);
}

static void *compile(void *user) {
  struct work *work = user;
  const struct mxq_image *image = NULL;
  for (;;) {
    const size_t index = atomic_fetch_add(&work->next, 1);
    if (index >= work->count) return NULL;
    if (index % 8 == 0) bench_progress("compiling: %zu of %zu", index, work->count);
    const enum mxq_status status = mxq_image_get(work->bench->context, &work->items[index].id,
                                                 work->bench->arch, &image, NULL);
    if (status != MXQ_OK) note_failure(work, status);
  }
}

enum mxq_status bench_prepare(const struct bench *bench, const struct bench_item *items,
                              size_t count) {
  struct work work = {.bench = bench, .items = items, .count = count};
  pthread_t others[threads_max];
  pthread_attr_t attributes;
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  int started = 0;
  heap_keep();
  pthread_mutex_init(&work.lock, NULL);
  if (pthread_attr_init(&attributes) == 0) {
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (started + 1 < online && started < threads_max &&
           pthread_create(&others[started], &attributes, compile, &work) == 0)
      started++;
    pthread_attr_destroy(&attributes);
  }
  compile(&work);
  for (int i = 0; i < started; i++) pthread_join(others[i], NULL);
  pthread_mutex_destroy(&work.lock);
  bench_progress("%s", "");
  MXQ_FAIL_IF(work.status != MXQ_OK, work.status, "%s", work.text);
  return MXQ_OK;
}
