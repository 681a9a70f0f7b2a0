/* SPDX-License-Identifier: MIT
 *
 * Plans, launches and the one-call form on the CPU, and what they refuse: a status and a text, and
 * nothing written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "support.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static struct mxq_context *context;
static struct mxq_variant variant;
static struct mxq_kernel *kernel;
static const struct mxq_shape shape = {.e = 3, .n = 67, .k = 45, .stride_e = 4000, .stride_n = 50};

static int set_up(void **state) {
  (void)state;
  return mxq_context_create(NULL, &context) ||
         mxq_variant_parse("quantize_bf16_e4m3_b32_rceil_colt_lin", &variant) ||
         mxq_kernel_get(context, &variant, MXQ_DEVICE_CPU, &kernel);
}

static int tear_down(void **state) {
  (void)state;
  mxq_kernel_release(kernel);
  mxq_context_destroy(context);
  return 0;
}

static int guards_whole(const struct support_tensors *tensors) {
  return support_buffer_guards(&tensors->in, "in") &&
         support_buffer_guards(&tensors->out[0], "out[0]") &&
         support_buffer_guards(&tensors->scale[0], "scale[0]");
}

static void test_results(void **state) {
  struct support_tensors direct, planned;
  struct mxq_plan *plan = NULL;
  (void)state;
  assert_int_equal(support_tensors_make(&variant, &shape, 1, &direct), MXQ_OK);
  assert_int_equal(support_tensors_make(&variant, &shape, 1, &planned), MXQ_OK);
  const struct mxq_pointers want = support_tensors_pointers(&direct);
  const struct mxq_pointers got = support_tensors_pointers(&planned);
  mxq_cpu_run(&variant, &shape, &want);
  assert_int_equal(mxq_plan_create(kernel, &shape, &got, &plan), MXQ_OK);
  assert_int_equal(mxq_plan_launch(plan, NULL), MXQ_OK);
  assert_int_equal(support_compare(&variant, &shape, &want, &got), 0);
  memset(planned.out[0].data, 0xFF, planned.out[0].size);
  assert_int_equal(mxq_plan_launch_at(plan, &got, NULL), MXQ_OK);
  assert_int_equal(support_compare(&variant, &shape, &want, &got), 0);
  memset(planned.scale[0].data, 0xFF, planned.scale[0].size);
  assert_int_equal(mxq_run(context, &variant, &shape, &got, MXQ_DEVICE_CPU, NULL), MXQ_OK);
  assert_int_equal(support_compare(&variant, &shape, &want, &got), 0);
  assert_true(guards_whole(&planned));
  mxq_plan_destroy(plan);
  mxq_plan_destroy(NULL);
  support_tensors_free(&direct);
  support_tensors_free(&planned);
}

/* What the other tests rely on: a flipped bit is counted, a written guard is seen. */
static void test_support_sees_faults(void **state) {
  struct support_tensors a, b;
  (void)state;
  assert_int_equal(support_tensors_make(&variant, &shape, 1, &a), MXQ_OK);
  assert_int_equal(support_tensors_make(&variant, &shape, 1, &b), MXQ_OK);
  const struct mxq_pointers left = support_tensors_pointers(&a);
  const struct mxq_pointers right = support_tensors_pointers(&b);
  assert_memory_equal(a.in.data, b.in.data, a.in.size);
  b.out[0].data[b.out[0].size - 1] ^= 1;
  b.scale[0].data[7] ^= 0x80;
  assert_int_equal(support_compare(&variant, &shape, &left, &right), 2);
  assert_true(guards_whole(&b));
  b.out[0].data[b.out[0].size] ^= 1;
  assert_false(support_buffer_guards(&b.out[0], "a guard that this test wrote"));
  b.scale[0].data[-1] ^= 1;
  assert_false(support_buffer_guards(&b.scale[0], "a guard that this test wrote"));
  support_tensors_free(&a);
  support_tensors_free(&b);
}

/* Tries a plan, a launch at other addresses and the one-call form with pointers that all refuse. */
static void refused(const struct mxq_pointers *pointers, const char *reason) {
  struct support_tensors tensors;
  struct mxq_plan *plan = NULL, *good = NULL;
  assert_int_equal(support_tensors_make(&variant, &shape, 1, &tensors), MXQ_OK);
  const struct mxq_pointers fine = support_tensors_pointers(&tensors);
  assert_int_equal(mxq_plan_create(kernel, &shape, &fine, &good), MXQ_OK);
  assert_int_equal(mxq_plan_create(kernel, &shape, pointers, &plan), MXQ_INVALID_ARGUMENT);
  if (!strstr(mxq_last_error(), reason)) fail_msg("no \"%s\" in: %s", reason, mxq_last_error());
  assert_null(plan);
  assert_int_equal(mxq_plan_launch_at(good, pointers, NULL), MXQ_INVALID_ARGUMENT);
  if (!strstr(mxq_last_error(), reason)) fail_msg("no \"%s\" in: %s", reason, mxq_last_error());
  assert_int_equal(mxq_run(context, &variant, &shape, pointers, MXQ_DEVICE_CPU, NULL),
                   MXQ_INVALID_ARGUMENT);
  if (!strstr(mxq_last_error(), reason)) fail_msg("no \"%s\" in: %s", reason, mxq_last_error());
  mxq_plan_destroy(good);
  support_tensors_free(&tensors);
}

