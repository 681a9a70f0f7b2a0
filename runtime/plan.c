/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <inttypes.h>
#include <string.h>

#include "axes.h"
#include "checked.h"
#include "context.h"
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
  if (tensor->form == MXQ_FORM_TILE) {
    MXQ_TRY(
        mxq_map_encode(driver, &tensor->in, plan->pointers.in, "input map", &plan->args.tile.in));
    MXQ_TRY(mxq_map_encode(driver, &tensor->out, plan->pointers.out[0], "output map",
                           &plan->args.tile.out));
  }
  mxq_kernel_args_fill(tensor, &plan->args);
  mxq_kernel_args_point(tensor->form, &plan->pointers, &plan->args);
  return mxq_kernel_function(plan->kernel, &tensor->kernel, &plan->function);
}

static enum mxq_status plan_tensor(struct mxq_plan *plan, const struct mxq_kernel_id *id) {
  const struct mxq_kernel *kernel = plan->kernel;
  if (!id)
    return mxq_plan_select(&kernel->variant, kernel->arch, &plan->shape, &plan->pointers,
                           &plan->tensor);
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

static enum mxq_status try_family(const struct mxq_variant *variant, enum mxq_family family,
                                  const struct mxq_arch *arch, const struct mxq_shape *shape,
                                  const struct mxq_pointers *pointers,
                                  struct mxq_tensor_plan *tensor) {
  struct mxq_kernel_id id;
  MXQ_TRY(mxq_kernel_id_choose(variant, family, arch, &id));
  MXQ_TRY(mxq_tensor_plan_make(&id, arch, shape, tensor));
  return pointers && tensor->grid ? mxq_plan_check_pointers(tensor, pointers) : MXQ_OK;
}

enum mxq_status mxq_plan_select(const struct mxq_variant *variant, const struct mxq_arch *arch,
                                const struct mxq_shape *shape, const struct mxq_pointers *pointers,
                                struct mxq_tensor_plan *tensor) {
  const struct mxq_family_facts *family;
  enum mxq_status status = MXQ_UNSUPPORTED;
  for (size_t i = 0; status == MXQ_UNSUPPORTED && (family = mxq_family_at(i)); i++)
    status = try_family(variant, family->family, arch, shape, pointers, tensor);
  return status;
}

enum mxq_status mxq_plan_check_pointers(const struct mxq_tensor_plan *tensor,
                                        const struct mxq_pointers *pointers) {
  const uintptr_t scale_bytes = mxq_mode_facts(tensor->kernel.variant.mode)->scale_bits / 8;
  const uintptr_t scales = tensor->geometry.columns_per_thread * scale_bytes;
  const struct {
    const char *name;
    uintptr_t address, alignment;
    const char *rule;
  } rows[] = {
      {"in", (uintptr_t)pointers->in, base_alignment, "bases for fast kernels"},
      {"out[0]", (uintptr_t)pointers->out[0], base_alignment, "bases for fast kernels"},
      {"scale[0]", (uintptr_t)pointers->scale[0], scales, "the kernel's stores of scales"},
  };
  if (tensor->form == MXQ_FORM_ANY) return MXQ_OK;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    MXQ_FAIL_IF(rows[i].address % rows[i].alignment != 0, MXQ_UNSUPPORTED,
                "%s is 0x%" PRIxPTR "; %s are aligned to %" PRIuPTR " bytes", rows[i].name,
                rows[i].address, rows[i].rule, rows[i].alignment);
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
