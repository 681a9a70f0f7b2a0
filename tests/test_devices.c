/* SPDX-License-Identifier: MIT
 *
 * Devices, drivers and images of every kind, as the fake driver pretends them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "context.h"
#include "fakes.h"
#include "host_scenario.h"
#include "kernel.h"
#include "plan_as.h"
#include "shape.h"
#include "status.h"

static struct fakes fakes;
static char warnings[2048];

static void keep_warnings(void *user, enum mxq_log_level level, const char *message) {
  (void)user;
  if (level == MXQ_LOG_WARNING) snprintf(warnings, sizeof warnings, "%s", message);
}

/* NULL on failure. */
static struct mxq_context *create(enum mxq_jit_mode jit, const char *dirs) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_context *context = NULL;
  config.jit = jit;
  config.cache_dirs = dirs;
  config.log = keep_warnings;
  config.log_level = MXQ_LOG_WARNING;
  return mxq_context_create(&config, &context) == MXQ_OK ? context : NULL;
}

static int says(const char *text) { return strstr(mxq_last_error(), text) != NULL; }

/* ---- Devices and drivers ------------------------------------------------------------------ */

static int use_devices_of_three_archs(void *user) {
  struct mxq_context *context = create(MXQ_JIT_ON, "/proc/mxq");
  struct scenario scenario;
  struct mxq_kernel *kernel = NULL;
  int count = 0;
  (void)user;
  CHILD_CHECK(fakes_open(&fakes) && scenario_make(&scenario, 1) == MXQ_OK);
  CHILD_CHECK(mxq_device_count(&count) == MXQ_OK && count == 3);
  CHILD_CHECK(mxq_kernel_get(context, &scenario.variant, 1, &kernel) == MXQ_OK);
  CHILD_CHECK(!strcmp(kernel->arch->name, "100a"));
  mxq_kernel_release(kernel);
  CHILD_CHECK(mxq_kernel_get(context, &scenario.variant, 2, &kernel) == MXQ_UNSUPPORTED);
  CHILD_CHECK(mxq_supported(context, &scenario.variant, NULL, 2) == MXQ_UNSUPPORTED);
  CHILD_CHECK(says("3.0"));
  CHILD_CHECK(mxq_kernel_get(context, &scenario.variant, 3, &kernel) == MXQ_NO_DEVICE);
  CHILD_CHECK(says("0 to 2"));
  mxq_context_destroy(context);
  scenario_free(&scenario);
  return 0;
}

/* What a kernel knows of its device's choices is what a selection finds anew, at each size. */
static int selects_as_anew(const struct mxq_kernel *kernel) {
  static const int64_t lengths[] = {128, 1024, 16384, 1001};
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    const struct mxq_shape shape = mxq_shape_dense(1, lengths[i], lengths[i]);
    struct mxq_byte_counts bytes;
    struct mxq_tensor_plan known, anew;
    CHILD_CHECK(mxq_shape_measure(&kernel->variant, &shape, &bytes) == MXQ_OK);
    CHILD_CHECK(mxq_plan_select_of(kernel, &bytes, &shape, NULL, &known) == MXQ_OK);
    CHILD_CHECK(mxq_plan_select(&kernel->variant, kernel->arch, &kernel->capacity, &shape, NULL,
                                &anew) == MXQ_OK);
    CHILD_CHECK(memcmp(&known, &anew, sizeof known) == 0);
  }
  return 0;
}