static void test_pointers(void **state) {
  struct support_tensors tensors;
  (void)state;
  assert_int_equal(support_tensors_make(&variant, &shape, 1, &tensors), MXQ_OK);
  const struct mxq_pointers fine = support_tensors_pointers(&tensors);
  unsigned char *in = tensors.in.data;
  struct mxq_pointers bad = fine;
  refused(NULL, "pointers is NULL");
  bad.in = NULL, refused(&bad, "in is NULL"), bad = fine;
  bad.out[0] = NULL, refused(&bad, "out[0] is NULL"), bad = fine;
  bad.scale[0] = NULL, refused(&bad, "scale[0] is NULL"), bad = fine;
  bad.out[1] = fine.out[0], refused(&bad, "out[1] is not NULL"), bad = fine;
  bad.scale[1] = fine.out[0], refused(&bad, "scale[1] is not NULL"), bad = fine;
  bad.in_scale = in, refused(&bad, "in_scale is not NULL"), bad = fine;
  bad.in = in + 1, refused(&bad, "aligned to its elements of 2 bytes"), bad = fine;
  bad.out[0] = in, refused(&bad, "in ("), bad = fine;
  bad.out[0] = in + tensors.in.size - 1, refused(&bad, "overlap"), bad = fine;
  bad.out[0] = in - tensors.out[0].size + 1, refused(&bad, "overlap"), bad = fine;
  bad.scale[0] = in + 2, refused(&bad, "scale[0] ("), bad = fine;
  bad.scale[0] = tensors.out[0].data + 3, refused(&bad, "out[0] ("), bad = fine;
  bad.in = (const void *)(UINTPTR_MAX - 63), refused(&bad, "run past the last address");
  for (size_t i = 0; i < tensors.out[0].size; i++) assert_int_equal(tensors.out[0].data[i], 0xFF);
  assert_true(guards_whole(&tensors));
  support_tensors_free(&tensors);
}

/* Buffers may touch. */
static void test_neighbours(void **state) {
  const struct mxq_shape dense = mxq_shape_dense(1, 32, 4);
  _Alignas(16) unsigned char memory[32 * 4 * 2 + 32 * 4 + 4] = {0};
  const struct mxq_pointers up = {memory, NULL, {memory + 256, NULL}, {memory + 384, NULL}};
  const struct mxq_pointers down = {memory + 132, NULL, {memory + 4, NULL}, {memory, NULL}};
  (void)state;
  assert_int_equal(mxq_run(context, &variant, &dense, &up, MXQ_DEVICE_CPU, NULL), MXQ_OK);
  assert_int_equal(mxq_run(context, &variant, &dense, &down, MXQ_DEVICE_CPU, NULL), MXQ_OK);
}

static void test_shapes(void **state) {
  const struct mxq_shape bad[] = {
      {-1, 67, 45, 4000, 50},
      {3, -67, 45, 4000, 50},
      {3, 67, -45, 4000, 50},
      {3, 67, 45, -4000, 50},
      {3, 67, 45, 4000, -50},
      {3, 67, 45, INT64_MAX, 50},
      mxq_shape_dense(1u << 31, 1u << 31, 1u << 31),
  };
  unsigned char byte[2];
  const struct mxq_pointers pointers = {byte, NULL, {byte, NULL}, {byte, NULL}};
  struct mxq_plan *plan = NULL;
  (void)state;
  for (size_t i = 0; i < COUNT(bad); i++) {
    assert_int_equal(mxq_plan_create(kernel, &bad[i], &pointers, &plan), MXQ_INVALID_ARGUMENT);
    assert_int_equal(mxq_run(context, &variant, &bad[i], &pointers, MXQ_DEVICE_CPU, NULL),
                     MXQ_INVALID_ARGUMENT);
    assert_int_equal(mxq_supported(context, &variant, &bad[i], MXQ_DEVICE_CPU),
                     MXQ_INVALID_ARGUMENT);
  }
  assert_int_equal(mxq_plan_create(kernel, NULL, &pointers, &plan), MXQ_INVALID_ARGUMENT);
  assert_null(plan);
}

