/* SPDX-License-Identifier: MIT */
#include "host_scenario.h"

#include <stdio.h>
#include <string.h>

#include "status.h"

/* (2, 64, 64) in colt, blocks of 32: 64 rows and 2 columns of scales are one tile a matrix. */
enum { MOVED_BYTES = 2 * 512 };

enum mxq_status scenario_make(struct scenario *scenario, int with_tensors) {
  memset(scenario, 0, sizeof *scenario);
  scenario->shape = mxq_shape_dense(2, 64, 64);
  MXQ_TRY(mxq_variant_parse("quantize_bf16_e4m3_b32_rceil_colt_lin", &scenario->variant));
  if (!with_tensors) return MXQ_OK;
  MXQ_TRY(device_run_make(0, &scenario->variant, &scenario->shape, 7, &scenario->run));
  MXQ_TRY(mxq_device_allocate(0, MOVED_BYTES, &scenario->moved));
  return mxq_device_stream_create(0, &scenario->stream);
}

void scenario_free(struct scenario *scenario) {
  mxq_device_free(0, scenario->moved);
  device_run_free(&scenario->run);
  mxq_device_stream_destroy(0, scenario->stream);
}

/* What a call must leave alone when it fails. */
static int mark;
#define MARKED ((void *)&mark)

/* A success leaves the text of an earlier failure as it is (mxq/status.h). */
static const char said[] = "an earlier failure";

static enum mxq_status note(struct scenario *scenario, const char *call, enum mxq_status status) {
  if (status == MXQ_OK && strcmp(mxq_last_error(), said) != 0) {
    fprintf(stderr, "%s succeeds and says: %s\n", call, mxq_last_error());
    status = MXQ_INTERNAL;
  }
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

static struct mxq_relayout_args moves(const struct scenario *scenario, const void *src, void *dst) {
  return (struct mxq_relayout_args){.variant = scenario->variant,
                                    .shape = scenario->shape,
                                    .from = MXQ_SCALES_LIN,
                                    .to = MXQ_SCALES_BLK,
                                    .src = src,
                                    .dst = dst};
}

static enum mxq_status use_relayout(struct scenario *scenario, struct mxq_context *context) {
  static unsigned char here[MOVED_BYTES];
  const struct mxq_relayout_args there =
      moves(scenario, scenario->run.at.scale[0], scenario->moved);
  const struct mxq_relayout_args on_cpu = moves(scenario, scenario->run.want.scale[0], here);
  STEP(mxq_relayout(context, &there, MXQ_DEVICE_AUTO, scenario->stream));
  STEP(mxq_relayout(context, &on_cpu, MXQ_DEVICE_CPU, NULL));
  return MXQ_OK;
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
  return use_relayout(scenario, context);
}

enum mxq_status scenario_run(struct scenario *scenario, const struct mxq_config *config) {
  struct mxq_context *context = MARKED;
  scenario->failed = NULL;
  (void)mxq_status_set(MXQ_INTERNAL, "%s", said);
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

int scenario_moved_right(struct scenario *scenario) {
  unsigned char expected[MOVED_BYTES], actual[MOVED_BYTES];
  struct mxq_context *context = NULL;
  const struct mxq_relayout_args args = moves(scenario, scenario->run.want.scale[0], expected);
  if (mxq_context_create(NULL, &context) != MXQ_OK) return 0;
  const enum mxq_status status = mxq_relayout(context, &args, MXQ_DEVICE_CPU, NULL);
  mxq_context_destroy(context);
  return status == MXQ_OK &&
         mxq_device_download(0, actual, scenario->moved, MOVED_BYTES) == MXQ_OK &&
         mxq_device_fill(0, scenario->moved, 0xFF, MOVED_BYTES) == MXQ_OK &&
         memcmp(expected, actual, MOVED_BYTES) == 0;
}
