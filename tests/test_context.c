/* SPDX-License-Identifier: MIT
 *
 * Contexts: settings, the environment, and what a machine without a driver says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "context.h"
#include "device.h"

static const char *const variables[] = {"MXQ_NVRTC", "MXQ_CACHE_DIR", "MXQ_CACHE_SIZE",
                                        "MXQ_JIT",   "MXQ_RECORD",    "MXQ_LOG"};

static int clear_environment(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; ++i) unsetenv(variables[i]);
  return 0;
}

static struct mxq_context *create(const struct mxq_config *config) {
  struct mxq_context *context = NULL;
  if (mxq_context_create(config, &context) != MXQ_OK) fail_msg("%s", mxq_last_error());
  return context;
}

/* The configuration is refused with a text that holds `part`, and nothing is made. */
static void expect_refused(const struct mxq_config *config, const char *part) {
  struct mxq_context *const untouched = (struct mxq_context *)(uintptr_t)8;
  struct mxq_context *context = untouched;
  assert_int_equal(mxq_context_create(config, &context), MXQ_INVALID_ARGUMENT);
  assert_ptr_equal(context, untouched);
  if (!strstr(mxq_last_error(), part)) fail_msg("no \"%s\" in: %s", part, mxq_last_error());
}

static struct mxq_variant variant_of(const char *name) {
  struct mxq_variant variant;
  if (mxq_variant_parse(name, &variant) != MXQ_OK) fail_msg("%s", mxq_last_error());
  return variant;
}

static void no_configuration_means_defaults(void **state) {
  (void)state;
  struct mxq_context *context = create(NULL);
  assert_int_equal(context->jit, MXQ_JIT_ON);
  assert_int_equal(context->log_level, MXQ_LOG_NONE);
  assert_in_range(context->compile_threads, 1, 8);
  assert_null(context->nvrtc.handle);
  mxq_context_destroy(context);
  mxq_context_destroy(NULL);
}

static void a_wrong_configuration_is_refused(void **state) {
  (void)state;
  struct mxq_config config = MXQ_CONFIG_INIT;
  assert_int_equal(mxq_context_create(NULL, NULL), MXQ_INVALID_ARGUMENT);
  config.size = 0;
  expect_refused(&config, "MXQ_CONFIG_INIT");
  config.size = sizeof config + 8;
  expect_refused(&config, "MXQ_CONFIG_INIT");
  config = (struct mxq_config)MXQ_CONFIG_INIT;
  config.compile_threads = 9;
  expect_refused(&config, "1 to 8");
  config = (struct mxq_config)MXQ_CONFIG_INIT;
  config.jit = (enum mxq_jit_mode)7;
  expect_refused(&config, "on, cache, off");
  config = (struct mxq_config)MXQ_CONFIG_INIT;
  config.log_level = (enum mxq_log_level)9;
  expect_refused(&config, "none, warning, info");
  config = (struct mxq_config)MXQ_CONFIG_INIT;
  config.cache_strict = 2;
  expect_refused(&config, "cache_strict");
}

