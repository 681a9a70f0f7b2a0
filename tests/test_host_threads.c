/* SPDX-License-Identifier: MIT
 *
 * Many threads, none of which used CUDA before, on one context: each kernel is compiled once, other
 * kernels go on meanwhile, and results are right on either device.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "context.h"
#include "fakes.h"
#include "host_scenario.h"

enum { thread_count = 8, keys_max = 6 };

static struct fakes fakes;
static struct mxq_context *context;
static struct mxq_variant variants[keys_max];
static struct mxq_kernel_id ids[keys_max];
static const struct mxq_arch *arch;
static pthread_barrier_t together;

struct worker {
  pthread_t thread;
  int number;
  struct scenario scenario; /* its tensors */
  int good;
};

static int setup(void **state) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_variant variant = {0};
  char name[MXQ_VARIANT_NAME_SIZE];
  (void)state;
  config.cache_dirs = "/proc/mxq";
  for (int i = 0; i < keys_max; i++) {
    if (!mxq_variant_next(&variant)) return -1;
    variants[i] = variant;
    if (mxq_variant_name(&variant, name, sizeof name) != MXQ_OK) return -1;
    if (mxq_kernel_id_parse(name, &ids[i]) != MXQ_OK) return -1;
  }
  fakes.nvrtc_slow(0);
  fakes.nvrtc_fail(0);
  return mxq_context_create(&config, &context) != MXQ_OK;
}

static int teardown(void **state) {
  (void)state;
  mxq_context_destroy(context);
  return fakes.fake_libraries() != 0;
}

static uint64_t compiled(void) { return atomic_load(&context->made[MXQ_ORIGIN_COMPILED]); }

static void run_workers(struct worker *workers, void *(*work)(void *)) {
  pthread_barrier_init(&together, NULL, thread_count);
  for (int i = 0; i < thread_count; i++) {
    workers[i].number = i;
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < thread_count; i++) pthread_join(workers[i].thread, NULL);
  pthread_barrier_destroy(&together);
  for (int i = 0; i < thread_count; i++) assert_true(workers[i].good);
}

/* ---- Images -------------------------------------------------------------------------------- */

/* Every key, beginning with another one in each thread; then hits. */
static void *get_all(void *user) {
  struct worker *worker = user;
  const struct mxq_image *first[keys_max], *again = NULL;
  pthread_barrier_wait(&together);
  for (int i = 0; i < keys_max; i++) {
    const int key = (worker->number + i) % keys_max;
    if (mxq_image_get(context, &ids[key], arch, &first[key], NULL) != MXQ_OK) return NULL;
  }
  for (int i = 0; i < 2000; i++) {
    const int key = i % keys_max;
    if (mxq_image_get(context, &ids[key], arch, &again, NULL) != MXQ_OK || again != first[key])
      return NULL;
  }
  worker->good = 1;
  return NULL;
}

static void each_key_is_compiled_once(void **state) {
  struct worker workers[thread_count] = {{.good = 0}};
  (void)state;
  fakes.nvrtc_slow(5);
  run_workers(workers, get_all);
  assert_int_equal(compiled(), keys_max);
}

static atomic_int slow_is_done;
static void *get_slow(void *user) {
  const struct mxq_image *image = NULL;
  struct worker *worker = user;
  worker->good = mxq_image_get(context, &ids[0], arch, &image, NULL) == MXQ_OK;
  atomic_store(&slow_is_done, 1);
  return NULL;
}

