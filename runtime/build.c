/* SPDX-License-Identifier: MIT */
#include "build.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "aot.h"
#include "compile.h"
#include "expand.h"
#include "opening.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct job {
  struct mxq_context *context;
  const struct mxq_kernel_id *id;
  const struct mxq_arch *arch;
  char name[MXQ_KERNEL_NAME_SIZE];
};

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void take(const struct mxq_store_entry *entry, enum mxq_origin origin,
                 struct mxq_image *image) {
  image->origin = origin;
  image->resources = entry->resources;
  image->cubin = entry->cubin;
  image->cubin_size = entry->cubin_size;
}

/* Strict mode: an entry counts only if the NVRTC that would compile it made it. Without one, any
 * entry does. */
static int is_of_other_nvrtc(const struct job *job, const struct mxq_store_entry *entry) {
  const struct mxq_nvrtc *nvrtc = NULL;
  struct mxq_kept_error kept;
  if (!job->context->cache_strict) return 0;
  mxq_error_keep(&kept);
  if (mxq_context_nvrtc(job->context, &nvrtc) != MXQ_OK) return mxq_error_restore(&kept), 0;
  if ((int)entry->nvrtc_major == nvrtc->major && (int)entry->nvrtc_minor == nvrtc->minor &&
      strncmp(entry->nvrtc_build_id, nvrtc->build_id, sizeof entry->nvrtc_build_id) == 0)
    return 0;
  mxq_log(job->context, MXQ_LOG_INFO, "disk cache: %s for %s is of NVRTC %u.%u, not of %d.%d (%s)",
          job->name, job->arch->name, entry->nvrtc_major, entry->nvrtc_minor, nvrtc->major,
          nvrtc->minor, nvrtc->path);
  return 1;
}

/* A lookup may meet the same trouble twice, before and under the lock, and then when it writes. */
static void warn_of_disk(const struct job *job, const char *from, const char *why) {
  const uint64_t hash = XXH3_64bits(why, strlen(why));
  if (why[0] && atomic_exchange(&job->context->warned, hash) != hash)
    mxq_log(job->context, MXQ_LOG_WARNING, "disk cache%s: %s", from, why);
}

static int read_disk(const struct job *job, struct mxq_image *image) {
  const struct mxq_store_key key = {*job->id, job->arch};
  struct mxq_store_entry entry;
  char why[1024];
  int hit =
      mxq_store_read(&job->context->store, &job->context->allocator, &key, &entry, why, sizeof why);
  warn_of_disk(job, "", why);
  if (hit && is_of_other_nvrtc(job, &entry)) {
    mxq_free(&job->context->allocator, entry.cubin);
    hit = 0;
  }
  if (hit) take(&entry, MXQ_ORIGIN_DISK, image);
  return hit;
}

static void write_disk(const struct job *job, const struct mxq_store_entry *entry) {
  const struct mxq_store_key key = {*job->id, job->arch};
  char why[1024], from[64];
  snprintf(from, sizeof from, " (folders from %s)", job->context->store.source);
  if (!mxq_store_write(&job->context->store, &job->context->allocator, &key, entry, why,
                       sizeof why))
    warn_of_disk(job, from, why);
}

/* The source, and NVRTC opened while it is expanded. */
static enum mxq_status expand_and_open(const struct job *job, char **source, size_t *length,
                                       const struct mxq_nvrtc **nvrtc) {
  struct mxq_opening opening;
  char *text = NULL;
  mxq_opening_begin(job->context, &opening);
  const enum mxq_status expanded =
      mxq_expand(&job->context->allocator, job->id, job->arch, NULL, &text, length);
  const enum mxq_status opened = mxq_opening_end(&opening, nvrtc);
  if (expanded == MXQ_OK && opened == MXQ_OK) return *source = text, MXQ_OK;
  mxq_free(&job->context->allocator, text);
  return opened != MXQ_OK ? opened : expanded;
}

