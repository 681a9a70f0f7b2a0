/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <inttypes.h>
#include <string.h>

#include "axes.h"
#include "checked.h"
#include "context.h"
#include "dequant_plan.h"
#include "map_encode.h"
#include "pointers.h"
#include "schedule.h"
#include "shape.h"
#include "status.h"

enum { base_alignment = 16 }; /* globalAddress of cuTensorMapEncodeTiled */

/* With a context of the device current. */
static enum mxq_status encode_and_load(struct mxq_plan *plan) {
  const struct mxq_driver *driver = plan->kernel->driver;
  const struct mxq_tensor_plan *tensor = &plan->tensor;
  if (tensor->in.rank) {
    MXQ_TRY(
        mxq_map_encode(driver, &tensor->in, plan->pointers.in, "input map", &plan->args.tile.in));
    for (unsigned part = 0; part < 2; part++)
      if (tensor->out[part].rank)
        MXQ_TRY(mxq_map_encode(driver, &tensor->out[part], plan->pointers.out[part], "output map",
                               mxq_kernel_args_out_map(tensor, part, &plan->args)));
  }
  mxq_kernel_args_fill(tensor, &plan->args);
  mxq_kernel_args_point(tensor, &plan->pointers, &plan->args);
  return mxq_kernel_function(plan->kernel, &tensor->kernel, &plan->function);
}

static enum mxq_status plan_tensor(struct mxq_plan *plan, const struct mxq_kernel_id *id) {
  const struct mxq_kernel *kernel = plan->kernel;
  if (!id)
    return mxq_plan_select_of(kernel, &plan->bytes, &plan->shape, &plan->pointers, &plan->tensor);
  MXQ_TRY(mxq_tensor_plan_make(id, kernel->arch, &plan->shape, &plan->tensor));
  return plan->tensor.grid ? mxq_plan_check_pointers(&plan->tensor, &plan->pointers) : MXQ_OK;
}

static enum mxq_status make_on_device(struct mxq_plan *plan, const struct mxq_kernel_id *id) {
  struct mxq_kernel *kernel = plan->kernel;
  struct mxq_device_scope scope;
  MXQ_TRY(plan_tensor(plan, id));
  if (plan->tensor.grid == 0) return MXQ_OK;
  MXQ_TRY(mxq_driver_device(kernel->driver, kernel->device, &plan->device));
  MXQ_TRY(mxq_device_enter(kernel->driver, kernel->device, &scope));
  enum mxq_status status =
      mxq_pointers_on_device(kernel->driver, &plan->bytes, &plan->pointers, kernel->device);
  if (status == MXQ_OK) status = encode_and_load(plan);
  mxq_device_leave(&scope);
  return status;
}

static struct mxq_plan *allocate(const struct mxq_allocator *allocator) {
  const uintptr_t alignment = _Alignof(struct mxq_plan);
  void *memory = mxq_allocate_zeroed(allocator, sizeof(struct mxq_plan) + alignment);
  if (!memory) return NULL;
  struct mxq_plan *plan = (struct mxq_plan *)mxq_round_up((uintptr_t)memory, alignment);
  plan->memory = memory;
  return plan;
}

enum mxq_size_class mxq_plan_size(const struct mxq_variant *variant,
                                  const struct mxq_byte_counts *bytes,
                                  const struct mxq_capacity *capacity) {
  const struct mxq_traits traits = mxq_traits_of(variant);
  /* What is moved, not what the wide tensor spans: its rows may lie apart or on top of each other.
   */
  const uint64_t codes = traits.dequantize ? bytes->in : bytes->out[0];
  const unsigned wide_bits = traits.dequantize ? traits.out_bits : traits.in_bits;
  const unsigned code_bits = traits.dequantize ? traits.in_bits : traits.out_bits;
  if (codes > UINT64_MAX / 64) return MXQ_SIZE_LARGE;
  const uint64_t moved = codes + codes * (wide_bits / code_bits) + bytes->in_scale + bytes->out[1] +
                         bytes->scale[0] + bytes->scale[1];
  return mxq_size_class_of(moved, capacity);
}

static enum mxq_status plan_kernel(const struct mxq_kernel_id *id, const struct mxq_arch *arch,
                                   const struct mxq_shape *shape,
                                   const struct mxq_pointers *pointers,
                                   struct mxq_tensor_plan *tensor) {
  MXQ_TRY(mxq_tensor_plan_fill(id, arch, shape, tensor));
  return pointers && tensor->grid ? mxq_plan_check_pointers(tensor, pointers) : MXQ_OK;
}

enum mxq_status mxq_plan_try(const struct mxq_variant *variant, enum mxq_family family,
                             const struct mxq_arch *arch, enum mxq_size_class size,
                             const struct mxq_shape *shape, const struct mxq_pointers *pointers,
                             struct mxq_tensor_plan *tensor) {
  struct mxq_kernel_id id;
  MXQ_TRY(mxq_tune_choose(variant, family, arch, size, &id));
  return plan_kernel(&id, arch, shape, pointers, tensor);
}

