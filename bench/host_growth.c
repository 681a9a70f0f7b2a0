/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host.h"
#include "status.h"

enum { threads_max = 8 };

/* Bytes that are allocated now. */
static void *counting_resize(void *user, void *pointer, size_t size) {
  _Atomic(long long) *live = user;
  const size_t header = 16;
  char *block = pointer ? (char *)pointer - header : NULL;
  if (block) atomic_fetch_sub(live, (long long)*(size_t *)block);
  if (!size) {
    free(block);
    return NULL;
  }
  block = realloc(block, size + header);
  if (!block) return NULL;
  *(size_t *)block = size;
  atomic_fetch_add(live, (long long)size);
  return block + header;
}

static double resident_kib(void) {
  long pages = 0, skipped = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file || fscanf(file, "%ld %ld", &skipped, &pages) != 2) pages = 0;
  if (file) fclose(file);
  return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static enum mxq_status look_up(struct host *host, struct mxq_context *context, int count) {
  const struct mxq_image *image = NULL;
  struct mxq_kernel *kernel = NULL;
  for (int i = 0; i < count; i++) {
    MXQ_TRY(mxq_image_get(context, &host->id, host->arch, &image, NULL));
    MXQ_TRY(mxq_kernel_get(context, &host->id.variant, MXQ_DEVICE_CPU, &kernel));
    mxq_kernel_release(kernel);
  }
  return MXQ_OK;
}

static enum mxq_status measure_lookups(struct host *host) {
  _Atomic(long long) live = 0;
  const struct mxq_allocator allocator = {counting_resize, &live};
  struct mxq_context *context = NULL;
  char folder[128];
  MXQ_TRY(host_context(host_new_folder(host, folder), &allocator, &context));
  enum mxq_status status = look_up(host, context, 1000);
  const long long before = atomic_load(&live);
  if (status == MXQ_OK) status = look_up(host, context, HOST_LOOKUPS);
  const long long after = atomic_load(&live);
  mxq_context_destroy(context);
  MXQ_TRY(status);
  host_add(host, "growth_of_lookups", "bytes", "allocated by 100,000 lookups more",
           (double)(after - before), 0);
  return MXQ_OK;
}

/* Each compile in a context of its own, nothing kept on disk. */
struct work {
  struct host *host;
  _Atomic(long long) live;
  atomic_int next;
  _Atomic(enum mxq_status) status;
  _Atomic(double) early_kib; /* resident when a fifth was done */
};

static enum mxq_status compile_one(struct work *work) {
  const struct mxq_allocator allocator = {counting_resize, &work->live};
  const struct mxq_image *image = NULL;
  struct mxq_context *context = NULL;
  MXQ_TRY(host_context("/proc/mxq", &allocator, &context));
  const enum mxq_status status =
      mxq_image_get(context, &work->host->id, work->host->arch, &image, NULL);
  mxq_context_destroy(context);
  return status;
}

static void *compile_many(void *user) {
  struct work *work = user;
  for (;;) {
    const int index = atomic_fetch_add(&work->next, 1);
    if (index >= HOST_COMPILES || atomic_load(&work->status) != MXQ_OK) return NULL;
    if (index == HOST_COMPILES / 5) atomic_store(&work->early_kib, resident_kib());
    if (index % 10 == 0) bench_progress("compile %d of %d", index, HOST_COMPILES);
    const enum mxq_status status = compile_one(work);
    if (status != MXQ_OK) atomic_store(&work->status, status);
  }
}

static enum mxq_status measure_compiles(struct host *host) {
  struct work work = {.host = host};
  pthread_t others[threads_max];
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  int started = 0;
  MXQ_TRY(compile_one(&work));
  const double begin = host_now();
  while (started + 1 < online && started < threads_max - 1 &&
         pthread_create(&others[started], NULL, compile_many, &work) == 0)
    started++;
  compile_many(&work);
  for (int i = 0; i < started; i++) pthread_join(others[i], NULL);
  const double seconds = host_now() - begin;
  bench_progress("%s", "");
  MXQ_FAIL_IF(atomic_load(&work.status) != MXQ_OK, MXQ_INTERNAL, "one of many compiles failed");
  host_add(host, "growth_of_compiles", "bytes",
           "allocated after 1,000 compiles in as many contexts", (double)atomic_load(&work.live),
           0);
  struct host_row *row =
      host_add(host, "growth_of_process", "KiB", "resident memory between compiles 200 and 1,000",
               resident_kib() - atomic_load(&work.early_kib), 16384);
  snprintf(row->note, sizeof row->note,
           "NVRTC's own included; %.1f compiles a second on %d threads", HOST_COMPILES / seconds,
           started + 1);
  return MXQ_OK;
}

enum mxq_status host_measure_growth(struct host *host) {
  enum mxq_status status = measure_lookups(host);
  if (status == MXQ_OK) status = measure_compiles(host);
  if (status != MXQ_NO_NVRTC) return status;
  host_skip(host, "growth_of_compiles", "allocated after 1,000 compiles", mxq_last_error());
  return MXQ_OK;
}
