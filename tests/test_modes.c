/* SPDX-License-Identifier: MIT
 *
 * Where kernels may come from: MXQ_JIT, the strict cache, layers, and what MXQ_RECORD keeps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>

#include "context.h"
#include "fakes.h"
#include "host_scenario.h"
#include "status.h"

static const char name[] = "quantize_bf16_e4m3_b32_rceil_colt_lin";
static char root[64], dir[96];
static char nvrtc[128]; /* a copy of the fake one, which can be of two versions */

/* What one process does, and what must come of it. */
struct step {
  const char *dirs, *nvrtc, *version;
  int strict;
  enum mxq_jit_mode jit;
  enum mxq_origin origin; /* if status is MXQ_OK */
  enum mxq_status status;
};

static int take(void *user) {
  const struct step *step = user;
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_context *context = NULL;
  struct mxq_kernel_id id;
  const struct mxq_arch *arch = NULL;
  const struct mxq_image *image = NULL;
  enum mxq_origin origin = MXQ_ORIGIN_MEMORY;
  char settings[64];
  snprintf(settings, sizeof settings, "version=%s", step->version);
  setenv("FAKE_NVRTC", settings, 1);
  config.nvrtc_path = step->nvrtc;
  config.cache_dirs = step->dirs;
  config.cache_strict = (uint32_t)step->strict;
  config.jit = step->jit;
  CHILD_CHECK(mxq_kernel_id_parse(name, &id) == MXQ_OK && mxq_arch_parse("90a", &arch) == MXQ_OK);
  CHILD_CHECK(mxq_context_create(&config, &context) == MXQ_OK);
  (void)mxq_status_set(MXQ_INTERNAL, "an earlier failure");
  CHILD_CHECK(mxq_image_get(context, &id, arch, &image, &origin) == step->status);
  if (step->status == MXQ_NOT_PREBUILT) CHILD_CHECK(strstr(mxq_last_error(), name));
  if (step->status == MXQ_OK) CHILD_CHECK(origin == step->origin);
  if (step->status == MXQ_OK) CHILD_CHECK(!strcmp(mxq_last_error(), "an earlier failure"));
  mxq_context_destroy(context);
  return 0;
}

static void expect(struct step step) { assert_int_equal(fakes_in_child("", take, &step), 0); }

