/* SPDX-License-Identifier: MIT
 *
 * The n-th allocation, the n-th call of NVRTC, the n-th call of the driver fails, for every n: a
 * status and a text, nothing leaked, nothing half done, and afterwards everything works.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <mxq/mxq.h>

#include "fakes.h"
#include "host_scenario.h"

#define N_MAX 2000

static struct fakes fakes;

/* Counts what is allocated, and fails one of the allocations. */
struct counter {
  long live, made, failing;
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

/* One thread, and nothing on disk: each run compiles. */
static struct mxq_config make_config(struct counter *counter, long failing) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  *counter = (struct counter){0, 0, failing};
  config.resize = counting_resize;
  config.resize_user = counter;
  config.cache_dirs = "/proc/mxq";
  config.compile_threads = 1;
  return config;
}

static int is_right(struct scenario *scenario) {
  return scenario_is_right(scenario) && scenario_moved_right(scenario);
}

static int text_is_there(void) { return strlen(mxq_last_error()) > 10; }

/* ---- In a child, so that the driver is not open yet ------------------------------------------ */

static int each_allocation(void *user) {
  struct scenario scenario;
  struct counter counter;
  long n = 0;
  enum mxq_status status = MXQ_OUT_OF_MEMORY;
  (void)user;
  CHILD_CHECK(fakes_open(&fakes) && scenario_make(&scenario, 1) == MXQ_OK);
  for (; status != MXQ_OK; n++) {
    const struct mxq_config config = make_config(&counter, n);
    CHILD_CHECK(n < N_MAX);
    status = scenario_run(&scenario, &config);
    if (status != MXQ_OK && status != MXQ_OUT_OF_MEMORY) fprintf(stderr, "allocation %ld\n", n);
    CHILD_CHECK(status == MXQ_OK || status == MXQ_OUT_OF_MEMORY);
    CHILD_CHECK(status == MXQ_OK || text_is_there());
    CHILD_CHECK(counter.live == 0);
    CHILD_CHECK(fakes.fake_libraries() == 0);
    CHILD_CHECK(fakes.fake_context_depth() == 0 && fakes.nvrtc_programs() == 0);
    if (status == MXQ_OK) CHILD_CHECK(is_right(&scenario));
  }
  CHILD_CHECK(n > 20);
  scenario_free(&scenario);
  return 0;
}

static int each_nvrtc_call(void *user) {
  struct scenario scenario;
  struct counter counter;
  unsigned long n = 1;
  (void)user;
  CHILD_CHECK(fakes_open(&fakes) && scenario_make(&scenario, 1) == MXQ_OK);
  for (int failed = 1; failed; n++) {
    const struct mxq_config config = make_config(&counter, -1);
    CHILD_CHECK(n < N_MAX);
    fakes.nvrtc_fail(n);
    const enum mxq_status status = scenario_run(&scenario, &config);
    failed = fakes.nvrtc_calls() >= n;
    CHILD_CHECK(status == MXQ_OK || text_is_there());
    CHILD_CHECK(counter.live == 0 && fakes.fake_libraries() == 0);
    CHILD_CHECK(fakes.nvrtc_programs() == 0);
    if (status == MXQ_OK) CHILD_CHECK(is_right(&scenario));
    if (status == MXQ_OK) continue; /* asking for archs and the log may fail */
    fakes.nvrtc_fail(0);
    CHILD_CHECK(scenario_run(&scenario, &config) == MXQ_OK && is_right(&scenario));
  }
  CHILD_CHECK(n > 6);
  scenario_free(&scenario);
  return 0;
}

/* Everything from opening the driver on; `*user` is n. */
static int one_driver_call(void *user) {
  const unsigned long n = *(const unsigned long *)user;
  struct scenario scenario;
  struct counter counter;
  const struct mxq_config config = make_config(&counter, -1);
  CHILD_CHECK(fakes_open(&fakes));
  fakes.fake_fail(NULL, n, CUDA_ERROR_UNKNOWN);
  enum mxq_status status = scenario_make(&scenario, 1);
  if (status == MXQ_OK) status = scenario_run(&scenario, &config);
  const int reached = fakes.fake_calls(NULL) >= n;
  fakes.fake_fail(NULL, 0, CUDA_SUCCESS);
  CHILD_CHECK(status == MXQ_OK || status == MXQ_DRIVER_ERROR || status == MXQ_NO_DRIVER);
  CHILD_CHECK(status == MXQ_OK || strstr(mxq_last_error(), "999"));
  CHILD_CHECK(counter.live == 0 && fakes.fake_libraries() == 0 && fakes.fake_context_depth() == 0);
  if (!scenario.stream) CHILD_CHECK(scenario_make(&scenario, 1) == MXQ_OK);
  if (status != MXQ_OK) CHILD_CHECK(scenario_run(&scenario, &config) == MXQ_OK);
  CHILD_CHECK(is_right(&scenario));
  return reached ? 0 : 77;
}

/* ---- Tests ---------------------------------------------------------------------------------- */

static void every_failing_allocation(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("", each_allocation, NULL), 0);
}

static void every_failing_call_of_nvrtc(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("", each_nvrtc_call, NULL), 0);
}

static void every_failing_call_of_the_driver(void **state) {
  unsigned long n = 1;
  int code = 0;
  (void)state;
  for (; code == 0; n++) {
    code = fakes_in_child("", one_driver_call, &n);
    if (code != 0 && code != 77) fail_msg("call %lu of the driver", n);
    assert_true(n < N_MAX);
  }
  assert_true(n > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_failing_allocation),
      cmocka_unit_test(every_failing_call_of_nvrtc),
      cmocka_unit_test(every_failing_call_of_the_driver),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
