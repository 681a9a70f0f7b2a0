/* SPDX-License-Identifier: MIT */
#include "aot.h"

#include <string.h>

#include "kernel_set.h"
#include "status.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Sets in the order in which they were added. */
struct mxq_set_link {
  _Atomic(struct mxq_set_link *) next;
  const struct mxq_kernel_set *set;
};

static const struct mxq_set_header *header_of(const struct mxq_kernel_set *set) {
  return (const void *)set->blob;
}

static const struct mxq_set_row *find_row(const struct mxq_kernel_set *set,
                                          const struct mxq_kernel_id *id,
                                          const struct mxq_arch *arch) {
  const struct mxq_set_header *header = header_of(set);
  return mxq_set_find((const void *)(set->blob + header->header_bytes), header->row_count, id,
                      arch);
}

/* NULL, or why a row of a set cannot be used. */
static const char *refuse(const struct mxq_kernel_set *set, const struct mxq_set_row *row) {
  if (row->geometry_hash != mxq_set_geometry_hash(&row->kernel))
    return "it is of another version of mxq; emit the set anew";
  if (row->cubin_hash != XXH3_64bits(set->blob + row->offset, row->size))
    return "its code is damaged";
  return NULL;
}

static void take(const struct mxq_kernel_set *set, const struct mxq_set_row *row,
                 const struct mxq_arch *arch, struct mxq_image *image) {
  *image = (struct mxq_image){.kernel = row->kernel,
                              .arch = arch,
                              .origin = MXQ_ORIGIN_AOT,
                              .resources = {row->registers, row->spill_store_bytes,
                                            row->spill_load_bytes, row->stack_bytes},
                              .cubin = set->blob + row->offset,
                              .cubin_size = row->size,
                              .cubin_hash = row->cubin_hash};
}

static struct mxq_set_link *first(const struct mxq_context *context) {
  return atomic_load_explicit(&context->sets, memory_order_acquire);
}

static struct mxq_set_link *after(const struct mxq_set_link *link) {
  return atomic_load_explicit(&link->next, memory_order_acquire);
}

/* The first set that has the kernel, and why it cannot be used, NULL if it can. */
static const struct mxq_set_row *search(const struct mxq_context *context,
                                        const struct mxq_kernel_id *id, const struct mxq_arch *arch,
                                        const struct mxq_kernel_set **set, const char **why) {
  const struct mxq_set_row *row = NULL;
  *why = NULL;
  for (const struct mxq_set_link *link = first(context); link; link = after(link)) {
    const struct mxq_set_row *found = find_row(link->set, id, arch);
    if (!found) continue;
    row = found;
    *set = link->set;
    *why = refuse(link->set, found);
    if (!*why) break;
  }
  return row;
}

static enum mxq_status check(const struct mxq_kernel_set *set) {
  MXQ_FAIL_IF(set->magic != MXQ_KERNEL_SET_MAGIC || !set->blob, MXQ_INVALID_ARGUMENT,
              "the set of kernels is none: a file that mxq emit wrote defines one; give "
              "mxq_context_add_kernels its address");
  MXQ_FAIL_IF(set->format != MXQ_KERNEL_SET_FORMAT || set->size != sizeof *set,
              MXQ_INVALID_ARGUMENT,
              "the set of kernels is of format %u and %llu bytes; this library (mxq %s) reads "
              "format %u of %zu bytes: emit the set with the program of this version",
              set->format, (unsigned long long)set->size, mxq_version(), MXQ_KERNEL_SET_FORMAT,
              sizeof *set);
  const char *wrong = mxq_set_check(set->blob, set->blob_bytes);
  MXQ_FAIL_IF(wrong, MXQ_INVALID_ARGUMENT,
              "the set of kernels cannot be used: %s; emit it anew, its source and its blob "
              "together",
              wrong);
  MXQ_FAIL_IF(memcmp(header_of(set)->args_digest, mxq_args_digest, 32) != 0, MXQ_INVALID_ARGUMENT,
              "the kernels of the set take other arguments than this library (mxq %s) passes: emit "
              "the set with the program of this version",
              mxq_version());
  return MXQ_OK;
}

int mxq_aot_find(const struct mxq_context *context, const struct mxq_kernel_id *id,
                 const struct mxq_arch *arch, struct mxq_image *image) {
  const struct mxq_kernel_set *set = NULL;
  const char *why = NULL;
  char name[MXQ_KERNEL_NAME_SIZE] = "";
  if (!first(context)) return 0;
  const struct mxq_set_row *row = search(context, id, arch, &set, &why);
  if (!row) return 0;
  (void)mxq_kernel_id_name(id, name, sizeof name);
  if (why)
    mxq_log(context, MXQ_LOG_WARNING, "registered set: %s for %s: %s", name, arch->name, why);
  else
    mxq_log(context, MXQ_LOG_INFO, "%s for %s: aot, %u registers, %llu bytes", name, arch->name,
            row->registers, (unsigned long long)row->size);
  if (!why) take(set, row, arch, image);
  return !why;
}

enum mxq_status mxq_aot_missing(const struct mxq_context *context, const struct mxq_kernel_id *id,
                                const struct mxq_arch *arch, const char *places,
                                const char *reason) {
  const struct mxq_kernel_set *set = NULL;
  const char *why = NULL;
  char name[MXQ_KERNEL_NAME_SIZE] = "";
  MXQ_TRY(mxq_kernel_id_name(id, name, sizeof name));
  const struct mxq_set_row *row = search(context, id, arch, &set, &why);
  MXQ_FAIL_IF(row && why, MXQ_NOT_PREBUILT, "%s for arch %s is in a registered set, but %s; %s",
              name, arch->name, why, reason);
  MXQ_FAIL(MXQ_NOT_PREBUILT,
           "%s for arch %s is in no %s, and %s. Have arch %s among the set's archs, and the "
           "manifest line to add: %.*s",
           name, arch->name, places, reason, arch->name, (int)strcspn(name, "."), name);
}

void mxq_aot_free(struct mxq_context *context) {
  struct mxq_set_link *link = atomic_load(&context->sets);
  while (link) {
    struct mxq_set_link *next = atomic_load(&link->next);
    mxq_free(&context->allocator, link);
    link = next;
  }
}

enum mxq_status mxq_context_add_kernels(struct mxq_context *context,
                                        const struct mxq_kernel_set *set) {
  MXQ_FAIL_IF(!context || !set, MXQ_INVALID_ARGUMENT,
              "mxq_context_add_kernels was given NULL for its %s", context ? "set" : "context");
  MXQ_TRY(check(set));
  struct mxq_set_link *made = mxq_allocate_zeroed(&context->allocator, sizeof *made);
  MXQ_FAIL_IF(!made, MXQ_OUT_OF_MEMORY, "no memory for a registered set");
  made->set = set;
  mxq_guard_lock();
  _Atomic(struct mxq_set_link *) *end = &context->sets;
  while (atomic_load(end)) end = &atomic_load(end)->next;
  atomic_store_explicit(end, made, memory_order_release);
  mxq_guard_unlock();
  return MXQ_OK;
}
