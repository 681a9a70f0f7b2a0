/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "compile.h"
#include "host.h"
#include "kernel_args.h"
#include "status.h"

/* A batch fits into the driver's queue, so that no launch waits for a kernel. */
enum { batches = 201, batch = 200, plans = 1001 };

/* As many bytes of parameters, of the same alignment, as the kernels with maps have. */
struct parameters {
  _Alignas(128) unsigned char bytes[sizeof(struct mxq_tma_args)];
};
static const char empty_format[] =
    "struct parameters { alignas(128) unsigned char bytes[%zu]; };\n"
    "extern \"C\" __global__ void empty(const __grid_constant__ parameters p) {}\n";

struct launches {
  int device;
  struct mxq_kernel *kernel;
  struct mxq_shape shape;
  struct bench_buffers buffers;
  struct mxq_plan *plan;
  struct mxq_raw_kernel *empty;
  mxq_stream stream;
};

static enum mxq_status load_empty(struct host *host, struct mxq_context *context,
                                  struct launches *launches) {
  const struct mxq_nvrtc *nvrtc = NULL;
  struct mxq_compiled compiled = {0};
  char source[sizeof empty_format + 24];
  snprintf(source, sizeof source, empty_format, sizeof(struct parameters));
  MXQ_TRY(mxq_context_nvrtc(context, &nvrtc));
  MXQ_TRY(mxq_compile(&mxq_allocator_default, nvrtc, source, "empty", host->arch, MXQ_COMPILE_CUBIN,
                      &compiled));
  const enum mxq_status status =
      mxq_raw_kernel_load(launches->device, compiled.code, "empty", &launches->empty);
  mxq_free(&mxq_allocator_default, compiled.code);
  return status;
}

static enum mxq_status prepare(struct host *host, struct mxq_context *context,
                               struct launches *launches) {
  struct mxq_device_info info;
  const struct mxq_variant *variant = &host->id.variant;
  launches->shape = mxq_shape_dense(1, 128, 128);
  MXQ_TRY(mxq_device_describe(launches->device, &info));
  MXQ_TRY(mxq_device_hold(launches->device));
  MXQ_TRY(mxq_device_stream_create(launches->device, &launches->stream));
  MXQ_TRY(mxq_kernel_get(context, variant, launches->device, &launches->kernel));
  MXQ_TRY(bench_buffers_make(&info, variant, &launches->shape, &launches->buffers));
  MXQ_TRY(mxq_plan_create(launches->kernel, &launches->shape, &launches->buffers.pointers[0],
                          &launches->plan));
  return load_empty(host, context, launches);
}

static enum mxq_status time_plans(struct host *host, const struct launches *launches) {
  static double us[plans];
  for (int i = 0; i < plans; i++) {
    struct mxq_plan *plan = NULL;
    const double begin = host_now();
    MXQ_TRY(
        mxq_plan_create(launches->kernel, &launches->shape, &launches->buffers.pointers[0], &plan));
    us[i] = (host_now() - begin) * 1e6;
    mxq_plan_destroy(plan);
  }
  host_add(host, "plan_create", "us", "mxq_plan_create, two maps encoded", host_median(us, plans),
           2);
  return MXQ_OK;
}

enum kind { BARE, LAUNCH, LAUNCH_AT, KINDS };

static enum mxq_status launch_batch(const struct launches *launches, enum kind kind) {
  struct parameters parameters = {{0}};
  void *list[] = {&parameters};
  if (kind == BARE)
    return mxq_raw_kernel_launch_many(launches->empty, 1, 128, list, launches->stream, batch);
  for (int i = 0; i < batch; i++)
    MXQ_TRY(kind == LAUNCH ? mxq_plan_launch(launches->plan, launches->stream)
                           : mxq_plan_launch_at(launches->plan, &launches->buffers.pointers[0],
                                                launches->stream));
  return MXQ_OK;
}

/* The three kinds take turns. */
static enum mxq_status time_launches(struct host *host, const struct launches *launches) {
  static double us[KINDS][batches];
  double medians[KINDS];
  for (int b = 0; b < batches; b++)
    for (int kind = 0; kind < KINDS; kind++) {
      MXQ_TRY(mxq_device_stream_synchronize(launches->device, launches->stream));
      const double begin = host_now();
      MXQ_TRY(launch_batch(launches, (enum kind)kind));
      us[kind][b] = (host_now() - begin) * 1e6 / batch;
    }
  for (int kind = 0; kind < KINDS; kind++) medians[kind] = host_median(us[kind], batches);
  host_add(host, "bare_launch", "us", "cuLaunchKernelEx of an empty kernel", medians[BARE], -1);
  host_add(host, "launch", "us", "mxq_plan_launch, over a bare launch",
           medians[LAUNCH] - medians[BARE], 0.3);
  host_add(host, "launch_at", "us", "mxq_plan_launch_at, over mxq_plan_launch; two maps",
           medians[LAUNCH_AT] - medians[LAUNCH], 0.6);
  return MXQ_OK;
}

static void release(struct launches *launches) {
  mxq_plan_destroy(launches->plan);
  mxq_raw_kernel_unload(launches->empty);
  bench_buffers_free(&launches->buffers);
  mxq_kernel_release(launches->kernel);
  mxq_device_stream_destroy(launches->device, launches->stream);
}

enum mxq_status host_measure_launches(struct host *host, int device) {
  struct launches launches = {.device = device};
  struct mxq_context *context = NULL;
  char folder[128];
  int count = 0;
  enum mxq_status status = mxq_device_count(&count);
  if (status != MXQ_OK || count == 0) {
    const char *why = status == MXQ_OK ? "the driver has no device" : "no driver";
    host_skip(host, "plan_create", "mxq_plan_create", why);
    host_skip(host, "launch", "mxq_plan_launch, over a bare launch", why);
    host_skip(host, "launch_at", "mxq_plan_launch_at, over mxq_plan_launch", why);
    return MXQ_OK;
  }
  MXQ_TRY(host_context(host_new_folder(host, folder), NULL, &context));
  status = prepare(host, context, &launches);
  if (status == MXQ_OK) status = time_plans(host, &launches);
  if (status == MXQ_OK) status = time_launches(host, &launches);
  release(&launches);
  mxq_context_destroy(context);
  if (status != MXQ_NO_NVRTC) return status;
  host_skip(host, "launch", "mxq_plan_launch, over a bare launch", mxq_last_error());
  return MXQ_OK;
}
