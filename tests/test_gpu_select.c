/* SPDX-License-Identifier: MIT
 *
 * Which kernel the addresses and shapes of tensors get on the first device, and that it is right.
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
#include "plan_as.h"

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

static const char *kernel_name(const struct mxq_plan *plan, char name[MXQ_KERNEL_NAME_SIZE]) {
  OK(mxq_kernel_id_name(mxq_plan_kernel(plan), name, MXQ_KERNEL_NAME_SIZE));
  return strchr(name, '.') + 1;
}

/* A tensor of the run at an address of its own that the fast kernel does not take. */
struct moved {
  struct support_buffer *host;
  void *base;
  char *at;
};

static struct moved move(struct device_run *run, int tensor, struct mxq_pointers *at) {
  static const int steps[] = {2, 8, 1}; /* aligned to elements, not to what the kernel needs */
  struct support_buffer *const hosts[] = {&run->actual.in, run->actual.out, run->actual.scale};
  struct moved moved = {.host = hosts[tensor]};
  OK(mxq_device_allocate(device, moved.host->size + 16, &moved.base));
  moved.at = (char *)moved.base + steps[tensor];
  OK(mxq_device_upload(device, moved.at, moved.host->data, moved.host->size));
  if (tensor == 0) at->in = moved.at;
  if (tensor == 1) at->out[0] = moved.at;
  if (tensor == 2) at->scale[0] = moved.at;
  return moved;
}

/* What the kernel wrote there, to where faults_of looks for it. */
static void move_back(const struct moved *moved, void *to) {
  OK(mxq_device_synchronize(device));
  OK(mxq_device_download(device, moved->host->data, moved->at, moved->host->size));
  if (to) OK(mxq_device_upload(device, to, moved->host->data, moved->host->size));
  mxq_device_free(device, moved->base);
}

/* A plan of the fast kernel refuses such addresses later; a plan for them has the generic one. */
static void test_alignment(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    static const char *const names[] = {"in is", "out[0] is", "scale[0] is"};
    struct device_run run = make_run(3);
    struct mxq_pointers off = run.at;
    struct mxq_plan *plan = NULL, *good = NULL;
    char name[MXQ_KERNEL_NAME_SIZE];
    void *const places[] = {NULL, run.at.out[0], run.at.scale[0]};
    const struct moved moved = move(&run, i, &off);
    OK(mxq_plan_create(kernel, &shape, &run.at, &good));
    assert_memory_equal(kernel_name(good, name), "tma-", 4); /* which one depends on the device */
    SAYS(mxq_plan_launch_at(good, &off, NULL), MXQ_UNSUPPORTED, names[i]);
    assert_true(device_run_untouched(&run));
    OK(mxq_plan_create(kernel, &shape, &off, &plan));
    assert_string_equal(kernel_name(plan, name), "any-128x128");
    OK(mxq_plan_launch(plan, NULL));
    move_back(&moved, places[i]);
    assert_int_equal(faults_of(&run), 0);
    mxq_plan_destroy(plan);
    mxq_plan_destroy(good);
    device_run_free(&run);
  }
}

/* A shape that the copy engine refuses goes to the generic kernel, in both ways to run. */
static void test_generic(void **state) {
  const struct mxq_shape odd = mxq_shape_dense(2, 37, 21);
  struct device_run run;
  struct mxq_plan *plan = NULL;
  char name[MXQ_KERNEL_NAME_SIZE];
  (void)state;
  OK(device_run_make(device, &variant, &odd, 12, &run));
  OK(mxq_plan_create(kernel, &odd, &run.at, &plan));
  assert_string_equal(kernel_name(plan, name), "any-128x128");
  OK(mxq_plan_launch(plan, NULL));
  assert_int_equal(faults_of(&run), 0);
  OK(mxq_device_fill(device, run.at.out[0], 0xFF, run.actual.out[0].size));
  OK(mxq_run(context, &variant, &odd, &run.at, MXQ_DEVICE_AUTO, NULL));
  assert_int_equal(faults_of(&run), 0);
  mxq_plan_destroy(plan);
  device_run_free(&run);
}

static void test_supported(void **state) {
  const struct mxq_shape odd = mxq_shape_dense(1, 63, 21), none = mxq_shape_dense(0, 64, 20);
  const struct mxq_shape negative = {.e = 1, .n = -1, .k = 1};
  const struct mxq_pointers nowhere = {NULL, NULL, {NULL, NULL}, {NULL, NULL}};
  struct mxq_plan *plan = NULL;
  (void)state;
  OK(mxq_supported(context, &variant, NULL, device));
  OK(mxq_supported(context, &variant, &shape, device));
  OK(mxq_supported(context, &variant, &odd, device));
  SAYS(mxq_supported(context, &variant, &negative, device), MXQ_INVALID_ARGUMENT, "negative");
  SAYS(mxq_supported(context, &variant, &shape, 4096), MXQ_NO_DEVICE, "4096");
  OK(mxq_plan_create(kernel, &none, &nowhere, &plan)); /* nothing to do */
  OK(mxq_plan_launch(plan, NULL));
  OK(mxq_plan_launch_at(plan, &nowhere, NULL));
  mxq_plan_destroy(plan);
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
      cmocka_unit_test(test_alignment),
      cmocka_unit_test(test_generic),
      cmocka_unit_test(test_supported),
  };
  const int skip = gpu_tests_skip(1);
  if (skip) return skip;
  return cmocka_run_group_tests_name("gpu_select", tests, set_up, tear_down);
}