static int use_archs_of_minors(void *user) {
  static const char *const names[] = {"80", "80", "80", "89", "121a"};
  struct mxq_context *context = create(MXQ_JIT_ON, "/proc/mxq");
  struct scenario scenario;
  (void)user;
  CHILD_CHECK(fakes_open(&fakes) && scenario_make(&scenario, 1) == MXQ_OK);
  for (int device = 0; device < 5; device++) {
    struct mxq_kernel *kernel = NULL;
    CHILD_CHECK(mxq_kernel_get(context, &scenario.variant, device, &kernel) == MXQ_OK);
    CHILD_CHECK(!strcmp(kernel->arch->name, names[device]));
    CHILD_CHECK(selects_as_anew(kernel) == 0);
    CHILD_CHECK(mxq_supported(context, &scenario.variant, NULL, device) == MXQ_OK);
    (void)mxq_status_set(MXQ_INTERNAL, "an earlier failure");
    CHILD_CHECK(mxq_prepare(context, names[device], &scenario.variant, 1) == MXQ_OK);
    CHILD_CHECK(says("an earlier failure"));
    mxq_kernel_release(kernel);
  }
  mxq_context_destroy(context);
  scenario_free(&scenario);
  return 0;
}

static int see_no_device(void *user) {
  struct mxq_context *context = create(MXQ_JIT_ON, "/proc/mxq");
  struct scenario scenario;
  struct mxq_kernel *kernel = NULL;
  (void)user;
  CHILD_CHECK(scenario_make(&scenario, 0) == MXQ_OK);
  CHILD_CHECK(mxq_kernel_get(context, &scenario.variant, 0, &kernel) == MXQ_NO_DEVICE);
  CHILD_CHECK(mxq_prepare(context, NULL, &scenario.variant, 1) == MXQ_NO_DEVICE);
  CHILD_CHECK(mxq_prepare(context, "90a", &scenario.variant, 1) == MXQ_OK);
  mxq_context_destroy(context);
  return 0;
}

static int run_whole_scenario(void *user) {
  struct scenario scenario;
  struct mxq_config config = MXQ_CONFIG_INIT;
  (void)user;
  config.cache_dirs = "/proc/mxq";
  config.log = keep_warnings;
  config.log_level = MXQ_LOG_WARNING;
  CHILD_CHECK(fakes_open(&fakes) && scenario_make(&scenario, 1) == MXQ_OK);
  CHILD_CHECK(scenario_run(&scenario, &config) == MXQ_OK && scenario_is_right(&scenario));
  scenario_free(&scenario);
  return 0;
}

static int see_an_old_driver(void *user) {
  int count = 0;
  (void)user;
  CHILD_CHECK(mxq_device_count(&count) == MXQ_NO_DRIVER);
  CHILD_CHECK(says("11.8") && says("12.0"));
  return 0;
}

static int be_warned_of_a_newer_nvrtc(void *user) {
  struct scenario scenario;
  struct mxq_context *context = create(MXQ_JIT_ON, "/proc/mxq");
  (void)user;
  CHILD_CHECK(scenario_make(&scenario, 0) == MXQ_OK);
  const struct mxq_nvrtc *nvrtc = NULL;
  CHILD_CHECK(mxq_context_nvrtc(context, &nvrtc) == MXQ_OK);
  CHILD_CHECK(strstr(warnings, "13.0") && strstr(warnings, "12.8"));
  mxq_context_destroy(context);
  return 0;
}

static void archs_are_those_of_the_devices(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("devices=90,100,30", use_devices_of_three_archs, NULL), 0);
}
static void code_of_an_older_minor_runs(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("devices=80,86,87,89,121", use_archs_of_minors, NULL), 0);
  assert_int_equal(fakes_in_child("devices=86", run_whole_scenario, NULL), 0);
  assert_int_equal(fakes_in_child("devices=87", run_whole_scenario, NULL), 0);
  assert_int_equal(fakes_in_child("devices=121", run_whole_scenario, NULL), 0);
}
static void a_driver_may_have_no_device(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("devices=", see_no_device, NULL), 0);
}
static void drivers_from_12_0_on_are_enough(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("version=12000", run_whole_scenario, NULL), 0);
  assert_int_equal(fakes_in_child("version=12040", run_whole_scenario, NULL), 0);
  assert_int_equal(fakes_in_child("version=14000", run_whole_scenario, NULL), 0);
  assert_int_equal(fakes_in_child("version=11080", see_an_old_driver, NULL), 0);
}
static void a_named_nvrtc_above_the_driver_is_said(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("version=12080", be_warned_of_a_newer_nvrtc, NULL), 0);
}