static enum mxq_status expand_and_compile(const struct job *job, const struct mxq_nvrtc **nvrtc,
                                          struct mxq_compiled *compiled, uint64_t hash[2]) {
  const struct mxq_allocator *allocator = &job->context->allocator;
  char *source = NULL;
  size_t length = 0;
  MXQ_TRY(expand_and_open(job, &source, &length, nvrtc));
  const XXH128_hash_t source_hash = XXH3_128bits(source, length);
  hash[0] = source_hash.low64;
  hash[1] = source_hash.high64;
  const enum mxq_status status =
      mxq_compile(allocator, *nvrtc, source, job->name, job->arch, MXQ_COMPILE_CUBIN, compiled);
  mxq_free(allocator, source);
  return status;
}

static enum mxq_status compile(const struct job *job, struct mxq_image *image) {
  const struct mxq_nvrtc *nvrtc = NULL;
  struct mxq_compiled compiled;
  struct mxq_store_entry entry = {.cubin_size = 0};
  MXQ_TRY(expand_and_compile(job, &nvrtc, &compiled, entry.source_hash));
  entry.nvrtc_major = (uint32_t)nvrtc->major;
  entry.nvrtc_minor = (uint32_t)nvrtc->minor;
  memcpy(entry.nvrtc_build_id, nvrtc->build_id, sizeof entry.nvrtc_build_id);
  entry.resources = compiled.resources;
  entry.cubin = (unsigned char *)compiled.code;
  entry.cubin_size = compiled.size;
  write_disk(job, &entry);
  take(&entry, MXQ_ORIGIN_COMPILED, image);
  return MXQ_OK;
}

/* With a lock that other processes see; whoever had it may have published the entry. */
static enum mxq_status compile_once(const struct job *job, enum mxq_build_from from,
                                    struct mxq_image *image) {
  const struct mxq_store_key key = {*job->id, job->arch};
  enum mxq_status status = MXQ_OK;
  const int lock = mxq_store_lock(&job->context->store, &key);
  if (from == MXQ_BUILD_FRESH || !read_disk(job, image)) status = compile(job, image);
  mxq_store_unlock(lock);
  return status;
}

static enum mxq_status not_prebuilt(const struct job *job) {
  const int off = job->context->jit == MXQ_JIT_OFF;
  return mxq_aot_missing(job->context, job->id, job->arch,
                         off ? "registered set" : "registered set or disk cache",
                         off ? "compiling is off (MXQ_JIT=off or the configuration's jit)"
                             : "compiling is off (MXQ_JIT=cache or the configuration's jit)");
}

static enum mxq_status make(const struct job *job, enum mxq_build_from from,
                            struct mxq_image *image) {
  const enum mxq_jit_mode jit = job->context->jit;
  if (jit != MXQ_JIT_OFF && from == MXQ_BUILD_ANY && read_disk(job, image)) return MXQ_OK;
  if (jit != MXQ_JIT_ON) return not_prebuilt(job);
  return compile_once(job, from, image);
}

enum mxq_status mxq_build(struct mxq_context *context, const struct mxq_kernel_id *id,
                          const struct mxq_arch *arch, enum mxq_build_from from,
                          struct mxq_image *image) {
  struct job job = {.context = context, .id = id, .arch = arch};
  struct mxq_image made = {.kernel = *id, .arch = arch};
  const uint64_t start = now();
  MXQ_TRY(mxq_kernel_id_name(id, job.name, sizeof job.name));
  MXQ_TRY(make(&job, from, &made));
  made.nanoseconds = now() - start;
  made.cubin_hash = XXH3_64bits(made.cubin, made.cubin_size);
  mxq_log(context, MXQ_LOG_INFO, "%s for %s: %s in %llu.%03llu ms, %u registers, %zu bytes",
          job.name, arch->name, mxq_origin_name(made.origin),
          (unsigned long long)(made.nanoseconds / 1000000u),
          (unsigned long long)(made.nanoseconds / 1000u % 1000u), made.resources.registers,
          made.cubin_size);
  atomic_fetch_add_explicit(&context->made[made.origin], 1, memory_order_relaxed);
  *image = made;
  return MXQ_OK;
}
