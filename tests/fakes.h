/* SPDX-License-Identifier: MIT
 *
 * The stand-ins' controls, found in the libraries that are loaded; tests registered by
 * mxq_fakes_test run with both of them.
 */
#ifndef MXQ_TESTS_FAKES_H
#define MXQ_TESTS_FAKES_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_driver/control.h"
#include "fake_nvrtc/fake_nvrtc.h"

/* Declared as in control.h; found at run time, since programs do not link the driver. */
#define FAKES_TABLE(ROW)   \
  ROW(fake_fail)           \
  ROW(fake_calls)          \
  ROW(fake_call)           \
  ROW(fake_refuse)         \
  ROW(fake_libraries)      \
  ROW(fake_forbid)         \
  ROW(fake_complaint)      \
  ROW(fake_context_create) \
  ROW(fake_context_depth)

struct fakes {
#define FAKES_MEMBER(name) __typeof__(name) *name;
  FAKES_TABLE(FAKES_MEMBER)
#undef FAKES_MEMBER
  __typeof__(cuCtxPushCurrent) *push;
  __typeof__(cuCtxPopCurrent) *pop;
  __typeof__(cuCtxGetCurrent) *current;
  __typeof__(cuStreamBeginCapture) *begin_capture;
  __typeof__(cuStreamEndCapture) *end_capture;
  fake_nvrtc_fail_fn nvrtc_fail;
  fake_nvrtc_slow_fn nvrtc_slow;
  fake_nvrtc_programs_fn nvrtc_programs;
  fake_nvrtc_calls_fn nvrtc_calls;
};

static inline int fakes_find(void *library, const char *name, void *member) {
  void *const address = dlsym(library, name);
  memcpy(member, &address, sizeof address);
  return address != NULL;
}

/* Loads the fake driver, which reads FAKE_CUDA now. 0: another driver, or none, is there. */
static inline int fakes_open(struct fakes *fakes) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW), *nvrtc = dlopen(getenv("MXQ_NVRTC"), RTLD_NOW);
  int found = driver && nvrtc;
#define FAKES_FIND(name) found = found && fakes_find(driver, #name, &fakes->name);
  FAKES_TABLE(FAKES_FIND)
#undef FAKES_FIND
  return found && fakes_find(driver, "cuCtxPushCurrent_v2", &fakes->push) &&
         fakes_find(driver, "cuCtxPopCurrent_v2", &fakes->pop) &&
         fakes_find(driver, "cuCtxGetCurrent", &fakes->current) &&
         fakes_find(driver, "cuStreamBeginCapture_v2", &fakes->begin_capture) &&
         fakes_find(driver, "cuStreamEndCapture", &fakes->end_capture) &&
         fakes_find(nvrtc, "fake_nvrtc_fail", &fakes->nvrtc_fail) &&
         fakes_find(nvrtc, "fake_nvrtc_slow", &fakes->nvrtc_slow) &&
         fakes_find(nvrtc, "fake_nvrtc_programs", &fakes->nvrtc_programs) &&
         fakes_find(nvrtc, "fake_nvrtc_calls", &fakes->nvrtc_calls);
}

/* Runs a function in a child, where nothing of CUDA was used yet, with a value of FAKE_CUDA. It
 * returns 0 if all was well; what it returns is the child's exit code. */
static inline int fakes_in_child(const char *settings, int (*function)(void *user), void *user) {
  int status = 0;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    setenv("FAKE_CUDA", settings, 1);
    _exit(function(user));
  }
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* In such a function: a false condition is told, and ends it. */
#define CHILD_CHECK(condition)                                                         \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      fprintf(stderr, "%s:%d: %s\n  last error: %s\n", __FILE__, __LINE__, #condition, \
              mxq_last_error());                                                       \
      return 1;                                                                        \
    }                                                                                  \
  } while (0)

#endif
