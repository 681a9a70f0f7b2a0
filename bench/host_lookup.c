/* SPDX-License-Identifier: MIT */
#include "expand.h"
#include "host.h"
#include "status.h"

enum { batches = 101, batch = 10000, contexts = 1001, disk_hits = 301 };

static enum mxq_status time_contexts(struct host *host) {
  static double us[contexts];
  for (int i = 0; i < contexts; i++) {
    struct mxq_context *context = NULL;
    const double begin = host_now();
    MXQ_TRY(mxq_context_create(NULL, &context));
    us[i] = (host_now() - begin) * 1e6;
    mxq_context_destroy(context);
  }
  host_add(host, "context_creation", "us", "mxq_context_create", host_median(us, contexts), 100);
  return MXQ_OK;
}

static enum mxq_status time_memory_hits(struct host *host, struct mxq_context *context) {
  static double ns[batches];
  const struct mxq_image *image = NULL;
  for (int b = 0; b < batches; b++) {
    const double begin = host_now();
    for (int i = 0; i < batch; i++)
      MXQ_TRY(mxq_image_get(context, &host->id, host->arch, &image, NULL));
    ns[b] = (host_now() - begin) * 1e9 / batch;
  }
  host_add(host, "memory_hit", "ns", "a kernel's image in the memory table",
           host_median(ns, batches), 50);
  for (int b = 0; b < batches; b++) {
    struct mxq_kernel *kernel = NULL;
    const double begin = host_now();
    for (int i = 0; i < batch; i++) {
      MXQ_TRY(mxq_kernel_get(context, &host->id.variant, MXQ_DEVICE_CPU, &kernel));
      mxq_kernel_release(kernel);
    }
    ns[b] = (host_now() - begin) * 1e9 / batch;
  }
  host_add(host, "kernel_get", "ns", "mxq_kernel_get and _release of one that is there",
           host_median(ns, batches), -1);
  return MXQ_OK;
}

/* A fresh context each time. */
static enum mxq_status time_disk_hits(struct host *host, const char *folder) {
  static double us[disk_hits];
  for (int i = 0; i < disk_hits; i++) {
    struct mxq_context *context = NULL;
    const struct mxq_image *image = NULL;
    enum mxq_origin origin = MXQ_ORIGIN_MEMORY;
    MXQ_TRY(host_context(folder, NULL, &context));
    const double begin = host_now();
    const enum mxq_status status = mxq_image_get(context, &host->id, host->arch, &image, &origin);
    us[i] = (host_now() - begin) * 1e6;
    mxq_context_destroy(context);
    MXQ_TRY(status);
    MXQ_FAIL_IF(origin != MXQ_ORIGIN_DISK, MXQ_INTERNAL, "a disk hit came from %s",
                mxq_origin_name(origin));
  }
  host_add(host, "disk_hit", "us", "without the driver's load", host_median(us, disk_hits), 1000);
  return MXQ_OK;
}

static enum mxq_status expand_all(struct mxq_expander *expander, const struct mxq_arch *arch) {
  struct mxq_variant variant = {0};
  while (mxq_variant_next(&variant)) {
    struct mxq_kernel_id id;
    char name[MXQ_VARIANT_NAME_SIZE], *source = NULL;
    MXQ_TRY(mxq_variant_name(&variant, name, sizeof name));
    MXQ_TRY(mxq_kernel_id_parse(name, &id));
    MXQ_TRY(mxq_expander_expand(expander, &id, arch, &source, NULL));
    mxq_free(&mxq_allocator_default, source);
  }
  return MXQ_OK;
}

static enum mxq_status time_expansions(struct host *host) {
  struct mxq_expander *expander = NULL;
  const double begin = host_now();
  MXQ_TRY(mxq_expander_create(&mxq_allocator_default, NULL, &expander));
  const enum mxq_status status = expand_all(expander, host->arch);
  mxq_expander_destroy(expander);
  MXQ_TRY(status);
  host_add(host, "expand_all", "s", "the sources of all variants, on one core", host_now() - begin,
           2);
  return MXQ_OK;
}

enum mxq_status host_measure_lookups(struct host *host) {
  char folder[128];
  struct mxq_context *context = NULL;
  const struct mxq_image *image = NULL;
  MXQ_TRY(time_contexts(host));
  MXQ_TRY(time_expansions(host));
  MXQ_TRY(host_context(host_new_folder(host, folder), NULL, &context));
  enum mxq_status status = mxq_image_get(context, &host->id, host->arch, &image, NULL);
  if (status == MXQ_OK) status = time_memory_hits(host, context);
  mxq_context_destroy(context);
  if (status == MXQ_NO_NVRTC) { /* nothing to hit */
    host_skip(host, "memory_hit", "a kernel's image in the memory table", mxq_last_error());
    host_skip(host, "disk_hit", "without the driver's load", mxq_last_error());
    return MXQ_OK;
  }
  MXQ_TRY(status);
  return time_disk_hits(host, folder);
}