static int setup(void **state) {
  char command[1024];
  const char *from = getenv("MXQ_TEST_NVRTC");
  (void)state;
  snprintf(root, sizeof root, "%s/mxq-modes-XXXXXX",
           access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  if (!mkdtemp(root)) return -1;
  snprintf(dir, sizeof dir, "%s/cache", root);
  snprintf(nvrtc, sizeof nvrtc, "%s/nvrtc/libnvrtc.so.13", root);
  snprintf(command, sizeof command,
           "mkdir %s/nvrtc && cd %s/nvrtc && cp '%s' . && "
           "cp \"$(dirname '%s')/libnvrtc-builtins.so.13.0\" . && "
           "ln libnvrtc-builtins.so.13.0 libnvrtc-builtins.so.13.1",
           root, root, from, from);
  return system(command);
}
static int teardown(void **state) {
  char command[160];
  (void)state;
  snprintf(command, sizeof command, "rm -rf '%s'", root);
  return system(command);
}

#define ON    MXQ_JIT_ON
#define DISK  MXQ_ORIGIN_DISK
#define FRESH MXQ_ORIGIN_COMPILED

static void modes_take_no_more_than_they_say(void **state) {
  (void)state;
  expect((struct step){dir, nvrtc, "13.0", 0, MXQ_JIT_CACHE, DISK, MXQ_NOT_PREBUILT});
  expect((struct step){dir, nvrtc, "13.0", 0, ON, FRESH, MXQ_OK});
  expect((struct step){dir, "/no/nvrtc", "13.0", 0, MXQ_JIT_CACHE, DISK, MXQ_OK});
  expect((struct step){dir, nvrtc, "13.0", 0, MXQ_JIT_OFF, DISK, MXQ_NOT_PREBUILT});
}

static void strict_takes_the_same_nvrtc_only(void **state) {
  (void)state;
  expect((struct step){dir, nvrtc, "13.0", 1, ON, FRESH, MXQ_OK});
  expect((struct step){dir, nvrtc, "13.0", 1, ON, DISK, MXQ_OK});
  expect((struct step){dir, nvrtc, "13.1", 0, ON, DISK, MXQ_OK});       /* any will do */
  expect((struct step){dir, "/no/nvrtc", "13.1", 0, ON, DISK, MXQ_OK}); /* none is needed */
  expect((struct step){dir, "/no/nvrtc", "13.1", 1, ON, DISK, MXQ_OK}); /* nothing to compare */
  expect((struct step){dir, nvrtc, "13.1", 1, ON, FRESH, MXQ_OK});      /* and replaced */
  expect((struct step){dir, nvrtc, "13.1", 1, MXQ_JIT_CACHE, DISK, MXQ_OK});
  expect((struct step){dir, nvrtc, "13.0", 1, MXQ_JIT_CACHE, DISK, MXQ_NOT_PREBUILT});
}

/* ---- Layers --------------------------------------------------------------------------------- */

/* Names, sizes and times of a folder's files, locks too. */
static unsigned long state_of(const char *folder) {
  char command[512];
  unsigned long sum = 0;
  snprintf(command, sizeof command, "cd '%s' && ls -lA --time-style=full-iso . | cksum", folder);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  assert_int_equal(fscanf(pipe, "%lu", &sum), 1);
  pclose(pipe);
  return sum;
}

static void nothing_but_the_first_folder_is_changed(void **state) {
  char lists[256], own[96], entry[160];
  (void)state;
  snprintf(own, sizeof own, "%s/own", root);
  snprintf(lists, sizeof lists, "%s:%s", own, dir);
  expect((struct step){dir, nvrtc, "13.0", 0, ON, FRESH, MXQ_OK});
  snprintf(entry, sizeof entry, "touch -d '2001-01-01' '%s'/*.mxq", dir);
  assert_int_equal(system(entry), 0);
  const unsigned long before = state_of(dir);
  expect((struct step){lists, nvrtc, "13.0", 0, ON, DISK, MXQ_OK}); /* from the second */
  assert_int_not_equal(access(own, F_OK), 0);
  assert_true(state_of(dir) == before); /* not even a time */
  snprintf(entry, sizeof entry, "for f in '%s'/*.mxq; do echo >\"$f\"; done", dir);
  assert_int_equal(system(entry), 0); /* damaged */
  const unsigned long damaged = state_of(dir);
  expect((struct step){lists, nvrtc, "13.0", 0, ON, FRESH, MXQ_OK});
  assert_int_equal(access(own, F_OK), 0);
  expect((struct step){lists, nvrtc, "13.0", 0, ON, DISK, MXQ_OK}); /* from the first */
  assert_true(state_of(dir) == damaged && damaged != before);
}

/* ---- MXQ_RECORD ----------------------------------------------------------------------------- */

static char recorded[160];

static int use_in_two_contexts(void *user) {
  struct scenario scenario;
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_kernel *kernel = NULL;
  (void)user;
  CHILD_CHECK(scenario_make(&scenario, 0) == MXQ_OK);
  config.cache_dirs = "/proc/mxq";
  for (int i = 0; i < 2; i++) {
    struct mxq_context *context = NULL;
    struct mxq_variant second = scenario.variant, third = scenario.variant;
    second.out = MXQ_TYPE_E5M2;
    third.layout = MXQ_LAYOUT_SQ;
    CHILD_CHECK(mxq_context_create(&config, &context) == MXQ_OK);
    for (int n = 0; n < 3; n++) {
      CHILD_CHECK(mxq_kernel_get(context, &scenario.variant, n % 2, &kernel) == MXQ_OK);
      CHILD_CHECK(mxq_kernel_get(context, &second, 0, &kernel) == MXQ_OK);
      CHILD_CHECK(mxq_kernel_get(context, &second, MXQ_DEVICE_CPU, &kernel) == MXQ_OK);
      CHILD_CHECK(mxq_kernel_get(context, &third, MXQ_DEVICE_CPU, &kernel) == MXQ_OK);
    }
    mxq_context_destroy(context);
  }
  return 0;
}

/* Several processes at once: whole lines, one for each variant and context, also for one that ran
 * on the CPU alone. */
static void each_variant_used_is_recorded_once(void **state) {
  enum { processes = 8 };
  pid_t children[processes];
  int lines = 0, whole = 0;
  char line[256];
  (void)state;
  snprintf(recorded, sizeof recorded, "%s/used.txt", root);
  setenv("MXQ_RECORD", recorded, 1);
  for (int i = 0; i < processes; i++) {
    children[i] = fork();
    assert_true(children[i] >= 0);
    if (children[i] == 0) _exit(use_in_two_contexts(NULL));
  }
  for (int i = 0; i < processes; i++) {
    int status = 0;
    assert_int_equal(waitpid(children[i], &status, 0), children[i]);
    assert_int_equal(status, 0);
  }
  unsetenv("MXQ_RECORD");
  FILE *file = fopen(recorded, "r");
  assert_non_null(file);
  for (; fgets(line, sizeof line, file); lines++) {
    struct mxq_variant variant;
    line[strcspn(line, "\n")] = 0;
    whole += mxq_variant_parse(line, &variant) == MXQ_OK;
  }
  fclose(file);
  assert_int_equal(lines, 3 * 2 * processes);
  assert_int_equal(whole, lines);
}

static void a_record_that_cannot_be_written_fails_nothing(void **state) {
  (void)state;
  setenv("MXQ_RECORD", "/no/such/folder/used.txt", 1);
  assert_int_equal(fakes_in_child("", use_in_two_contexts, NULL), 0);
  unsetenv("MXQ_RECORD");
}

int main(void) {
#define EACH(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
  const struct CMUnitTest tests[] = {
      EACH(modes_take_no_more_than_they_say),
      EACH(strict_takes_the_same_nvrtc_only),
      EACH(nothing_but_the_first_folder_is_changed),
      EACH(each_variant_used_is_recorded_once),
      EACH(a_record_that_cannot_be_written_fails_nothing),
  };
#undef EACH
  setenv("MXQ_TEST_NVRTC", getenv("MXQ_NVRTC"), 1);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
