/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include <string.h>

#include "context.h"
#include "kernel_load.h"
#include "plan_as.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

typedef _Atomic(struct mxq_kernel *) bucket;

/* All devices of a variant share a bucket, so that they can share a library. */
static bucket *bucket_of(struct mxq_context *context, const struct mxq_variant *variant) {
  return &context->kernels[XXH3_64bits(variant, sizeof *variant) % MXQ_BUCKETS];
}

static struct mxq_kernel *find(bucket *head, const struct mxq_variant *variant, int device) {
  struct mxq_kernel *kernel = atomic_load_explicit(head, memory_order_acquire);
  while (kernel &&
         (kernel->device != device || memcmp(&kernel->variant, variant, sizeof *variant) != 0))
    kernel = kernel->next;
  return kernel;
}

static enum mxq_status describe_device(struct mxq_kernel *kernel) {
  CUdevice device = 0;
  int major = 0, minor = 0, multiprocessors = 0, l2_bytes = 0;
  MXQ_TRY(mxq_driver_get(&kernel->driver));
  MXQ_TRY(mxq_driver_device(kernel->driver, kernel->device, &device));
  MXQ_CUDA_TRY(kernel->driver,
               cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  MXQ_CUDA_TRY(kernel->driver,
               cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  MXQ_CUDA_TRY(
      kernel->driver,
      cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  MXQ_CUDA_TRY(kernel->driver,
               cuDeviceGetAttribute(&l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device));
  kernel->capacity = (struct mxq_capacity){(uint64_t)l2_bytes, (unsigned)multiprocessors};
  if (mxq_arch_of_device(major, minor, &kernel->arch) != MXQ_OK)
    return mxq_status_set(MXQ_UNSUPPORTED, "%s", mxq_last_error());
  mxq_tune_choose_all(&kernel->variant, kernel->arch, &kernel->choices);
  return MXQ_OK;
}

static enum mxq_status make(struct mxq_context *context, const struct mxq_variant *variant,
                            int device, struct mxq_kernel **kernel) {
  struct mxq_kernel filled = {.context = context, .variant = *variant, .device = device};
  MXQ_TRY(mxq_variant_check(variant));
  MXQ_FAIL_IF(device < MXQ_DEVICE_CPU, MXQ_INVALID_ARGUMENT,
              "the device is %d; allowed: 0 and up, or MXQ_DEVICE_CPU (%d); MXQ_DEVICE_AUTO (%d) "
              "is for mxq_run",
              device, MXQ_DEVICE_CPU, MXQ_DEVICE_AUTO);
  if (device != MXQ_DEVICE_CPU) MXQ_TRY(describe_device(&filled));
  *kernel = mxq_allocate_zeroed(&context->allocator, sizeof **kernel);
  MXQ_FAIL_IF(!*kernel, MXQ_OUT_OF_MEMORY, "no memory for a kernel");
  **kernel = filled;
  return MXQ_OK;
}

/* On any device, or the CPU. */
static int is_used(bucket *head, const struct mxq_variant *variant) {
  const struct mxq_kernel *kernel = atomic_load(head);
  while (kernel && memcmp(&kernel->variant, variant, sizeof *variant) != 0) kernel = kernel->next;
  return kernel != NULL;
}

/* Puts `made` into the table, or frees it and returns the one that another thread put there. */
static struct mxq_kernel *publish(struct mxq_context *context, bucket *head,
                                  struct mxq_kernel *made) {
  mxq_guard_lock();
  struct mxq_kernel *kernel = find(head, &made->variant, made->device);
  const int record = !is_used(head, &made->variant);
  if (!kernel) {
    made->next = atomic_load_explicit(head, memory_order_relaxed);
    atomic_store_explicit(head, made, memory_order_release);
  }
  mxq_guard_unlock();
  if (record) mxq_context_record(context, &made->variant);
  if (!kernel) return made;
  mxq_free(&context->allocator, made);
  return kernel;
}

enum mxq_status mxq_kernel_get(struct mxq_context *context, const struct mxq_variant *variant,
                               int device, struct mxq_kernel **kernel) {
  MXQ_FAIL_IF(!context || !variant || !kernel, MXQ_INVALID_ARGUMENT,
              "mxq_kernel_get was given NULL for its %s",
              !context   ? "context"
              : !variant ? "variant"
                         : "result");
  bucket *head = bucket_of(context, variant);
  struct mxq_kernel *found = find(head, variant, device);
  if (found && found->driver && mxq_driver_is_forked()) return mxq_driver_forked();
  if (!found) {
    MXQ_TRY(make(context, variant, device, &found));
    found = publish(context, head, found);
  }
  *kernel = mxq_kernel_retain(found);
  return MXQ_OK;
}

/* The table keeps the object until the context goes: counting only tells who forgot to release. */
struct mxq_kernel *mxq_kernel_retain(struct mxq_kernel *kernel) {
  if (kernel) atomic_fetch_add_explicit(&kernel->references, 1, memory_order_relaxed);
  return kernel;
}

void mxq_kernel_release(struct mxq_kernel *kernel) {
  if (kernel) atomic_fetch_sub_explicit(&kernel->references, 1, memory_order_relaxed);
}

void mxq_kernel_set_arch(struct mxq_kernel *kernel, const struct mxq_arch *arch) {
  kernel->arch = arch;
  mxq_tune_choose_all(&kernel->variant, arch, &kernel->choices);
}

void mxq_kernel_free_all(struct mxq_context *context) {
  for (unsigned i = 0; i < MXQ_BUCKETS; ++i) {
    struct mxq_kernel *kernel = atomic_load(&context->kernels[i]);
    while (kernel) {
      struct mxq_kernel *next = kernel->next;
      mxq_kernel_unload(kernel);
      mxq_free(&context->allocator, kernel);
      kernel = next;
    }
  }
}

const struct mxq_kernel *mxq_kernel_first(struct mxq_context *context,
                                          const struct mxq_variant *variant) {
  return atomic_load_explicit(bucket_of(context, variant), memory_order_acquire);
}
