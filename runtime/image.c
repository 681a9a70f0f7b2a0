/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <string.h>

#include "aot.h"
#include "build.h"
#include "context.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* An image and those that it took the place of; all stay readable until the context goes. */
struct owned {
  struct mxq_image image;
  struct owned *older;
};

struct mxq_image_slot {
  struct mxq_image_slot *next;
  struct mxq_kernel_id kernel;
  const struct mxq_arch *arch;
  _Atomic(struct owned *) owned; /* NULL until it was made */
  struct mxq_claim claim;        /* for making it */
};

typedef _Atomic(struct mxq_image_slot *) bucket;

static bucket *bucket_of(struct mxq_context *context, const struct mxq_kernel_id *id,
                         const struct mxq_arch *arch) {
  const uint64_t hash = XXH3_64bits_withSeed(id, sizeof *id, arch->number);
  return &context->images[hash % MXQ_BUCKETS];
}

static struct mxq_image_slot *find(bucket *head, const struct mxq_kernel_id *id,
                                   const struct mxq_arch *arch) {
  struct mxq_image_slot *slot = atomic_load_explicit(head, memory_order_acquire);
  while (slot && (slot->arch != arch || memcmp(&slot->kernel, id, sizeof *id) != 0))
    slot = slot->next;
  return slot;
}

/* The slot of a kernel, made if there is none. */
static struct mxq_image_slot *slot_of(struct mxq_context *context, const struct mxq_kernel_id *id,
                                      const struct mxq_arch *arch) {
  bucket *head = bucket_of(context, id, arch);
  struct mxq_image_slot *slot = find(head, id, arch);
  if (slot) return slot;
  struct mxq_image_slot *made = mxq_allocate_zeroed(&context->allocator, sizeof *made);
  if (!made) return NULL;
  made->kernel = *id;
  made->arch = arch;
  mxq_guard_lock();
  slot = find(head, id, arch);
  if (!slot) {
    made->next = atomic_load_explicit(head, memory_order_relaxed);
    atomic_store_explicit(head, made, memory_order_release);
  }
  mxq_guard_unlock();
  if (!slot) return made;
  mxq_free(&context->allocator, made);
  return slot;
}

static enum mxq_status find_or_build(struct mxq_context *context, const struct mxq_image_slot *slot,
                                     enum mxq_build_from from, struct mxq_image *image) {
  if (from == MXQ_BUILD_ANY && mxq_aot_find(context, &slot->kernel, slot->arch, image))
    return MXQ_OK;
  return mxq_build(context, &slot->kernel, slot->arch, from, image);
}

/* Makes the image of a slot that still holds `old`; whatever it holds afterwards is the result. One
 * thread makes it, those that come meanwhile wait for it and take it; if it fails, each tries for
 * itself. */
static enum mxq_status renew(struct mxq_context *context, struct mxq_image_slot *slot,
                             struct owned *old, enum mxq_build_from from, int *made) {
  enum mxq_status status = MXQ_OK;
  struct owned *fresh = mxq_allocate_zeroed(&context->allocator, sizeof *fresh);
  MXQ_FAIL_IF(!fresh, MXQ_OUT_OF_MEMORY, "no memory for a kernel's image");
  mxq_guard_lock();
  mxq_guard_claim(&slot->claim);
  *made = atomic_load_explicit(&slot->owned, memory_order_relaxed) == old;
  if (*made) {
    mxq_guard_unlock();
    status = find_or_build(context, slot, from, &fresh->image);
    mxq_guard_lock();
  }
  if (*made && status == MXQ_OK) {
    fresh->older = old;
    atomic_store_explicit(&slot->owned, fresh, memory_order_release);
    fresh = NULL;
  }
  mxq_guard_release(&slot->claim);
  mxq_guard_unlock();
  mxq_free(&context->allocator, fresh);
  return status;
}

const char *mxq_origin_name(enum mxq_origin origin) {
  static const char *const names[] = {"aot", "memory", "disk", "compiled"};
  return (size_t)origin < sizeof names / sizeof names[0] ? names[origin] : "unknown";
}

enum mxq_status mxq_image_get(struct mxq_context *context, const struct mxq_kernel_id *id,
                              const struct mxq_arch *arch, const struct mxq_image **image,
                              enum mxq_origin *origin) {
  int made = 0;
  struct mxq_image_slot *slot = slot_of(context, id, arch);
  MXQ_FAIL_IF(!slot, MXQ_OUT_OF_MEMORY, "no memory for a kernel's slot");
  struct owned *owned = atomic_load_explicit(&slot->owned, memory_order_acquire);
  if (!owned) {
    MXQ_TRY(renew(context, slot, NULL, MXQ_BUILD_ANY, &made));
    owned = atomic_load_explicit(&slot->owned, memory_order_acquire);
  }
  *image = &owned->image;
  if (origin) *origin = made ? owned->image.origin : MXQ_ORIGIN_MEMORY;
  return MXQ_OK;
}

enum mxq_status mxq_image_renew(struct mxq_context *context, const struct mxq_image **image) {
  int made = 0;
  struct mxq_image_slot *slot = slot_of(context, &(*image)->kernel, (*image)->arch);
  MXQ_FAIL_IF(!slot, MXQ_OUT_OF_MEMORY, "no memory for a kernel's slot");
  struct owned *owned = atomic_load_explicit(&slot->owned, memory_order_acquire);
  if (owned && &owned->image == *image) {
    MXQ_TRY(renew(context, slot, owned, MXQ_BUILD_FRESH, &made));
    owned = atomic_load_explicit(&slot->owned, memory_order_acquire);
  }
  *image = &owned->image;
  return MXQ_OK;
}

static void free_slot(const struct mxq_allocator *allocator, struct mxq_image_slot *slot) {
  struct owned *owned = atomic_load(&slot->owned);
  while (owned) {
    struct owned *older = owned->older;
    if (owned->image.origin != MXQ_ORIGIN_AOT) /* those lie in their sets */
      mxq_free(allocator, (void *)(uintptr_t)owned->image.cubin);
    mxq_free(allocator, owned);
    owned = older;
  }
  mxq_free(allocator, slot);
}

void mxq_image_free_all(struct mxq_context *context) {
  for (unsigned i = 0; i < MXQ_BUCKETS; ++i) {
    struct mxq_image_slot *slot = atomic_load(&context->images[i]);
    while (slot) {
      struct mxq_image_slot *next = slot->next;
      free_slot(&context->allocator, slot);
      slot = next;
    }
  }
}