/* The first family that takes it. `choices`: of the variant on the arch; NULL: to be made. */
static enum mxq_status select_family(const struct mxq_variant *variant, const struct mxq_arch *arch,
                                     const struct mxq_choices *choices, enum mxq_size_class size,
                                     const struct mxq_shape *shape,
                                     const struct mxq_pointers *pointers,
                                     struct mxq_tensor_plan *tensor) {
  const struct mxq_family_facts *family;
  struct mxq_kept_error kept;
  enum mxq_status status = MXQ_UNSUPPORTED;
  mxq_error_keep(&kept);
  for (size_t i = 0; status == MXQ_UNSUPPORTED && (family = mxq_family_at(i)); i++) {
    const struct mxq_kernel_id *known = choices ? &choices->kernels[i][size] : NULL;
    /* Where there is none, mxq_plan_try says why. */
    status = known && known->tile_n
                 ? plan_kernel(known, arch, shape, pointers, tensor)
                 : mxq_plan_try(variant, family->family, arch, size, shape, pointers, tensor);
  }
  if (status == MXQ_OK) mxq_error_restore(&kept);
  return status;
}

enum mxq_status mxq_plan_select(const struct mxq_variant *variant, const struct mxq_arch *arch,
                                const struct mxq_capacity *capacity, const struct mxq_shape *shape,
                                const struct mxq_pointers *pointers,
                                struct mxq_tensor_plan *tensor) {
  const struct mxq_capacity usual = mxq_capacity_of(arch);
  struct mxq_byte_counts bytes;
  MXQ_TRY(mxq_shape_measure(variant, shape, &bytes));
  const enum mxq_size_class size = mxq_plan_size(variant, &bytes, capacity ? capacity : &usual);
  return select_family(variant, arch, NULL, size, shape, pointers, tensor);
}

enum mxq_status mxq_plan_select_of(const struct mxq_kernel *kernel,
                                   const struct mxq_byte_counts *bytes,
                                   const struct mxq_shape *shape,
                                   const struct mxq_pointers *pointers,
                                   struct mxq_tensor_plan *tensor) {
  const enum mxq_size_class size = mxq_plan_size(&kernel->variant, bytes, &kernel->capacity);
  return select_family(&kernel->variant, kernel->arch, &kernel->choices, size, shape, pointers,
                       tensor);
}

static enum mxq_status check_address(const char *name, unsigned part, const void *address,
                                     uintptr_t alignment, const char *rule) {
  MXQ_FAIL_IF((uintptr_t)address % alignment != 0, MXQ_UNSUPPORTED,
              "%s[%u] is 0x%" PRIxPTR "; %s are aligned to %" PRIuPTR " bytes", name, part,
              (uintptr_t)address, rule, alignment);
  return MXQ_OK;
}

enum mxq_status mxq_plan_check_pointers(const struct mxq_tensor_plan *tensor,
                                        const struct mxq_pointers *pointers) {
  const struct mxq_traits traits = mxq_traits_of(&tensor->kernel.variant);
  const uintptr_t scale_bytes = mxq_mode_facts(tensor->kernel.variant.mode)->scale_bits / 8;
  /* Packed scales leave by words, neighbours of columns in one access. */
  const uintptr_t scales =
      traits.scale_tiles ? 4 : tensor->geometry.columns_per_thread * scale_bytes;
  const char *const bases = "bases for fast kernels";
  if (tensor->kernel.family == MXQ_FAMILY_ANY) return MXQ_OK;
  if (tensor->kernel.variant.op == MXQ_OP_DEQUANTIZE) return mxq_dequant_check_pointers(pointers);
  MXQ_FAIL_IF((uintptr_t)pointers->in % base_alignment != 0, MXQ_UNSUPPORTED,
              "in is 0x%" PRIxPTR "; %s are aligned to %d bytes", (uintptr_t)pointers->in, bases,
              base_alignment);
  for (unsigned part = 0; part < 2; part++) {
    MXQ_TRY(check_address("out", part, pointers->out[part], base_alignment, bases));
    MXQ_TRY(check_address("scale", part, pointers->scale[part], scales,
                          "the kernel's stores of scales"));
  }
  return MXQ_OK;
}

enum mxq_status mxq_plan_create_as(struct mxq_kernel *kernel, const struct mxq_kernel_id *id,
                                   const struct mxq_shape *shape,
                                   const struct mxq_pointers *pointers, struct mxq_plan **plan) {
  struct mxq_byte_counts bytes;
  MXQ_FAIL_IF(!kernel || !plan, MXQ_INVALID_ARGUMENT, "%s is NULL; mxq_plan_create needs it",
              kernel ? "plan" : "kernel");
  MXQ_TRY(mxq_shape_measure(&kernel->variant, shape, &bytes));
  MXQ_TRY(mxq_pointers_check(&kernel->variant, &bytes, pointers));
  struct mxq_plan *made = allocate(&kernel->context->allocator);
  MXQ_FAIL_IF(!made, MXQ_OUT_OF_MEMORY, "no memory for a plan of %zu bytes", sizeof *made);
  made->kernel = mxq_kernel_retain(kernel);
  made->shape = *shape;
  made->bytes = bytes;
  made->pointers = *pointers;
  const enum mxq_status status =
      kernel->device == MXQ_DEVICE_CPU ? MXQ_OK : make_on_device(made, id);
  if (status != MXQ_OK) {
    mxq_plan_destroy(made);
    return status;
  }
  *plan = made;
  return MXQ_OK;
}

enum mxq_status mxq_plan_create(struct mxq_kernel *kernel, const struct mxq_shape *shape,
                                const struct mxq_pointers *pointers, struct mxq_plan **plan) {
  return mxq_plan_create_as(kernel, NULL, shape, pointers, plan);
}

const struct mxq_kernel_id *mxq_plan_kernel(const struct mxq_plan *plan) {
  return &plan->tensor.kernel;
}

void mxq_plan_destroy(struct mxq_plan *plan) {
  if (!plan) return;
  struct mxq_kernel *kernel = plan->kernel;
  mxq_free(&kernel->context->allocator, plan->memory);
  mxq_kernel_release(kernel);
}
