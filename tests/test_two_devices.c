/* SPDX-License-Identifier: MIT
 *
 * Tensors, kernels and streams of two devices: what belongs together works on either, whichever is
 * current; what does not is refused, naming both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "device_tensors.h"
#include "gpu_tests.h"

static struct mxq_context *context;
static struct mxq_variant variant;
static struct mxq_kernel *kernels[2];
static mxq_stream streams[2];
static const struct mxq_shape shape = {
    .e = 2, .n = 144, .k = 136, .stride_e = 144 * 136, .stride_n = 136};

static void says(enum mxq_status status, const char *first, const char *second) {
  if (status != MXQ_INVALID_ARGUMENT || !strstr(mxq_last_error(), first) ||
      !strstr(mxq_last_error(), second))
    fail_msg("wanted a refusal with %s and %s, got %s: %s", first, second, mxq_status_name(status),
             mxq_last_error());
}

static struct device_run make_run(int device, uint64_t seed) {
  struct device_run run;
  OK(device_run_make(device, &variant, &shape, seed, &run));
  return run;
}

static void test_each(void **state) {
  (void)state;
  for (int device = 1; device >= 0; device--) {
    struct device_run run = make_run(device, 1 + (uint64_t)device);
    struct mxq_plan *plan = NULL;
    uint64_t faults = 1;
    OK(mxq_plan_create(kernels[device], &shape, &run.at, &plan));
    OK(mxq_plan_launch(plan, streams[device]));
    OK(mxq_device_synchronize(device));
    OK(device_run_faults(&variant, &run, &faults));
    assert_int_equal(faults, 0);
    OK(device_tensors_upload(&run.on_device, &run.expected));
    OK(mxq_device_fill(device, run.at.out[0], 0xFF, run.actual.out[0].size));
    OK(mxq_run(context, &variant, &shape, &run.at, MXQ_DEVICE_AUTO, streams[device]));
    OK(mxq_device_synchronize(device));
    OK(device_run_faults(&variant, &run, &faults));
    assert_int_equal(faults, 0);
    mxq_plan_destroy(plan);
    device_run_free(&run);
  }
}

static void test_refusals(void **state) {
  struct device_run first = make_run(0, 1), second = make_run(1, 1);
  struct mxq_pointers mixed = first.at;
  struct mxq_plan *plan = NULL, *good = NULL;
  (void)state;
  mixed.scale[0] = second.at.scale[0];
  says(mxq_plan_create(kernels[0], &shape, &mixed, &plan), "in lies on cuda:0",
       "scale[0] on cuda:1");
  says(mxq_plan_create(kernels[0], &shape, &second.at, &plan), "cuda:0", "cuda:1");
  says(mxq_run(context, &variant, &shape, &mixed, MXQ_DEVICE_AUTO, NULL), "cuda:0", "cuda:1");
  assert_null(plan);
  OK(mxq_plan_create(kernels[0], &shape, &first.at, &good));
  says(mxq_plan_launch(good, streams[1]), "stream belongs to cuda:1", "plan to cuda:0");
  says(mxq_plan_launch_at(good, &second.at, streams[0]), "cuda:0", "cuda:1");
  says(mxq_run(context, &variant, &shape, &first.at, MXQ_DEVICE_AUTO, streams[1]),
       "stream belongs to cuda:1", "plan to cuda:0");
  assert_true(device_run_untouched(&first));
  assert_true(device_run_untouched(&second));
  mxq_plan_destroy(good);
  device_run_free(&first);
  device_run_free(&second);
}

static int set_up(void **state) {
  (void)state;
  enum mxq_status status = mxq_context_create(NULL, &context);
  if (status == MXQ_OK)
    status = mxq_variant_parse("quantize_bf16_e4m3_b32_floor_colt_lin", &variant);
  for (int i = 0; status == MXQ_OK && i < 2; i++) {
    status = mxq_kernel_get(context, &variant, i, &kernels[i]);
    if (status == MXQ_OK) status = mxq_device_stream_create(i, &streams[i]);
  }
  if (status != MXQ_OK) fprintf(stderr, "%s\n", mxq_last_error());
  return status != MXQ_OK;
}

static int tear_down(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    mxq_device_stream_destroy(i, streams[i]);
    mxq_kernel_release(kernels[i]);
  }
  mxq_context_destroy(context);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_each), cmocka_unit_test(test_refusals)};
  const int skip = gpu_tests_skip(2);
  if (skip) return skip;
  return cmocka_run_group_tests_name("two_devices", tests, set_up, tear_down);
}
