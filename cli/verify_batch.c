/* SPDX-License-Identifier: MIT
 *
 * Launches that are made at once: one copy to the device, one back, one comparison.
 */
#include "verify_batch.h"

#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cpu.h"
#include "plan_as.h"
#include "schedule.h"
#include "status.h"
#include "target.h"
#include "text.h"
#include "verify_apart.h"

enum { ALIGNMENT = 256 };

/* ---- Memory ------------------------------------------------------------------------------- */

void verify_runner_release(struct verify_runner *runner) {
  free(runner->expected);
  free(runner->actual);
  mxq_device_free(runner->device, runner->there);
  runner->expected = runner->actual = NULL;
  runner->there = NULL;
  runner->bytes = 0;
}

enum mxq_status verify_runner_reserve(struct verify_runner *runner, uint64_t bytes) {
  if (bytes <= runner->bytes) return MXQ_OK;
  verify_runner_release(runner);
  runner->expected = aligned_alloc(ALIGNMENT, (size_t)bytes);
  runner->actual = aligned_alloc(ALIGNMENT, (size_t)bytes);
  enum mxq_status status = MXQ_OK;
  if (!runner->expected || !runner->actual)
    status = mxq_status_set(MXQ_OUT_OF_MEMORY, "no memory for tensors of %llu bytes",
                            (unsigned long long)bytes);
  if (status == MXQ_OK) status = mxq_device_allocate(runner->device, (size_t)bytes, &runner->there);
  if (status == MXQ_OK)
    runner->bytes = bytes;
  else
    verify_runner_release(runner);
  return status;
}

/* ---- One batch ---------------------------------------------------------------------------- */

static void fill_hard(const struct check_region *region, uint64_t seed, unsigned char *base) {
  check_region_fill(region, seed, base);
}

static void fill_all(const struct verify_runner *runner, const struct verify_batch *batch) {
  for (size_t i = 0; i < batch->count; i++) {
    const struct verify_slot *slot = &batch->slots[i];
    slot->fill(&slot->region, slot->seed, runner->expected + slot->offset);
  }
}

static struct mxq_pointers pointers_of(const struct verify_slot *slot, void *base) {
  return check_region_pointers(&slot->region, (unsigned char *)base + slot->offset);
}

/* On the device. */
static struct mxq_pointers there_of(const struct verify_runner *runner,
                                    const struct verify_slot *slot) {
  void *at[CHECK_TENSORS];
  for (int i = 0; i < CHECK_TENSORS; i++)
    at[i] = i && !slot->region.sizes[i]
                ? NULL
                : verify_device_at(runner, slot->offset + slot->region.offsets[i]);
  return (struct mxq_pointers){at[0], at[1], {at[2], at[3]}, {at[4], at[5]}};
}

/* Whether a tensor has to hold what it is filled with before the launch: an input; all where
 * nothing is launched; an output with gaps between its rows; codes that leave through the copy
 * engine, whose stores initcheck does not count as such (seen with version 2025.3.1). */
static int is_uploaded(const struct verify_slot *slot, enum mxq_form form, int tensor) {
  return tensor < 2 || slot->idle || slot->region.variant.op == MXQ_OP_DEQUANTIZE ||
         (tensor < 4 && form == MXQ_FORM_TILE);
}

static enum mxq_status upload_apart(struct verify_runner *runner, const struct verify_batch *batch,
                                    const struct verify_task *task) {
  const enum mxq_form form = mxq_form_facts(&task->id)->form;
  for (size_t i = 0; i < batch->count; i++)
    for (int tensor = 0; tensor < CHECK_TENSORS; tensor++) {
      const struct verify_slot *slot = &batch->slots[i];
      MXQ_TRY(verify_apart_add(runner, slot->offset + slot->region.offsets[tensor],
                               slot->region.sizes[tensor], is_uploaded(slot, form, tensor)));
    }
  return MXQ_OK;
}

/* Launches a slot through a plan of its own addresses, or of those of the slot before it. */
static enum mxq_status launch(const struct verify_runner *runner, const struct verify_task *task,
                              struct mxq_kernel *kernel, const struct verify_slot *slot,
                              const struct verify_slot *home) {
  struct mxq_plan *plan = NULL;
  const struct mxq_pointers own = there_of(runner, slot);
  const struct mxq_pointers planned = there_of(runner, home ? home : slot);
  MXQ_TRY(mxq_plan_create_as(kernel, &task->id, &slot->region.shape, &planned, &plan));
  const enum mxq_status status =
      home ? mxq_plan_launch_at(plan, &own, runner->stream) : mxq_plan_launch(plan, runner->stream);
  mxq_plan_destroy(plan);
  return status;
}

