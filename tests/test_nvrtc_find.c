/* SPDX-License-Identifier: MIT
 *
 * Which NVRTC is taken of those that a machine has: nothing, a wheel, a toolkit, several, old ones,
 * broken ones, with drivers old and new. The machine's own are hidden; the files found are copies
 * of the fake one, which a file beside each tells its version.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <sys/stat.h>

#include "fakes.h"
#include "nvrtc.h"

static char root[] = "/tmp/mxq-nvrtc-XXXXXX";
static int opened; /* files below the root, by dlopen */

/* ---- Hiding what the machine has (--wrap) ---------------------------------------------------- */

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode) {
  return strstr(path, "libnvrtc") && strncmp(path, root, sizeof root - 1)
             ? -1
             : __real_access(path, mode);
}

void *__real_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags) {
  if (!strncmp(path, "libnvrtc", 8)) return __real_dlopen("/no/such/file", flags);
  if (strncmp(path, root, sizeof root - 1) == 0 && strstr(path, "/libnvrtc.so")) opened++;
  return __real_dlopen(path, flags);
}

/* ---- Folders ------------------------------------------------------------------------------- */

static void sh(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void sh(const char *format, ...) {
  char command[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(command, sizeof command, format, arguments);
  va_end(arguments);
  if (system(command) != 0) fail_msg("%s", command);
}

/* An NVRTC of a version in root/folder; without `builtins`, its library is missing. */
static void put(const char *folder, const char *version, int builtins) {
  const char *from = getenv("MXQ_TEST_NVRTC");
  sh("mkdir -p '%s/%s'", root, folder);
  sh("cp '%s' '%s/%s/libnvrtc.so.%.2s'", from, root, folder, version);
  sh("printf %s >'%s/%s/version'", version, root, folder);
  if (builtins)
    sh("cp \"$(dirname '%s')/libnvrtc-builtins.so.13.0\" '%s/%s/libnvrtc-builtins.so.%s'", from,
       root, folder, version);
}

static int setup(void **state) {
  (void)state;
  opened = 0;
  strcpy(root, "/tmp/mxq-nvrtc-XXXXXX");
  return mkdtemp(root) == NULL;
}
static int teardown(void **state) {
  (void)state;
  sh("rm -rf '%s'", root);
  return 0;
}

static char env[PATH_MAX], toolkit[PATH_MAX];
static struct mxq_nvrtc_search search_below_root(void) {
  const struct mxq_nvrtc_search search = {.virtual_env = env, .cuda_home = toolkit};
  snprintf(env, sizeof env, "%s/env", root);
  snprintf(toolkit, sizeof toolkit, "%s/toolkit", root);
  return search;
}

#define WHEEL13 "env/lib/python3.11/site-packages/nvidia/cu13/lib"
#define WHEEL12 "env/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib"
#define TOOLKIT "toolkit/lib64"

/* In children, each with a driver of its own: what must be found, and where. */
struct wanted {
  int major, minor;
  const char *folder; /* NULL: nothing; then the error holds these */
  const char *texts[3];
};

static int look(void *user) {
  const struct wanted *wanted = user;
  const struct mxq_nvrtc_search search = search_below_root();
  struct mxq_nvrtc nvrtc = {.major = -1};
  const enum mxq_status status = mxq_nvrtc_open(&search, &nvrtc);
  if (wanted->folder) {
    char folder[PATH_MAX];
    CHILD_CHECK(status == MXQ_OK);
    CHILD_CHECK(nvrtc.major == wanted->major && nvrtc.minor == wanted->minor);
    snprintf(folder, sizeof folder, "%s/%s/", root, wanted->folder);
    CHILD_CHECK(!strncmp(nvrtc.path, folder, strlen(folder)));
    CHILD_CHECK(opened == 1);
    return 0;
  }
  CHILD_CHECK(status == MXQ_NO_NVRTC && nvrtc.major == -1);
  for (int i = 0; i < 3 && wanted->texts[i]; i++) {
    if (!strstr(mxq_last_error(), wanted->texts[i])) fprintf(stderr, "%s?\n", wanted->texts[i]);
    CHILD_CHECK(strstr(mxq_last_error(), wanted->texts[i]));
  }
  return 0;
}

static void expect(const char *driver, struct wanted wanted) {
  assert_int_equal(fakes_in_child(driver, look, &wanted), 0);
}

/* ---- Tests --------------------------------------------------------------------------------- */

static void nothing_is_there(void **state) {
  (void)state;
  expect("", (struct wanted){.texts = {"12.9", "none", "13.x"}});
}

static void a_wheel_alone_is_found(void **state) {
  (void)state;
  put(WHEEL13, "13.0", 1);
  expect("", (struct wanted){13, 0, WHEEL13, {0}});
}

static void a_toolkit_alone_is_found(void **state) {
  (void)state;
  put(TOOLKIT, "12.9", 1);
  expect("", (struct wanted){12, 9, TOOLKIT, {0}});
}

static void the_newest_is_taken_and_no_other_opened(void **state) {
  (void)state;
  put(WHEEL13, "13.1", 1);
  put(WHEEL12, "12.9", 1);
  put(TOOLKIT, "13.0", 1);
  expect("", (struct wanted){13, 1, WHEEL13, {0}});
  put(TOOLKIT, "13.2", 1);
  expect("", (struct wanted){13, 2, TOOLKIT, {0}});
}

static void a_driver_of_12_takes_12(void **state) {
  (void)state;
  put(WHEEL13, "13.1", 1);
  expect("version=12090", (struct wanted){.texts = {"newer than the driver", "12.x", WHEEL13}});
  put(WHEEL12, "12.9", 1);
  expect("version=12090", (struct wanted){12, 9, WHEEL12, {0}});
}

static void old_ones_are_named_and_not_opened(void **state) {
  (void)state;
  put(TOOLKIT, "12.8", 1);
  expect("", (struct wanted){.texts = {"12.8, too old", "12.9 or newer", TOOLKIT}});
  assert_int_equal(opened, 0);
}

static void missing_builtins_are_named(void **state) {
  (void)state;
  put(TOOLKIT, "13.0", 0);
  expect("", (struct wanted){.texts = {"libnvrtc-builtins.so.13.0", TOOLKIT, NULL}});
}

static void a_broken_one_is_passed_over(void **state) {
  (void)state;
  put(TOOLKIT, "13.1", 1);
  put(WHEEL13, "13.0", 1);
  sh("echo no library >'%s/%s/libnvrtc.so.13'", root, TOOLKIT);
  opened = -1; /* the broken one counts too */
  expect("", (struct wanted){13, 0, WHEEL13, {0}});
}

static int open_named(void *user) {
  struct mxq_nvrtc_search search = search_below_root();
  struct mxq_nvrtc nvrtc;
  char path[PATH_MAX];
  (void)user;
  snprintf(path, sizeof path, "%s/Caf\xc3\xa9 au lait/libnvrtc.so.13", root);
  search.path = path;
  CHILD_CHECK(mxq_nvrtc_open(&search, &nvrtc) == MXQ_OK && !strcmp(nvrtc.path, path));
  snprintf(path, sizeof path, "%s/old one/libnvrtc.so.12", root);
  CHILD_CHECK(mxq_nvrtc_open(&search, &nvrtc) == MXQ_NO_NVRTC);
  CHILD_CHECK(strstr(mxq_last_error(), "12.3") && strstr(mxq_last_error(), "12.9"));
  return 0;
}

static void a_named_one_may_lie_anywhere(void **state) {
  (void)state;
  put("Caf\xc3\xa9 au lait", "13.0", 1);
  put("old one", "12.3", 1);
  assert_int_equal(fakes_in_child("", open_named, NULL), 0);
}

int main(void) {
#define EACH(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
  const struct CMUnitTest tests[] = {
      EACH(nothing_is_there),
      EACH(a_wheel_alone_is_found),
      EACH(a_toolkit_alone_is_found),
      EACH(the_newest_is_taken_and_no_other_opened),
      EACH(a_driver_of_12_takes_12),
      EACH(old_ones_are_named_and_not_opened),
      EACH(missing_builtins_are_named),
      EACH(a_broken_one_is_passed_over),
      EACH(a_named_one_may_lie_anywhere),
  };
#undef EACH
  setenv("MXQ_TEST_NVRTC", getenv("MXQ_NVRTC"), 1);
  unsetenv("MXQ_NVRTC");
  return cmocka_run_group_tests(tests, NULL, NULL);
}