/* ---- Images ------------------------------------------------------------------------------- */

static int have_an_entry_refused(void *user) {
  const char *dir = user;
  struct scenario scenario;
  struct mxq_plan *plan = NULL;
  struct mxq_kernel *kernel = NULL;
  CHILD_CHECK(fakes_open(&fakes) && scenario_make(&scenario, 1) == MXQ_OK);
  for (int round = 0; round < 4; round++) { /* cold, from disk, refused, refused and no compiler */
    struct mxq_context *context = create(round == 3 ? MXQ_JIT_CACHE : MXQ_JIT_ON, dir);
    const uint64_t compiles = round == 0 || round == 2;
    CHILD_CHECK(mxq_kernel_get(context, &scenario.variant, 0, &kernel) == MXQ_OK);
    if (round >= 2) fakes.fake_refuse(1);
    (void)mxq_status_set(MXQ_INTERNAL, "an earlier failure");
    const enum mxq_status status =
        mxq_plan_create(kernel, &scenario.shape, &scenario.run.at, &plan);
    CHILD_CHECK(status == (round < 3 ? MXQ_OK : MXQ_DRIVER_ERROR));
    CHILD_CHECK(atomic_load(&context->made[MXQ_ORIGIN_COMPILED]) == compiles);
    if (round == 2) CHILD_CHECK(strstr(warnings, "refuses"));
    if (round < 3) CHILD_CHECK(says("an earlier failure"));
    if (round == 3) CHILD_CHECK(says("refuses") && says("MXQ_JIT") && says("CUDA 13.0"));
    if (status == MXQ_OK) mxq_plan_destroy(plan);
    mxq_kernel_release(kernel);
    mxq_context_destroy(context);
  }
  CHILD_CHECK(fakes.fake_libraries() == 0);
  scenario_free(&scenario);
  return 0;
}

static int have_a_fresh_image_refused(void *user) {
  struct scenario scenario;
  struct mxq_plan *plan = NULL;
  struct mxq_kernel *kernel = NULL;
  struct mxq_context *context = create(MXQ_JIT_ON, "/proc/mxq");
  (void)user;
  CHILD_CHECK(fakes_open(&fakes) && scenario_make(&scenario, 1) == MXQ_OK);
  CHILD_CHECK(mxq_kernel_get(context, &scenario.variant, 0, &kernel) == MXQ_OK);
  CHILD_CHECK(mxq_plan_create(kernel, &scenario.shape, &scenario.run.at, &plan) ==
              MXQ_DRIVER_ERROR);
  CHILD_CHECK(says("does not load") && says("209") && says("CUDA 13.0"));
  CHILD_CHECK(mxq_plan_create(kernel, &scenario.shape, &scenario.run.at, &plan) == MXQ_OK);
  mxq_plan_destroy(plan);
  mxq_kernel_release(kernel);
  mxq_context_destroy(context);
  scenario_free(&scenario);
  return 0;
}

static void an_entry_that_the_driver_refuses_is_compiled_anew(void **state) {
  char dir[] = "/tmp/mxq-devices-XXXXXX", command[64];
  (void)state;
  assert_non_null(mkdtemp(dir));
  assert_int_equal(fakes_in_child("", have_an_entry_refused, dir), 0);
  snprintf(command, sizeof command, "rm -rf '%s'", dir);
  assert_int_equal(system(command), 0);
}
static void a_fresh_image_that_is_refused_is_an_error(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("refuse=1", have_a_fresh_image_refused, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(archs_are_those_of_the_devices),
      cmocka_unit_test(code_of_an_older_minor_runs),
      cmocka_unit_test(a_driver_may_have_no_device),
      cmocka_unit_test(drivers_from_12_0_on_are_enough),
      cmocka_unit_test(a_named_nvrtc_above_the_driver_is_said),
      cmocka_unit_test(an_entry_that_the_driver_refuses_is_compiled_anew),
      cmocka_unit_test(a_fresh_image_that_is_refused_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
