/* SPDX-License-Identifier: MIT */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "device.h"
#include "report.h"
#include "seconds.h"
#include "status.h"
#include "target.h"
#include "text.h"

#define CUDA    "cuda:"
#define BUFFERS 6 /* in, its scales, two parts, two scales */

struct engine {
  struct mxq_context *context;
  int device;    /* ordinal or MXQ_DEVICE_CPU */
  int automatic; /* may give the GPU up */
  int given_up;
  struct {
    void *pointer;
    uint64_t bytes;
  } buffers[BUFFERS];
};

/* What `auto` gives the GPU up for: something that every tensor would need. */
static int is_missing(enum mxq_status status) { return report_code(status) == EXIT_MISSING; }

static void give_up(struct engine *engine, const char *reason) {
  report_note("computing on the CPU: %s", reason);
  engine->given_up = 1;
}

/* ---- On a device -------------------------------------------------------------------------- */

static enum mxq_status reserve(struct engine *engine, size_t index, uint64_t bytes,
                               void **pointer) {
  if (engine->buffers[index].bytes < bytes) {
    mxq_device_free(engine->device, engine->buffers[index].pointer);
    engine->buffers[index].pointer = NULL;
    engine->buffers[index].bytes = 0;
    MXQ_TRY(mxq_device_allocate(engine->device, (size_t)bytes, &engine->buffers[index].pointer));
    engine->buffers[index].bytes = bytes;
  }
  *pointer = bytes ? engine->buffers[index].pointer : NULL;
  return MXQ_OK;
}

static enum mxq_status reserve_all(struct engine *engine, const struct mxq_byte_counts *bytes,
                                   struct mxq_pointers *there) {
  void *in = NULL, *in_scale = NULL;
  MXQ_TRY(reserve(engine, 0, bytes->in, &in));
  MXQ_TRY(reserve(engine, 1, bytes->in_scale, &in_scale));
  there->in = in;
  there->in_scale = in_scale;
  for (unsigned part = 0; part < 2; part++) {
    MXQ_TRY(reserve(engine, 2 + part, bytes->out[part], &there->out[part]));
    MXQ_TRY(reserve(engine, 4 + part, bytes->scale[part], &there->scale[part]));
  }
  return MXQ_OK;
}

static enum mxq_status upload(const struct engine *engine, const struct mxq_byte_counts *bytes,
                              const struct mxq_pointers *here, const struct mxq_pointers *there) {
  MXQ_TRY(
      mxq_device_upload(engine->device, (void *)(uintptr_t)there->in, here->in, (size_t)bytes->in));
  if (!bytes->in_scale) return MXQ_OK;
  return mxq_device_upload(engine->device, (void *)(uintptr_t)there->in_scale, here->in_scale,
                           (size_t)bytes->in_scale);
}

static enum mxq_status launch(const struct engine *engine, struct mxq_kernel *kernel,
                              const struct mxq_shape *shape, const struct mxq_pointers *there,
                              double *seconds) {
  struct mxq_plan *plan = NULL;
  MXQ_TRY(mxq_plan_create(kernel, shape, there, &plan));
  const double begin = seconds_now();
  enum mxq_status status = mxq_plan_launch(plan, NULL);
  if (status == MXQ_OK) status = mxq_device_synchronize(engine->device);
  if (status == MXQ_OK) *seconds = seconds_now() - begin;
  mxq_plan_destroy(plan);
  return status;
}

static enum mxq_status download(const struct engine *engine, const struct mxq_byte_counts *bytes,
                                const struct mxq_pointers *there, const struct mxq_pointers *here) {
  for (unsigned part = 0; part < 2; part++) {
    if (bytes->out[part])
      MXQ_TRY(mxq_device_download(engine->device, here->out[part], there->out[part],
                                  (size_t)bytes->out[part]));
    if (bytes->scale[part])
      MXQ_TRY(mxq_device_download(engine->device, here->scale[part], there->scale[part],
                                  (size_t)bytes->scale[part]));
  }
  return MXQ_OK;
}

static enum mxq_status run_on_device(struct engine *engine, const struct mxq_variant *variant,
                                     const struct mxq_shape *shape,
                                     const struct mxq_byte_counts *bytes,
                                     const struct mxq_pointers *here, double *seconds) {
  struct mxq_pointers there = {0};
  struct mxq_kernel *kernel = NULL;
  MXQ_TRY(mxq_supported(engine->context, variant, shape, engine->device));
  MXQ_TRY(mxq_kernel_get(engine->context, variant, engine->device, &kernel));
  enum mxq_status status = reserve_all(engine, bytes, &there);
  if (status == MXQ_OK) status = upload(engine, bytes, here, &there);
  if (status == MXQ_OK) status = launch(engine, kernel, shape, &there, seconds);
  if (status == MXQ_OK) status = download(engine, bytes, &there, here);
  mxq_kernel_release(kernel);
  return status;
}

/* ---- On the CPU --------------------------------------------------------------------------- */

/* Tensors of a file stand anywhere; the library wants them aligned to their elements. `*copy` is
 * an aligned copy if one was needed, for the caller to free. */
