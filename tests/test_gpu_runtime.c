/* SPDX-License-Identifier: MIT
 *
 * The runtime around one kernel on the first device: what it refuses, captures, replays, threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "device_tensors.h"
#include "gpu_tests.h"
#include "measure.h"

enum { device = 0 };
static struct mxq_context *context;
static struct mxq_variant variant;
static struct mxq_kernel *kernel;
static const struct mxq_shape shape = {
    .e = 3, .n = 144, .k = 136, .stride_e = 144 * 136, .stride_n = 136};

static uint64_t faults_of(struct device_run *run) {
  uint64_t faults = 0;
  OK(mxq_device_synchronize(device));
  OK(device_run_faults(&variant, run, &faults));
  return faults;
}

static struct device_run make_run(uint64_t seed) {
  struct device_run run;
  OK(device_run_make(device, &variant, &shape, seed, &run));
  return run;
}

static void test_one_call(void **state) {
  struct device_run run = make_run(1);
  (void)state;
  OK(mxq_run(context, &variant, &shape, &run.at, MXQ_DEVICE_AUTO, NULL));
  assert_int_equal(faults_of(&run), 0);
  device_run_free(&run);
}

static void test_host_pointers(void **state) {
  struct device_run run = make_run(2);
  struct mxq_plan *plan = NULL, *good = NULL;
  struct mxq_pointers mixed = run.at;
  (void)state;
  SAYS(mxq_plan_create(kernel, &shape, &run.got, &plan), MXQ_INVALID_ARGUMENT, "host memory");
  SAYS(mxq_run(context, &variant, &shape, &run.got, MXQ_DEVICE_AUTO, NULL), MXQ_INVALID_ARGUMENT,
       "MXQ_DEVICE_CPU");
  mixed.scale[0] = run.got.scale[0];
  SAYS(mxq_plan_create(kernel, &shape, &mixed, &plan), MXQ_INVALID_ARGUMENT, "scale[0]");
  OK(mxq_plan_create(kernel, &shape, &run.at, &good));
  SAYS(mxq_plan_launch_at(good, &mixed, NULL), MXQ_INVALID_ARGUMENT, "scale[0]");
  assert_null(plan);
  assert_true(device_run_untouched(&run));
  mxq_plan_destroy(good);
  device_run_free(&run);
}

/* What a capture enqueues. */
struct step {
  struct mxq_context *context; /* of the one-call form; NULL: the plan */
  struct mxq_plan *plan;
  const struct mxq_pointers *at;
};

static enum mxq_status enqueue(void *user, unsigned index, mxq_stream stream) {
  const struct step *step = user;
  (void)index;
  if (step->plan) return mxq_plan_launch(step->plan, stream);
  return mxq_run(step->context, &variant, &shape, step->at, device, stream);
}

static void test_capture_of_the_unloaded(void **state) {
  struct device_run run = make_run(4);
  struct step step = {.at = &run.at};
  struct mxq_graph *graph = NULL;
  (void)state;
  OK(mxq_context_create(NULL, &step.context));
  SAYS(mxq_graph_create(device, enqueue, &step, 1, &graph), MXQ_NOT_READY, "before the capture");
  assert_null(graph);
  assert_true(device_run_untouched(&run));
  OK(mxq_run(step.context, &variant, &shape, &run.at, device, NULL));
  OK(mxq_device_synchronize(device));
  OK(device_tensors_upload(&run.on_device, &run.actual)); /* poison again */
  OK(mxq_graph_create(device, enqueue, &step, 1, &graph));
  OK(mxq_graph_replay(graph, NULL));
  assert_int_equal(faults_of(&run), 0);
  mxq_graph_destroy(graph);
  mxq_context_destroy(step.context);
  device_run_free(&run);
}

/* A graph reads what lies at its addresses when it runs. */
static void test_replay_with_new_data(void **state) {
  struct device_run run = make_run(5), other = make_run(6);
  struct step step = {0};
  struct mxq_graph *graph = NULL;
  (void)state;
  OK(mxq_plan_create(kernel, &shape, &run.at, &step.plan));
  OK(mxq_graph_create(device, enqueue, &step, 3, &graph));
  OK(mxq_graph_replay(graph, NULL));
  assert_int_equal(faults_of(&run), 0);
  OK(device_tensors_upload(&run.on_device, &other.actual)); /* the other's input, and poison */
  OK(mxq_graph_replay(graph, NULL));
  struct device_tensors own = other.on_device;
  other.on_device = run.on_device;
  assert_int_equal(faults_of(&other), 0);
  other.on_device = own;
  mxq_graph_destroy(graph);
  mxq_plan_destroy(step.plan);
  device_run_free(&run);
  device_run_free(&other);
}

/* CMocka's assertions stay on the main thread. */
static void *run_in_thread(void *user) {
  struct device_run *run = user;
  enum mxq_status status = mxq_run(context, &variant, &shape, &run->at, MXQ_DEVICE_AUTO, NULL);
  if (status == MXQ_OK) status = mxq_device_synchronize(device);
  if (status != MXQ_OK) fprintf(stderr, "%s\n", mxq_last_error());
  return status == MXQ_OK ? user : NULL;
}

static void test_new_threads(void **state) {
  struct device_run runs[4];
  pthread_t threads[4];
  (void)state;
  for (uint64_t i = 0; i < 4; i++) runs[i] = make_run(10 + i);
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run_in_thread, &runs[i]);
  for (int i = 0; i < 4; i++) {
    void *result = NULL;
    pthread_join(threads[i], &result);
    assert_non_null(result);
    assert_int_equal(faults_of(&runs[i]), 0);
    device_run_free(&runs[i]);
  }
}

static int set_up(void **state) {
  (void)state;
  if (mxq_context_create(NULL, &context) == MXQ_OK &&
      mxq_variant_parse("quantize_bf16_e4m3_b32_rceil_colt_lin", &variant) == MXQ_OK &&
      mxq_kernel_get(context, &variant, device, &kernel) == MXQ_OK)
    return 0;
  fprintf(stderr, "%s\n", mxq_last_error());
  return -1;
}

static int tear_down(void **state) {
  (void)state;
  mxq_kernel_release(kernel);
  mxq_context_destroy(context);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_call),
      cmocka_unit_test(test_host_pointers),
      cmocka_unit_test(test_capture_of_the_unloaded),
      cmocka_unit_test(test_replay_with_new_data),
      cmocka_unit_test(test_new_threads),
  };
  const int skip = gpu_tests_skip(1);
  if (skip) return skip;
  return cmocka_run_group_tests_name("gpu_runtime", tests, set_up, tear_down);
}