static void test_nothing_to_do(void **state) {
  const int64_t lengths[][3] = {{0, 67, 45}, {3, 0, 45}, {3, 67, 0}, {0, 0, 0}};
  const struct mxq_pointers none = {NULL, NULL, {NULL, NULL}, {NULL, NULL}};
  struct mxq_plan *plan;
  (void)state;
  for (size_t i = 0; i < COUNT(lengths); i++) {
    const struct mxq_shape empty = mxq_shape_dense(lengths[i][0], lengths[i][1], lengths[i][2]);
    assert_int_equal(mxq_plan_create(kernel, &empty, &none, &plan), MXQ_OK);
    assert_int_equal(mxq_plan_launch(plan, NULL), MXQ_OK);
    assert_int_equal(mxq_plan_launch_at(plan, &none, NULL), MXQ_OK);
    mxq_plan_destroy(plan);
    assert_int_equal(mxq_run(context, &variant, &empty, &none, MXQ_DEVICE_AUTO, NULL), MXQ_OK);
  }
}

static void test_arguments(void **state) {
  const struct mxq_shape empty = mxq_shape_dense(0, 0, 0);
  const struct mxq_pointers none = {NULL, NULL, {NULL, NULL}, {NULL, NULL}};
  const mxq_stream stream = (mxq_stream)&none;
  struct mxq_variant broken = variant;
  struct mxq_plan *plan;
  (void)state;
  broken.mode = 77;
  assert_int_equal(mxq_plan_create(NULL, &empty, &none, &plan), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_plan_create(kernel, &empty, &none, NULL), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_plan_launch(NULL, NULL), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_plan_launch_at(NULL, &none, NULL), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_run(NULL, &variant, &empty, &none, MXQ_DEVICE_CPU, NULL),
                   MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_run(context, NULL, &empty, &none, MXQ_DEVICE_CPU, NULL),
                   MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_run(context, &broken, &empty, &none, MXQ_DEVICE_CPU, NULL),
                   MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_supported(NULL, &variant, &empty, MXQ_DEVICE_CPU), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_supported(context, &broken, &empty, MXQ_DEVICE_CPU), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_supported(context, &variant, NULL, MXQ_DEVICE_CPU), MXQ_OK);
  assert_int_equal(mxq_plan_create(kernel, &empty, &none, &plan), MXQ_OK);
  assert_int_equal(mxq_plan_launch(plan, stream), MXQ_INVALID_ARGUMENT);
  assert_non_null(strstr(mxq_last_error(), "the plan computes on the CPU"));
  mxq_plan_destroy(plan);
}

/* With or without a driver: never success, never a crash. */
static void test_devices(void **state) {
  _Alignas(16) unsigned char memory[32 * 4 * 2 + 32 * 4 + 4] = {0};
  const struct mxq_shape dense = mxq_shape_dense(1, 32, 4);
  const struct mxq_pointers pointers = {memory, NULL, {memory + 256, NULL}, {memory + 384, NULL}};
  const int devices[] = {-3, INT32_MIN};
  (void)state;
  for (size_t i = 0; i < COUNT(devices); i++) {
    assert_int_equal(mxq_run(context, &variant, &dense, &pointers, devices[i], NULL),
                     MXQ_INVALID_ARGUMENT);
    assert_int_equal(mxq_supported(context, &variant, &dense, devices[i]), MXQ_INVALID_ARGUMENT);
  }
  assert_int_equal(mxq_supported(context, &variant, &dense, MXQ_DEVICE_AUTO), MXQ_INVALID_ARGUMENT);
  assert_int_not_equal(mxq_run(context, &variant, &dense, &pointers, 4096, NULL), MXQ_OK);
  assert_int_not_equal(mxq_supported(context, &variant, &dense, 4096), MXQ_OK);
  assert_int_equal(mxq_run(context, &variant, &dense, NULL, MXQ_DEVICE_AUTO, NULL),
                   MXQ_INVALID_ARGUMENT);
  /* Host memory is never taken to the CPU silently. */
  assert_int_not_equal(mxq_run(context, &variant, &dense, &pointers, MXQ_DEVICE_AUTO, NULL),
                       MXQ_OK);
  for (size_t i = 0; i < sizeof memory; i++) assert_int_equal(memory[i], 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_results),   cmocka_unit_test(test_support_sees_faults),
      cmocka_unit_test(test_pointers),  cmocka_unit_test(test_neighbours),
      cmocka_unit_test(test_shapes),    cmocka_unit_test(test_nothing_to_do),
      cmocka_unit_test(test_arguments), cmocka_unit_test(test_devices),
  };
  return cmocka_run_group_tests_name("plan_cpu", tests, set_up, tear_down);
}
