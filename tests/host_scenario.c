/* SPDX-License-Identifier: MIT */
#include "host_scenario.h"

#include <string.h>

#include "status.h"

enum mxq_status scenario_make(struct scenario *scenario, int with_tensors) {
  memset(scenario, 0, sizeof *scenario);
  scenario->shape = mxq_shape_dense(2, 64, 64);
  MXQ_TRY(mxq_variant_parse("quantize_bf16_e4m3_b32_rceil_colt_lin", &scenario->variant));
  if (!with_tensors) return MXQ_OK;
  MXQ_TRY(device_run_make(0, &scenario->variant, &scenario->shape, 7, &scenario->run));
  return mxq_device_stream_create(0, &scenario->stream);
}

void scenario_free(struct scenario *scenario) {
  device_run_free(&scenario->run);
  mxq_device_stream_destroy(0, scenario->stream);
}

/* What a call must leave alone when it fails. */
static int mark;
#define MARKED ((void *)&mark)

static enum mxq_status note(struct scenario *scenario, const char *call, enum mxq_status status) {
  if (status != MXQ_OK) scenario->failed = call;
  return status;
}
#define STEP(call) MXQ_TRY(note(scenario, #call, call))

static enum mxq_status use_plan(struct scenario *scenario, struct mxq_plan *plan) {
  STEP(mxq_plan_launch(plan, scenario->stream));
  STEP(mxq_plan_launch_at(plan, &scenario->run.at, scenario->stream));
  return MXQ_OK;
}

static enum mxq_status use_kernel(struct scenario *scenario, struct mxq_kernel *kernel) {
  struct mxq_plan *plan = MARKED;
  enum mxq_status status =
      note(scenario, "mxq_plan_create",
           mxq_plan_create(kernel, &scenario->shape, &scenario->run.at, &plan));
  if (status != MXQ_OK) return plan == MARKED ? status : MXQ_INTERNAL;
  status = use_plan(scenario, plan);
  mxq_plan_destroy(plan);
  return status;
}

static enum mxq_status use_context(struct scenario *scenario, struct mxq_context *context) {
  const struct mxq_variant *variant = &scenario->variant;
  struct mxq_kernel *kernel = MARKED;
  STEP(mxq_supported(context, variant, &scenario->shape, 0));
  STEP(mxq_prepare(context, "90a", variant, 1));
  const enum mxq_status got =
      note(scenario, "mxq_kernel_get", mxq_kernel_get(context, variant, 0, &kernel));
  if (got != MXQ_OK) return kernel == MARKED ? got : MXQ_INTERNAL;
  const enum mxq_status status = use_kernel(scenario, kernel);
  mxq_kernel_release(kernel);
  MXQ_TRY(status);
  STEP(mxq_run(context, variant, &scenario->shape, &scenario->run.at, MXQ_DEVICE_AUTO,
               scenario->stream));
  STEP(mxq_run(context, variant, &scenario->shape, &scenario->run.want, MXQ_DEVICE_CPU, NULL));
  return MXQ_OK;
}

enum mxq_status scenario_run(struct scenario *scenario, const struct mxq_config *config) {
  struct mxq_context *context = MARKED;
  scenario->failed = NULL;
  const enum mxq_status created =
      note(scenario, "mxq_context_create", mxq_context_create(config, &context));
  if (created != MXQ_OK) return context == MARKED ? created : MXQ_INTERNAL;
  const enum mxq_status status = use_context(scenario, context);
  mxq_context_destroy(context);
  return status;
}

int scenario_is_right(struct scenario *scenario) {
  uint64_t faults = 1;
  if (device_run_faults(&scenario->variant, &scenario->run, &faults) != MXQ_OK) return 0;
  for (int part = 0; part < 2; part++) {
    memset(scenario->run.actual.out[part].data, 0xFF, scenario->run.actual.out[part].size);
    memset(scenario->run.actual.scale[part].data, 0xFF, scenario->run.actual.scale[part].size);
  }
  return faults == 0 &&
         device_tensors_upload(&scenario->run.on_device, &scenario->run.actual) == MXQ_OK;
}
