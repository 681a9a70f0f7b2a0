/* SPDX-License-Identifier: MIT */
#include "verify_run.h"

#include <stdlib.h>

#include "check_cases.h"
#include "report.h"
#include "status.h"
#include "text.h"
#include "verify_batch.h"

/* A context keeps every kernel that it ever loaded: a new one now and then. */
enum { CONTEXT_TASKS = 64 };

/* ---- Shapes ------------------------------------------------------------------------------- */

static enum mxq_status add_case(const struct check_case *one, const struct mxq_kernel_id *id,
                                const char *what, int idle, uint64_t seed,
                                struct verify_batch *batch) {
  const struct mxq_shape shape = check_case_shape(one, &id->variant);
  struct verify_slot slot = {.what = what, .seed = seed, .idle = idle};
  MXQ_TRY(check_region_plan(&id->variant, &shape, one->shift, &slot.region));
  return verify_batch_add(batch, &slot);
}

/* The kernel's cases, and one more at addresses that the plan was not made with. */
static enum mxq_status plan_shapes(const struct verify_task *task, struct verify_batch *batch) {
  const struct mxq_kernel_id *id = &task->id;
  const struct check_case *one, *last = NULL;
  for (size_t i = 0; (one = check_case_at(i)); i++) {
    if (!check_case_applies(one, id) || (task->light && one->weight != CHECK_LIGHT)) continue;
    MXQ_TRY(add_case(one, id, one->what, 0, 1000 + i, batch));
    if (one->weight != CHECK_HEAVY && one->order == CHECK_DENSE) last = one;
  }
  MXQ_TRY(add_case(last, id, "addresses of a plan launched at others", 1, 77, batch));
  return add_case(last, id, "a plan launched at other addresses", 0, 78, batch);
}

enum mxq_status verify_run_shapes(struct verify_runner *runner, struct verify_task *task) {
  struct verify_batch *batch = text_allocate(1, sizeof *batch);
  enum mxq_status status = plan_shapes(task, batch);
  if (status == MXQ_OK) status = verify_batch_run(runner, batch, task);
  free(batch);
  return status;
}

/* ---- Tasks -------------------------------------------------------------------------------- */

static void renew_contexts(struct verify_runner *runner) {
  for (int i = 0; i < 2; i++) {
    mxq_context_destroy(runner->contexts[i]);
    runner->contexts[i] = NULL;
  }
}

static enum mxq_status describe_narrow(int device, struct mxq_arch *narrow) {
  struct mxq_device_info info;
  const struct mxq_arch *arch = NULL;
  MXQ_TRY(mxq_device_describe(device, &info));
  MXQ_TRY(mxq_arch_of_device(info.major, info.minor, &arch));
  *narrow = *arch;
  narrow->use_narrow = arch->has_narrow;
  return MXQ_OK;
}

enum mxq_status verify_runner_open(int device, int verbose, struct verify_runner **runner) {
  struct verify_runner *opened = text_allocate(1, sizeof *opened);
  opened->device = device;
  opened->arguments.verbose = verbose;
  enum mxq_status status = describe_narrow(device, &opened->narrow);
  if (status == MXQ_OK) status = mxq_device_stream_create(device, &opened->stream);
  if (status == MXQ_OK)
    *runner = opened;
  else
    free(opened);
  return status;
}

void verify_runner_close(struct verify_runner *runner) {
  if (!runner) return;
  renew_contexts(runner);
  verify_runner_release(runner);
  mxq_device_stream_destroy(runner->device, runner->stream);
  free(runner);
}

static const struct {
  enum mxq_status status;
  enum verify_state state;
} states[] = {{MXQ_OK, VERIFY_PASSED},
              {MXQ_NOT_PREBUILT, VERIFY_SKIPPED},
              {MXQ_OUT_OF_MEMORY, VERIFY_SKIPPED},
              {MXQ_NO_NVRTC, VERIFY_WAITING},
              {MXQ_NO_DRIVER, VERIFY_WAITING},
              {MXQ_NO_DEVICE, VERIFY_WAITING}};

static enum verify_state state_of(enum mxq_status status) {
  for (size_t i = 0; i < sizeof states / sizeof *states; i++)
    if (states[i].status == status) return states[i].state;
  return VERIFY_FAILED;
}

enum mxq_status verify_run(struct verify_runner *runner, struct verify_task *task) {
  static enum mxq_status (*const checks[])(struct verify_runner *, struct verify_task *) = {
      [VERIFY_SHAPES] = verify_run_shapes, [VERIFY_SCALES] = verify_run_scales,
      [VERIFY_MAXIMA] = verify_run_maxima, [VERIFY_CODES] = verify_run_codes,
      [VERIFY_CASTS] = verify_run_casts,
  };
  if (++runner->tasks % CONTEXT_TASKS == 0) renew_contexts(runner);
  enum mxq_status status = checks[task->check](runner, task);
  if (status != MXQ_OK && !task->why) task->why = text_format("%s", mxq_last_error());
  task->state = (uint8_t)(task->details ? VERIFY_FAILED : state_of(status));
  if (status != MXQ_OK && task->state != VERIFY_FAILED) { /* no case is to blame */
    free(task->why);
    task->why = text_format("%s", mxq_last_error());
  }
  /* A context that a kernel brought down answers every call with that error. */
  if (status == MXQ_DRIVER_ERROR && mxq_device_synchronize(runner->device) != MXQ_OK)
    task->state = VERIFY_WAITING;
  return status;
}
