/* SPDX-License-Identifier: MIT
 *
 * What calls leave alone: launching allocates nothing, takes no lock, reads no variable and makes
 * no string; creating a context opens nothing; a kernel that is there is found without a lock. Seen
 * at the calls of the C library (--wrap), the fake driver's own not counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>

#include "fakes.h"
#include "host_scenario.h"

enum { MEMORY, LOCK, VARIABLE, STRING, FILES, KINDS };
static const char *const kinds[] = {"memory", "a lock", "a variable", "a string", "a file"};
static unsigned counts[KINDS];

#define WRAP(kind, result, name, parameters, arguments) \
  result __real_##name parameters;                      \
  result __wrap_##name parameters;                      \
  result __wrap_##name parameters {                     \
    counts[kind]++;                                     \
    return __real_##name arguments;                     \
  }
WRAP(MEMORY, void *, malloc, (size_t size), (size))
WRAP(MEMORY, void *, calloc, (size_t count, size_t size), (count, size))
WRAP(MEMORY, void *, realloc, (void *pointer, size_t size), (pointer, size))
WRAP(LOCK, int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
WRAP(LOCK, int, pthread_once, (pthread_once_t * once, void (*function)(void)), (once, function))
WRAP(VARIABLE, char *, getenv, (const char *name), (name))
WRAP(FILES, void *, dlopen, (const char *file, int flags), (file, flags))
WRAP(FILES, FILE *, fopen, (const char *file, const char *mode), (file, mode))

int __real_vsnprintf(char *text, size_t size, const char *format, va_list arguments);
int __wrap_vsnprintf(char *text, size_t size, const char *format, va_list arguments);
int __wrap_vsnprintf(char *text, size_t size, const char *format, va_list arguments) {
  counts[STRING]++;
  return __real_vsnprintf(text, size, format, arguments);
}
int __wrap_snprintf(char *text, size_t size, const char *format, ...);
int __wrap_snprintf(char *text, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  counts[STRING]++;
  const int length = __real_vsnprintf(text, size, format, arguments);
  va_end(arguments);
  return length;
}
int __real_open(const char *path, int flags, int mode);
int __wrap_open(const char *path, int flags, int mode);
int __wrap_open(const char *path, int flags, int mode) {
  counts[FILES]++;
  return __real_open(path, flags, mode);
}
int __real_openat(int folder, const char *path, int flags, int mode);
int __wrap_openat(int folder, const char *path, int flags, int mode);
int __wrap_openat(int folder, const char *path, int flags, int mode) {
  counts[FILES]++;
  return __real_openat(folder, path, flags, mode);
}

static void forget(void) { memset(counts, 0, sizeof counts); }

/* The first kind of `these` that was used since. */
static const char *used(unsigned these) {
  for (unsigned kind = 0; kind < KINDS; kind++)
    if (these >> kind & 1 && counts[kind]) return kinds[kind];
  return "nothing";
}
#define EVERYTHING ((1u << KINDS) - 1)

static struct mxq_context *context;

static void test_creating_opens_nothing(void **state) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_context *made = NULL;
  (void)state;
  config.cache_dirs = "/proc/mxq";
  forget();
  assert_int_equal(mxq_context_create(&config, &made), MXQ_OK);
  assert_string_equal(used(1u << FILES), "nothing");
  assert_int_not_equal(counts[VARIABLE], 0); /* that is where variables are read */
  mxq_context_destroy(made);
}

/* Of a variant with tensor maps, and of the CPU. */
static void test_launching(void **state) {
  static const int devices[] = {0, MXQ_DEVICE_CPU};
  struct scenario scenario;
  (void)state;
  assert_int_equal(scenario_make(&scenario, 1), MXQ_OK);
  for (size_t i = 0; i < 2; i++) {
    const struct mxq_pointers *at = i ? &scenario.run.want : &scenario.run.at;
    const mxq_stream stream = i ? NULL : scenario.stream;
    struct mxq_kernel *kernel = NULL;
    struct mxq_plan *plan = NULL;
    assert_int_equal(mxq_kernel_get(context, &scenario.variant, devices[i], &kernel), MXQ_OK);
    assert_int_equal(mxq_plan_create(kernel, &scenario.shape, at, &plan), MXQ_OK);
    forget();
    assert_int_equal(mxq_plan_launch(plan, stream), MXQ_OK);
    assert_string_equal(used(EVERYTHING), "nothing");
    assert_int_equal(mxq_plan_launch_at(plan, at, stream), MXQ_OK);
    assert_string_equal(used(EVERYTHING), "nothing");
    mxq_plan_destroy(plan);
    mxq_kernel_release(kernel);
  }
  scenario_free(&scenario);
}

static void test_finding_a_kernel(void **state) {
  struct scenario scenario;
  struct mxq_kernel *kernel = NULL;
  (void)state;
  assert_int_equal(scenario_make(&scenario, 0), MXQ_OK);
  assert_int_equal(mxq_kernel_get(context, &scenario.variant, 0, &kernel), MXQ_OK);
  mxq_kernel_release(kernel);
  forget();
  assert_int_equal(mxq_kernel_get(context, &scenario.variant, 0, &kernel), MXQ_OK);
  mxq_kernel_release(kernel);
  assert_string_equal(used(EVERYTHING), "nothing");
}

static int set_up(void **state) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  (void)state;
  config.cache_dirs = "/proc/mxq";
  return mxq_context_create(&config, &context);
}

static int tear_down(void **state) {
  (void)state;
  mxq_context_destroy(context);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_creating_opens_nothing),
      cmocka_unit_test(test_launching),
      cmocka_unit_test(test_finding_a_kernel),
  };
  return cmocka_run_group_tests_name("quiet", tests, set_up, tear_down);
}
