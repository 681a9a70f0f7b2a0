/* SPDX-License-Identifier: MIT
 *
 * Fork, exit and unloading: what a library must survive in other people's programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "context.h"
#include "expand.h"
#include "fakes.h"
#include "host_scenario.h"

#define CODE_FORBIDDEN 66

static struct fakes fakes;
static char dir[] = "/tmp/mxq-process-XXXXXX";

struct used {
  struct scenario scenario;
  struct mxq_context *context;
  struct mxq_kernel *kernel;
  struct mxq_plan *plan;
};

/* A context with a plan that ran once, and an entry on disk. */
static int use(struct used *used) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  config.cache_dirs = dir;
  CHILD_CHECK(fakes_open(&fakes) && scenario_make(&used->scenario, 1) == MXQ_OK);
  CHILD_CHECK(mxq_context_create(&config, &used->context) == MXQ_OK);
  CHILD_CHECK(mxq_prepare(used->context, "90a", &used->scenario.variant, 1) == MXQ_OK);
  CHILD_CHECK(mxq_kernel_get(used->context, &used->scenario.variant, 0, &used->kernel) == MXQ_OK);
  CHILD_CHECK(mxq_plan_create(used->kernel, &used->scenario.shape, &used->scenario.run.at,
                              &used->plan) == MXQ_OK);
  CHILD_CHECK(mxq_plan_launch(used->plan, used->scenario.stream) == MXQ_OK);
  return 0;
}

/* ---- Fork ---------------------------------------------------------------------------------- */

/* In the child of a fork that followed the first use: no call may reach the driver. */
static int refuse_the_driver(const struct used *used) {
  const struct scenario *scenario = &used->scenario;
  struct mxq_context *fresh = NULL;
  struct mxq_kernel *kernel = NULL;
  struct mxq_plan *plan = NULL;
  int count = 0;
  fakes.fake_forbid();
  CHILD_CHECK(mxq_context_create(NULL, &fresh) == MXQ_OK);
  struct mxq_context *const contexts[] = {used->context, fresh};
  for (int i = 0; i < 2; i++) {
    struct mxq_context *context = contexts[i];
    CHILD_CHECK(mxq_supported(context, &scenario->variant, NULL, 0) == MXQ_FORKED);
    CHILD_CHECK(mxq_kernel_get(context, &scenario->variant, 0, &kernel) == MXQ_FORKED);
    CHILD_CHECK(mxq_prepare(context, NULL, &scenario->variant, 1) == MXQ_FORKED);
    CHILD_CHECK(mxq_run(context, &scenario->variant, &scenario->shape, &scenario->run.at,
                        MXQ_DEVICE_AUTO, NULL) == MXQ_FORKED);
  }
  CHILD_CHECK(mxq_plan_create(used->kernel, &scenario->shape, &scenario->run.at, &plan) ==
              MXQ_FORKED);
  CHILD_CHECK(mxq_plan_launch(used->plan, scenario->stream) == MXQ_FORKED);
  CHILD_CHECK(mxq_plan_launch(used->plan, NULL) == MXQ_FORKED);
  CHILD_CHECK(mxq_plan_launch_at(used->plan, &scenario->run.at, NULL) == MXQ_FORKED);
  CHILD_CHECK(mxq_device_count(&count) == MXQ_FORKED);
  CHILD_CHECK(strstr(mxq_last_error(), "spawn"));
  mxq_context_destroy(fresh);
  return 0;
}

/* Names, sources, the CPU path and the disk cache go on. */
static int do_without_the_driver(struct used *used) {
  struct scenario *scenario = &used->scenario;
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_context *fresh = NULL;
  struct mxq_kernel_id id;
  const struct mxq_arch *arch = NULL;
  const struct mxq_image *image = NULL;
  enum mxq_origin origin = MXQ_ORIGIN_COMPILED;
  char name[MXQ_VARIANT_NAME_SIZE], *source = NULL;
  size_t length = 0;
  config.cache_dirs = dir;
  config.jit = MXQ_JIT_CACHE;
  CHILD_CHECK(mxq_variant_name(&scenario->variant, name, sizeof name) == MXQ_OK);
  CHILD_CHECK(mxq_kernel_id_parse(name, &id) == MXQ_OK && mxq_arch_parse("90a", &arch) == MXQ_OK);
  CHILD_CHECK(mxq_expand(&mxq_allocator_default, &id, arch, NULL, &source, &length) == MXQ_OK);
  free(source);
  CHILD_CHECK(mxq_run(used->context, &scenario->variant, &scenario->shape, &scenario->run.want,
                      MXQ_DEVICE_CPU, NULL) == MXQ_OK);
  CHILD_CHECK(mxq_context_create(&config, &fresh) == MXQ_OK);
  CHILD_CHECK(mxq_prepare(fresh, "90a", &scenario->variant, 1) == MXQ_OK);
  CHILD_CHECK(mxq_image_get(used->context, &id, arch, &image, &origin) == MXQ_OK);
  CHILD_CHECK(origin == MXQ_ORIGIN_MEMORY);
  mxq_context_destroy(fresh);
  mxq_plan_destroy(used->plan);
  mxq_kernel_release(used->kernel);
  mxq_context_destroy(used->context); /* no driver call either */
  return 0;
}