static enum mxq_status launch_all(const struct verify_runner *runner,
                                  const struct verify_batch *batch, struct verify_task *task,
                                  struct mxq_kernel *kernel) {
  for (size_t i = 0; i < batch->count; i++) {
    const struct verify_slot *slot = &batch->slots[i];
    const struct verify_slot *home = i && slot[-1].idle ? slot - 1 : NULL;
    if (slot->idle) continue;
    const enum mxq_status status = launch(runner, task, kernel, slot, home);
    if (status == MXQ_OK) continue;
    free(task->why);
    task->why = text_format("case \"%s\": %s", slot->what, mxq_last_error());
    return status;
  }
  return MXQ_OK;
}

static void compute_all(const struct verify_runner *runner, const struct verify_batch *batch) {
  for (size_t i = 0; i < batch->count; i++) {
    const struct verify_slot *slot = &batch->slots[i];
    const struct mxq_pointers here = pointers_of(slot, runner->expected);
    if (!slot->idle) mxq_cpu_run(&slot->region.variant, &slot->region.shape, &here);
  }
}

void verify_detail_add(const struct verify_detail *found,
                       const struct check_differences *differences, struct verify_task *task) {
  const struct mxq_shape *shape = found->shape;
  const uint64_t lengths[] = {(uint64_t)shape->e, (uint64_t)shape->n, (uint64_t)shape->k};
  const uint64_t strides[] = {(uint64_t)shape->stride_e, (uint64_t)shape->stride_n};
  cJSON *detail = json_object(), *first = json_array();
  char text[CHECK_TEXT_SIZE];
  json_add_string(detail, "case", found->what);
  json_add_numbers(detail, "shape", lengths, 3);
  json_add_numbers(detail, "strides", strides, 2);
  json_add_integer(detail, "seed", (int64_t)found->seed);
  json_add_integer(detail, "differences", (int64_t)differences->count);
  for (size_t i = 0; i < check_shown(differences); i++) {
    check_difference_text(&differences->shown[i], text);
    json_add_string(first, NULL, text);
  }
  json_add(detail, "first", first);
  if (!task->details) task->details = json_array();
  json_add(task->details, NULL, detail);
}

static void compare_all(const struct verify_runner *runner, const struct verify_batch *batch,
                        struct verify_task *task) {
  for (size_t i = 0; i < batch->count; i++) {
    const struct verify_slot *slot = &batch->slots[i];
    struct check_differences differences = {0};
    check_region_compare(&slot->region, runner->expected + slot->offset,
                         runner->actual + slot->offset, &differences);
    const struct verify_detail detail = {slot->what, &slot->region.shape, slot->seed};
    if (differences.count) verify_detail_add(&detail, &differences, task);
  }
}

enum mxq_status verify_runner_context(struct verify_runner *runner, int narrow,
                                      struct mxq_context **context) {
  struct mxq_context **kept = &runner->contexts[narrow];
  if (!*kept) MXQ_TRY(target_context(&runner->arguments, kept));
  *context = *kept;
  return MXQ_OK;
}

static enum mxq_status get_kernel(struct verify_runner *runner, const struct verify_task *task,
                                  struct mxq_kernel **kernel) {
  struct mxq_context *context = NULL;
  MXQ_TRY(verify_runner_context(runner, task->narrow, &context));
  MXQ_TRY(mxq_kernel_get(context, &task->id.variant, runner->device, kernel));
  if (task->narrow) mxq_kernel_set_arch(*kernel, &runner->narrow);
  return MXQ_OK;
}

enum mxq_status verify_batch_add(struct verify_batch *batch, const struct verify_slot *slot) {
  MXQ_FAIL_IF(batch->count == VERIFY_SLOTS, MXQ_INTERNAL, "more than %d launches in a batch",
              VERIFY_SLOTS);
  struct verify_slot *added = &batch->slots[batch->count++];
  *added = *slot;
  added->offset = batch->bytes;
  if (!added->fill) added->fill = fill_hard;
  batch->bytes += added->region.bytes;
  return MXQ_OK;
}

enum mxq_status verify_batch_run(struct verify_runner *runner, const struct verify_batch *batch,
                                 struct verify_task *task) {
  const size_t bytes = (size_t)batch->bytes;
  struct mxq_kernel *kernel = NULL;
  MXQ_TRY(verify_runner_reserve(runner, batch->bytes));
  MXQ_TRY(get_kernel(runner, task, &kernel));
  fill_all(runner, batch);
  enum mxq_status status =
      task->light ? upload_apart(runner, batch, task)
                  : mxq_device_upload(runner->device, runner->there, runner->expected, bytes);
  if (status == MXQ_OK) status = launch_all(runner, batch, task, kernel);
  if (status == MXQ_OK) compute_all(runner, batch);
  if (status == MXQ_OK) status = mxq_device_stream_synchronize(runner->device, runner->stream);
  if (status == MXQ_OK)
    status = task->light
                 ? verify_apart_download(runner, bytes)
                 : mxq_device_download(runner->device, runner->actual, runner->there, bytes);
  if (status == MXQ_OK) compare_all(runner, batch, task);
  verify_apart_free(runner);
  mxq_kernel_release(kernel);
  return status;
}