static void wrong_variables_are_refused_by_name(void **state) {
  (void)state;
  static const char *const rows[][3] = {
      {"MXQ_JIT", "yes", "on, cache, off"},
      {"MXQ_LOG", "debug", "none, warning, info"},
      {"MXQ_CACHE_SIZE", "12Q", "512M"},
      {"MXQ_CACHE_SIZE", "-1", "512M"},
      {"MXQ_CACHE_SIZE", "0", "512M"},
      {"MXQ_CACHE_SIZE", "1GG", "512M"},
      {"MXQ_CACHE_SIZE", "99999999999999999999", "512M"},
      {"MXQ_CACHE_SIZE", "9999999999T", "512M"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    setenv(rows[i][0], rows[i][1], 1);
    expect_refused(NULL, rows[i][0]);
    expect_refused(NULL, rows[i][1]);
    expect_refused(NULL, rows[i][2]);
    unsetenv(rows[i][0]);
  }
}

static void the_configuration_wins_over_variables(void **state) {
  (void)state;
  struct mxq_config config = MXQ_CONFIG_INIT;
  setenv("MXQ_JIT", "cache", 1);
  setenv("MXQ_LOG", "info", 1);
  setenv("MXQ_CACHE_SIZE", "3k", 1);
  setenv("MXQ_CACHE_DIR", "/from/variable:/second", 1);
  setenv("MXQ_NVRTC", "/nvrtc/of/variable", 1);
  struct mxq_context *context = create(NULL);
  assert_int_equal(context->jit, MXQ_JIT_CACHE);
  assert_int_equal(context->log_level, MXQ_LOG_INFO);
  assert_int_equal(context->store.size_bytes, 3072);
  assert_int_equal(context->store.dir_count, 2);
  assert_string_equal(context->store.dirs[1], "/second");
  assert_string_equal(context->search.path, "/nvrtc/of/variable");
  mxq_context_destroy(context);
  config.jit = MXQ_JIT_OFF;
  config.log_level = MXQ_LOG_WARNING;
  config.cache_size_bytes = 77;
  config.cache_dirs = "/mine";
  config.nvrtc_path = "/nvrtc/mine";
  config.compile_threads = 3;
  context = create(&config);
  assert_int_equal(context->jit, MXQ_JIT_OFF);
  assert_int_equal(context->log_level, MXQ_LOG_WARNING);
  assert_int_equal(context->store.size_bytes, 77);
  assert_int_equal(context->store.dir_count, 1);
  assert_string_equal(context->store.dirs[0], "/mine");
  assert_string_equal(context->search.path, "/nvrtc/mine");
  assert_int_equal(context->compile_threads, 3);
  mxq_context_destroy(context);
}

/* Counts what is allocated, and fails one of the allocations. */
struct counter {
  long live;
  long made;
  long failing;
};
static void *counting_resize(void *user, void *pointer, size_t size) {
  struct counter *counter = user;
  if (!size) {
    counter->live -= pointer != NULL;
    free(pointer);
    return NULL;
  }
  if (counter->made++ == counter->failing) return NULL;
  counter->live += pointer == NULL;
  return realloc(pointer, size);
}

static void any_failing_allocation_is_reported_and_leaks_nothing(void **state) {
  (void)state;
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_context *context = NULL;
  enum mxq_status status = MXQ_OUT_OF_MEMORY;
  long n = 0;
  config.resize = counting_resize;
  config.cache_dirs = "/a:/b:/c";
  setenv("MXQ_RECORD", "/record", 1);
  for (; status != MXQ_OK; ++n) {
    struct counter counter = {0, 0, n};
    config.resize_user = &counter;
    status = mxq_context_create(&config, &context);
    if (status == MXQ_OK) mxq_context_destroy(context);
    if (status != MXQ_OK) assert_int_equal(status, MXQ_OUT_OF_MEMORY);
    assert_int_equal(counter.live, 0);
    assert_true(n < 50);
  }
  assert_true(n > 5);
}

static void a_cpu_kernel_needs_no_driver(void **state) {
  (void)state;
  struct mxq_context *context = create(NULL);
  const struct mxq_variant variant = variant_of("quantize_f32_e4m3_b32_floor_colt_lin");
  struct mxq_kernel *first = NULL, *second = NULL;
  assert_int_equal(mxq_kernel_get(context, &variant, MXQ_DEVICE_CPU, &first), MXQ_OK);
  assert_int_equal(mxq_kernel_get(context, &variant, MXQ_DEVICE_CPU, &second), MXQ_OK);
  assert_ptr_equal(first, second);
  mxq_kernel_release(first);
  mxq_kernel_release(second);
  mxq_kernel_release(NULL);
  mxq_context_destroy(context);
}

static void wrong_kernel_arguments_are_refused(void **state) {
  (void)state;
  struct mxq_context *context = create(NULL);
  struct mxq_variant variant = variant_of("quantize_f32_e4m3_b32_floor_colt_lin");
  struct mxq_kernel *kernel = NULL;
  assert_int_equal(mxq_kernel_get(NULL, &variant, 0, &kernel), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_kernel_get(context, NULL, 0, &kernel), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_kernel_get(context, &variant, 0, NULL), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_kernel_get(context, &variant, MXQ_DEVICE_AUTO, &kernel),
                   MXQ_INVALID_ARGUMENT);
  assert_non_null(strstr(mxq_last_error(), "mxq_run"));
  variant.reserved[3] = 1;
  assert_int_equal(mxq_kernel_get(context, &variant, MXQ_DEVICE_CPU, &kernel),
                   MXQ_INVALID_ARGUMENT);
  assert_null(kernel);
  mxq_context_destroy(context);
}

/* With a driver: the device's number is checked. Without: the text tells what to do. */
static void a_missing_device_is_explained(void **state) {
  (void)state;
  struct mxq_context *context = create(NULL);
  const struct mxq_variant variant = variant_of("quantize_f32_e4m3_b32_floor_colt_lin");
  struct mxq_kernel *kernel = NULL;
  int count = 0;
  const enum mxq_status expected =
      mxq_device_count(&count) == MXQ_OK ? MXQ_NO_DEVICE : MXQ_NO_DRIVER;
  assert_int_equal(mxq_kernel_get(context, &variant, 1000, &kernel), expected);
  assert_null(kernel);
  if (expected == MXQ_NO_DRIVER) {
    assert_non_null(strstr(mxq_last_error(), "libcuda.so.1"));
    assert_non_null(strstr(mxq_last_error(), "driver"));
    assert_int_equal(mxq_prepare(context, NULL, &variant, 1), MXQ_NO_DRIVER);
  }
  mxq_context_destroy(context);
}

/* A fork before the driver's first use leaves the child free to use it. */
static void a_child_of_an_early_fork_is_no_forked_child(void **state) {
  (void)state;
  int status = 0, count = 0;
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) _exit(mxq_device_count(&count) == MXQ_FORKED);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

int main(void) {
#define EACH(function) cmocka_unit_test_setup(function, clear_environment)
  const struct CMUnitTest tests[] = {
      EACH(a_child_of_an_early_fork_is_no_forked_child),
      EACH(no_configuration_means_defaults),
      EACH(a_wrong_configuration_is_refused),
      EACH(wrong_variables_are_refused_by_name),
      EACH(the_configuration_wins_over_variables),
      EACH(any_failing_allocation_is_reported_and_leaks_nothing),
      EACH(a_cpu_kernel_needs_no_driver),
      EACH(wrong_kernel_arguments_are_refused),
      EACH(a_missing_device_is_explained),
  };
#undef EACH
  return cmocka_run_group_tests(tests, NULL, NULL);
}