static int use_then_fork(void *user) {
  struct used used;
  int status = 0;
  (void)user;
  CHILD_CHECK(use(&used) == 0);
  const pid_t child = fork();
  if (child == 0) _exit(refuse_the_driver(&used) || do_without_the_driver(&used));
  CHILD_CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHILD_CHECK(mxq_plan_launch(used.plan, used.scenario.stream) == MXQ_OK); /* the parent goes on */
  CHILD_CHECK(scenario_is_right(&used.scenario));
  return 0;
}

static void a_child_does_all_but_use_the_driver(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("", use_then_fork, NULL), 0);
}

/* ---- Exit ---------------------------------------------------------------------------------- */

static void forbid(void) { fakes.fake_forbid(); }

/* Leaves everything as it is. Handlers run in reverse: ours before whatever came earlier, and
 * libraries' destructors after it. */
static int exit_in_the_middle(void *user) {
  static struct used used;
  (void)user;
  CHILD_CHECK(use(&used) == 0);
  CHILD_CHECK(atexit(forbid) == 0);
  exit(0);
}

/* The check itself: a driver call in a handler is seen. */
static void call_at_exit(void) { mxq_device_synchronize(0); }
static int call_the_driver_at_exit(void *user) {
  static struct used used;
  (void)user;
  CHILD_CHECK(use(&used) == 0);
  CHILD_CHECK(atexit(call_at_exit) == 0 && atexit(forbid) == 0);
  exit(0);
}

static void exit_calls_no_driver(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("", exit_in_the_middle, NULL), 0);
  assert_int_equal(fakes_in_child("", call_the_driver_at_exit, NULL), CODE_FORBIDDEN);
}

/* ---- Unloading ----------------------------------------------------------------------------- */

struct api {
  __typeof__(mxq_context_create) *create;
  __typeof__(mxq_context_destroy) *destroy;
  __typeof__(mxq_variant_parse) *parse;
  __typeof__(mxq_kernel_get) *get;
  __typeof__(mxq_kernel_release) *release;
  __typeof__(mxq_run) *run;
};

static int use_loaded(void *library, const struct scenario *scenario) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_context *context = NULL;
  struct mxq_kernel *kernel = NULL;
  struct api api;
  CHILD_CHECK(fakes_find(library, "mxq_context_create", &api.create) &&
              fakes_find(library, "mxq_context_destroy", &api.destroy) &&
              fakes_find(library, "mxq_variant_parse", &api.parse) &&
              fakes_find(library, "mxq_kernel_get", &api.get) &&
              fakes_find(library, "mxq_kernel_release", &api.release) &&
              fakes_find(library, "mxq_run", &api.run));
  config.cache_dirs = dir;
  CHILD_CHECK(api.create(&config, &context) == MXQ_OK);
  CHILD_CHECK(api.run(context, &scenario->variant, &scenario->shape, &scenario->run.at, 0,
                      scenario->stream) == MXQ_OK);
  CHILD_CHECK(api.get(context, &scenario->variant, 0, &kernel) == MXQ_OK);
  CHILD_CHECK(fakes.fake_libraries() == 1);
  api.release(kernel);
  api.destroy(context);
  CHILD_CHECK(fakes.fake_libraries() == 0);
  return 0;
}

static int load_use_and_unload(void *user) {
  struct scenario scenario;
  int status = 0;
  (void)user;
  CHILD_CHECK(fakes_open(&fakes) && scenario_make(&scenario, 1) == MXQ_OK);
  for (int round = 0; round < 3; round++) {
    void *library = dlopen(MXQ_BUILD_BIN "/../lib/libmxq.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    CHILD_CHECK(library && use_loaded(library, &scenario) == 0);
    CHILD_CHECK(scenario_is_right(&scenario));
    CHILD_CHECK(dlclose(library) == 0);
    library = dlopen(MXQ_BUILD_BIN "/../lib/libmxq.so", RTLD_NOW | RTLD_NOLOAD);
    CHILD_CHECK(!library);      /* it really went */
    const pid_t child = fork(); /* its handlers must be gone */
    if (child == 0) _exit(0);
    CHILD_CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  return 0;
}

static void the_library_can_be_unloaded(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("", load_use_and_unload, NULL), 0);
}

int main(void) {
  char command[64];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_child_does_all_but_use_the_driver),
      cmocka_unit_test(exit_calls_no_driver),
      cmocka_unit_test(the_library_can_be_unloaded),
  };
  if (!mkdtemp(dir)) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  snprintf(command, sizeof command, "rm -rf '%s'", dir);
  return system(command) || failed;
}
