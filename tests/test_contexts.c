/* SPDX-License-Identifier: MIT
 *
 * Contexts of the caller's own, what a launch asks of the driver, captures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fakes.h"
#include "host_scenario.h"
#include "measure.h"

static struct fakes fakes;

/* A context that keeps nothing on disk; NULL on failure. */
static struct mxq_context *create(void) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_context *context = NULL;
  config.cache_dirs = "/proc/mxq";
  return mxq_context_create(&config, &context) == MXQ_OK ? context : NULL;
}

static int use_a_context_of_my_own(void *user) {
  struct scenario scenario;
  struct mxq_plan *plan = NULL;
  struct mxq_kernel *kernel = NULL;
  CUcontext now = NULL;
  struct mxq_context *context = create();
  (void)user;
  CHILD_CHECK(fakes_open(&fakes) && scenario_make(&scenario, 1) == MXQ_OK);
  CHILD_CHECK(mxq_kernel_get(context, &scenario.variant, 0, &kernel) == MXQ_OK);
  for (int device = 0; device < 2; device++) { /* one of the plan's device, and another */
    CUcontext own = fakes.fake_context_create(device);
    CHILD_CHECK(fakes.push(own) == CUDA_SUCCESS);
    CHILD_CHECK(mxq_plan_create(kernel, &scenario.shape, &scenario.run.at, &plan) == MXQ_OK);
    CHILD_CHECK(mxq_plan_launch(plan, NULL) == MXQ_OK);
    CHILD_CHECK(mxq_plan_launch(plan, scenario.stream) == MXQ_OK); /* of the primary context */
    CHILD_CHECK(fakes.current(&now) == CUDA_SUCCESS && now == own);
    CHILD_CHECK(fakes.fake_context_depth() == 1);
    mxq_plan_destroy(plan);
    CHILD_CHECK(fakes.pop(&now) == CUDA_SUCCESS && scenario_is_right(&scenario));
    free(own);
  }
  mxq_kernel_release(kernel);
  mxq_context_destroy(context);
  scenario_free(&scenario);
  return 0;
}

static void the_callers_context_is_used_and_restored(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("", use_a_context_of_my_own, NULL), 0);
}

/* What a launch asks of the driver, with the stream's context current and without: all of it, in
 * order. Nothing is allocated: the allocator would fail. */
static void *refuse_memory(void *user, void *pointer, size_t size) {
  const int *refusing = user;
  if (size && !*refusing) return realloc(pointer, size);
  if (!size) free(pointer);
  return NULL;
}

static int made_calls(const char *const *expected) {
  unsigned long i = 0;
  const char *call;
  for (; (call = fakes.fake_call(i)) != NULL && expected[i] && !strcmp(call, expected[i]); i++) {
  }
  if (call || expected[i]) fprintf(stderr, "call %lu is another\n", i);
  return !call && !expected[i];
}

static int launch_and_count(void *user) {
  static const char *const stranger[] = {"cuStreamGetCtx",
                                         "cuCtxGetCurrent",
                                         "cuCtxPushCurrent",
                                         "cuCtxGetDevice",
                                         "cuLaunchKernelEx",
                                         "cuCtxPopCurrent",
                                         NULL};
  static const char *const current[] = {"cuStreamGetCtx", "cuCtxGetCurrent", "cuCtxGetDevice",
                                        "cuLaunchKernelEx", NULL};
  int refusing = 0;
  struct scenario scenario;
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_context *context = NULL;
  struct mxq_plan *plan = NULL;
  struct mxq_kernel *kernel = NULL;
  (void)user;
  config.resize = refuse_memory;
  config.resize_user = &refusing;
  config.cache_dirs = "/proc/mxq";
  CHILD_CHECK(fakes_open(&fakes) && scenario_make(&scenario, 1) == MXQ_OK);
  CHILD_CHECK(mxq_context_create(&config, &context) == MXQ_OK);
  CHILD_CHECK(mxq_kernel_get(context, &scenario.variant, 0, &kernel) == MXQ_OK);
  CHILD_CHECK(mxq_plan_create(kernel, &scenario.shape, &scenario.run.at, &plan) == MXQ_OK);
  refusing = 1;
  fakes.fake_fail(NULL, 0, CUDA_SUCCESS);
  CHILD_CHECK(mxq_plan_launch(plan, scenario.stream) == MXQ_OK && made_calls(stranger));
  CHILD_CHECK(mxq_plan_launch_at(plan, &scenario.run.at, scenario.stream) == MXQ_OK);
  CHILD_CHECK(mxq_device_hold(0) == MXQ_OK);
  fakes.fake_fail(NULL, 0, CUDA_SUCCESS);
  CHILD_CHECK(mxq_plan_launch(plan, scenario.stream) == MXQ_OK && made_calls(current));
  CHILD_CHECK(mxq_kernel_get(context, &scenario.variant, 0, &kernel) == MXQ_OK);
  mxq_plan_destroy(plan);
  mxq_context_destroy(context);
  scenario_free(&scenario);
  return 0;
}

static void a_launch_is_a_handful_of_calls(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("", launch_and_count, NULL), 0);
}

/* ---- Capture ------------------------------------------------------------------------------ */

static int capture(void *user) {
  struct scenario scenario;
  struct mxq_plan *plan = NULL;
  struct mxq_kernel *kernel = NULL;
  CUgraph graph = NULL;
  struct mxq_context *context = create();
  (void)user;
  CHILD_CHECK(fakes_open(&fakes) && scenario_make(&scenario, 1) == MXQ_OK);
  CHILD_CHECK(fakes.begin_capture(scenario.stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
  for (int i = 0; i < 2; i++) /* the stream that captures, and the one that would wait for it */
    CHILD_CHECK(mxq_run(context, &scenario.variant, &scenario.shape, &scenario.run.at, 0,
                        i ? NULL : scenario.stream) == MXQ_NOT_READY);
  CHILD_CHECK(fakes.fake_libraries() == 0 && fakes.nvrtc_calls() == 0);
  CHILD_CHECK(fakes.end_capture(scenario.stream, &graph) == CUDA_SUCCESS && graph);
  CHILD_CHECK(device_run_untouched(&scenario.run));
  CHILD_CHECK(mxq_kernel_get(context, &scenario.variant, 0, &kernel) == MXQ_OK);
  CHILD_CHECK(mxq_plan_create(kernel, &scenario.shape, &scenario.run.at, &plan) == MXQ_OK);
  CHILD_CHECK(fakes.begin_capture(scenario.stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
  CHILD_CHECK(mxq_plan_launch(plan, scenario.stream) == MXQ_OK);
  CHILD_CHECK(mxq_plan_launch_at(plan, &scenario.run.at, scenario.stream) == MXQ_OK);
  CHILD_CHECK(mxq_run(context, &scenario.variant, &scenario.shape, &scenario.run.at, 0,
                      scenario.stream) == MXQ_OK);
  CHILD_CHECK(fakes.end_capture(scenario.stream, &graph) == CUDA_SUCCESS);
  CHILD_CHECK(device_run_untouched(&scenario.run)); /* captured, not run */
  mxq_plan_destroy(plan);
  mxq_kernel_release(kernel);
  mxq_context_destroy(context);
  scenario_free(&scenario);
  return 0;
}

static void nothing_is_loaded_while_a_stream_captures(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("", capture, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_callers_context_is_used_and_restored),
      cmocka_unit_test(a_launch_is_a_handful_of_calls),
      cmocka_unit_test(nothing_is_loaded_while_a_stream_captures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