/* A hit, and a compile of another key that starts later and takes no time. */
static void other_keys_go_on_while_one_compiles(void **state) {
  struct worker worker = {.good = 0};
  const struct mxq_image *image = NULL;
  (void)state;
  assert_int_equal(mxq_image_get(context, &ids[1], arch, &image, NULL), MXQ_OK);
  fakes.nvrtc_slow(1500);
  const unsigned long before = fakes.nvrtc_calls();
  assert_int_equal(pthread_create(&worker.thread, NULL, get_slow, &worker), 0);
  while (fakes.nvrtc_calls() < before + 4) usleep(1000); /* archs, program, compile: it is in it */
  usleep(50000);
  fakes.nvrtc_slow(1);
  assert_int_equal(mxq_image_get(context, &ids[1], arch, &image, NULL), MXQ_OK);
  assert_int_equal(mxq_image_get(context, &ids[2], arch, &image, NULL), MXQ_OK);
  assert_false(atomic_load(&slow_is_done));
  pthread_join(worker.thread, NULL);
  assert_true(worker.good);
}

/* One of the compiles fails: whoever asked for that key sees it or tries again, and all end well.
 */
static void *get_until_good(void *user) {
  struct worker *worker = user;
  const struct mxq_image *image = NULL;
  pthread_barrier_wait(&together);
  for (int i = 0; i < 4 && !worker->good; i++)
    worker->good = mxq_image_get(context, &ids[0], arch, &image, NULL) == MXQ_OK;
  return NULL;
}

static void a_failed_compile_holds_nobody_up(void **state) {
  struct worker workers[thread_count] = {{.good = 0}};
  const struct mxq_nvrtc *nvrtc = NULL;
  (void)state;
  assert_int_equal(mxq_context_nvrtc(context, &nvrtc), MXQ_OK);
  fakes.nvrtc_slow(5);
  fakes.nvrtc_fail(4); /* nvrtcCompileProgram */
  run_workers(workers, get_until_good);
  assert_int_equal(compiled(), 1);
}

/* ---- Kernels, plans, launches --------------------------------------------------------------- */

static void *use_a_device(void *user) {
  struct worker *worker = user;
  struct scenario *scenario = &worker->scenario;
  const int device = worker->number % 2;
  struct mxq_kernel *kernel = NULL;
  struct mxq_plan *plan = NULL;
  pthread_barrier_wait(&together);
  if (mxq_kernel_get(context, &scenario->variant, device, &kernel) != MXQ_OK) return NULL;
  if (mxq_plan_create(kernel, &scenario->shape, &scenario->run.at, &plan) != MXQ_OK) return NULL;
  worker->good = 1;
  for (int i = 0; i < 20; i++)
    worker->good = worker->good && mxq_plan_launch(plan, NULL) == MXQ_OK &&
                   mxq_plan_launch_at(plan, &scenario->run.at, NULL) == MXQ_OK &&
                   mxq_run(context, &scenario->variant, &scenario->shape, &scenario->run.at,
                           MXQ_DEVICE_AUTO, NULL) == MXQ_OK;
  worker->good = worker->good && fakes.fake_context_depth() == 0;
  mxq_plan_destroy(plan);
  mxq_kernel_release(kernel);
  return NULL;
}

static void threads_share_a_kernel_on_two_devices(void **state) {
  static struct worker workers[thread_count];
  (void)state;
  for (int i = 0; i < thread_count; i++) {
    struct scenario *scenario = &workers[i].scenario;
    assert_int_equal(scenario_make(scenario, 0), MXQ_OK);
    assert_int_equal(
        device_run_make(i % 2, &scenario->variant, &scenario->shape, (uint64_t)i, &scenario->run),
        MXQ_OK);
  }
  run_workers(workers, use_a_device);
  assert_int_equal(compiled(), 1);
  assert_int_equal(fakes.fake_libraries(), 1); /* once an arch */
  for (int i = 0; i < thread_count; i++) {
    assert_true(scenario_is_right(&workers[i].scenario));
    device_run_free(&workers[i].scenario.run);
  }
}

int main(void) {
#define EACH(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
  const struct CMUnitTest tests[] = {
      EACH(each_key_is_compiled_once),
      EACH(other_keys_go_on_while_one_compiles),
      EACH(a_failed_compile_holds_nobody_up),
      EACH(threads_share_a_kernel_on_two_devices),
  };
#undef EACH
  if (!fakes_open(&fakes) || mxq_arch_parse("90a", &arch) != MXQ_OK) return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