static enum mxq_status align(const void *bytes, uint64_t count, unsigned bits, void **copy,
                             const void **aligned) {
  const uintptr_t alignment = bits < 8 ? 1 : bits / 8;
  *aligned = bytes;
  if ((uintptr_t)bytes % alignment == 0) return MXQ_OK;
  *copy = malloc((size_t)count);
  MXQ_FAIL_IF(!*copy, MXQ_OUT_OF_MEMORY, "no memory for a tensor of %llu bytes",
              (unsigned long long)count);
  memcpy(*copy, bytes, (size_t)count);
  *aligned = *copy;
  return MXQ_OK;
}

static enum mxq_status run_on_cpu(const struct engine *engine, const struct mxq_variant *variant,
                                  const struct mxq_shape *shape,
                                  const struct mxq_byte_counts *bytes,
                                  const struct mxq_pointers *here, double *seconds) {
  struct mxq_pointers aligned = *here;
  void *copies[2] = {NULL, NULL};
  enum mxq_status status =
      align(here->in, bytes->in, mxq_type_facts(variant->in)->bits, &copies[0], &aligned.in);
  if (status == MXQ_OK)
    status = align(here->in_scale, bytes->in_scale, mxq_mode_scale_bits(variant->mode), &copies[1],
                   &aligned.in_scale);
  const double begin = seconds_now();
  if (status == MXQ_OK)
    status = mxq_run(engine->context, variant, shape, &aligned, MXQ_DEVICE_CPU, NULL);
  if (status == MXQ_OK) *seconds = seconds_now() - begin;
  free(copies[0]);
  free(copies[1]);
  return status;
}

static enum mxq_status choose_device(struct engine *engine, const char *device) {
  int count = 0;
  if (!strcmp(device, "cpu")) return MXQ_OK;
  if (!strcmp(device, "auto")) {
    const enum mxq_status status = mxq_device_count(&count);
    engine->automatic = 1;
    engine->device = status == MXQ_OK && count > 0 ? 0 : MXQ_DEVICE_CPU;
    if (status != MXQ_OK)
      give_up(engine, mxq_last_error());
    else if (count == 0)
      give_up(engine, "the driver has no device");
    return MXQ_OK;
  }
  const long ordinal = strtol(device + strlen(CUDA), NULL, 10);
  MXQ_TRY(mxq_device_count(&count));
  MXQ_FAIL_IF(ordinal >= count, MXQ_NO_DEVICE,
              "--device: there is no %s; the driver has %d device%s", device, count,
              count == 1 ? "" : "s");
  engine->device = (int)ordinal;
  return MXQ_OK;
}

enum mxq_status engine_check_name(const char *device) {
  size_t digits = 0;
  const int prefixed = !strncmp(device, CUDA, sizeof CUDA - 1);
  while (prefixed && device[sizeof CUDA - 1 + digits] >= '0' &&
         device[sizeof CUDA - 1 + digits] <= '9')
    digits++;
  const int is_cuda = digits > 0 && digits < 7 && !device[sizeof CUDA - 1 + digits];
  MXQ_FAIL_IF(!is_cuda && strcmp(device, "auto") && strcmp(device, "cpu"), MXQ_INVALID_ARGUMENT,
              "--device: \"%s\" is no device; allowed: auto, cpu, cuda:0, cuda:1, ...", device);
  return MXQ_OK;
}

enum mxq_status engine_open(const struct arguments *arguments, const char *device,
                            struct engine **engine) {
  struct engine *opened = text_allocate(1, sizeof *opened);
  opened->device = MXQ_DEVICE_CPU;
  enum mxq_status status = choose_device(opened, device);
  if (status == MXQ_OK) status = target_context(arguments, &opened->context);
  if (status != MXQ_OK)
    engine_close(opened);
  else
    *engine = opened;
  return status;
}

void engine_close(struct engine *engine) {
  if (!engine) return;
  for (size_t i = 0; i < BUFFERS; i++)
    if (engine->buffers[i].pointer) mxq_device_free(engine->device, engine->buffers[i].pointer);
  mxq_context_destroy(engine->context);
  free(engine);
}

enum mxq_status engine_run(struct engine *engine, const struct mxq_variant *variant,
                           const struct mxq_shape *shape, const struct mxq_pointers *pointers,
                           struct outcome *outcome) {
  struct mxq_byte_counts bytes;
  enum mxq_status status = MXQ_OK;
  MXQ_TRY(mxq_sizes(variant, shape, &bytes));
  *outcome = (struct outcome){.device = "none"};
  if (bytes.in == 0) return MXQ_OK;
  if (engine->device >= 0 && !engine->given_up) {
    snprintf(outcome->device, sizeof outcome->device, "cuda:%d", engine->device);
    status = run_on_device(engine, variant, shape, &bytes, pointers, &outcome->seconds);
    if (status == MXQ_OK) return MXQ_OK;
    if (engine->automatic && is_missing(status))
      give_up(engine, mxq_last_error());
    else if (status == MXQ_UNSUPPORTED || status == MXQ_OUT_OF_MEMORY)
      outcome->note = text_format("%s", mxq_last_error());
    else
      return status;
  }
  snprintf(outcome->device, sizeof outcome->device, "cpu");
  return run_on_cpu(engine, variant, shape, &bytes, pointers, &outcome->seconds);
}
