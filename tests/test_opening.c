/* SPDX-License-Identifier: MIT
 *
 * NVRTC opened on a thread of its own.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "context.h"
#include "image.h"
#include "opening.h"

/* What the calls of pthread_create below find, and do. */
static struct {
  int calls, refuse;
  int open_signals; /* that the new thread would take */
} threads;

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *user) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  threads.calls++;
  threads.open_signals += !sigismember(&blocked, SIGTERM) || !sigismember(&blocked, SIGPROF);
  return threads.refuse ? EAGAIN : __real_pthread_create(thread, attributes, start, user);
}

static int forget(void **state) {
  (void)state;
  memset(&threads, 0, sizeof threads);
  return 0;
}

static struct mxq_context *create(const char *nvrtc) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_context *context = NULL;
  config.cache_dirs = "/proc/none"; /* no disk */
  config.nvrtc_path = nvrtc;
  if (mxq_context_create(&config, &context) != MXQ_OK) fail_msg("%s", mxq_last_error());
  return context;
}

/* Opens the context's NVRTC as a compile does. */
static enum mxq_status open_beside(struct mxq_context *context, const struct mxq_nvrtc **nvrtc) {
  struct mxq_opening opening;
  mxq_opening_begin(context, &opening);
  return mxq_opening_end(&opening, nvrtc);
}

static void one_thread_opens_once(void **state) {
  (void)state;
  struct mxq_context *context = create(NULL);
  const struct mxq_nvrtc *first = NULL, *second = NULL;
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  if (open_beside(context, &first) != MXQ_OK) fail_msg("%s", mxq_last_error());
  assert_non_null(first->handle);
  assert_int_equal(threads.calls, 1);
  assert_int_equal(threads.open_signals, 0); /* they are the host's */
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  assert_int_equal(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
  assert_int_equal(open_beside(context, &second), MXQ_OK);
  assert_ptr_equal(second, first);
  assert_int_equal(threads.calls, 1); /* it is open */
  mxq_context_destroy(context);
}

static void without_a_thread_it_is_opened_all_the_same(void **state) {
  (void)state;
  struct mxq_context *context = create(NULL);
  const struct mxq_nvrtc *nvrtc = NULL;
  threads.refuse = 1;
  if (open_beside(context, &nvrtc) != MXQ_OK) fail_msg("%s", mxq_last_error());
  assert_non_null(nvrtc->handle);
  assert_int_equal(threads.calls, 1);
  mxq_context_destroy(context);
}

/* The thread's text reaches the caller, word for word as without a thread. */
static void errors_are_the_callers(void **state) {
  (void)state;
  static const char missing[] = "/nowhere/libnvrtc.so.13";
  char text[MXQ_ERROR_SIZE];
  const struct mxq_nvrtc *nvrtc = NULL;
  const struct mxq_arch *arch = NULL;
  struct mxq_context *context = create(missing);
  threads.refuse = 1;
  assert_int_equal(open_beside(context, &nvrtc), MXQ_NO_NVRTC);
  snprintf(text, sizeof text, "%s", mxq_last_error());
  assert_non_null(strstr(text, missing));
  threads.refuse = 0;
  assert_int_not_equal(mxq_arch_parse("nonsense", &arch), MXQ_OK); /* another text */
  assert_string_not_equal(mxq_last_error(), text);
  assert_int_equal(open_beside(context, &nvrtc), MXQ_NO_NVRTC);
  assert_string_equal(mxq_last_error(), text);
  assert_null(nvrtc);
  mxq_context_destroy(context);
}

/* Memory that runs out anywhere, so beside the thread too: it has ended when the call has, and the
 * context is whole. */
struct limit {
  int left; /* allocations until one fails; negative: none */
};
static void *limited(void *user, void *pointer, size_t size) {
  struct limit *limit = user;
  if (size && limit->left >= 0 && limit->left-- == 0) return NULL;
  return mxq_resize(&mxq_allocator_default, pointer, size);
}

static void a_failed_expansion_waits_for_the_thread(void **state) {
  (void)state;
  struct mxq_variant variant;
  struct mxq_kernel_id id;
  const struct mxq_arch *arch = NULL;
  int failed = 0, beside = 0;
  assert_int_equal(mxq_arch_parse("90a", &arch), MXQ_OK);
  assert_int_equal(mxq_variant_parse("quantize_bf16_e4m3_b32_rceil_colt_lin", &variant), MXQ_OK);
  assert_int_equal(mxq_kernel_id_default(&variant, arch, &id), MXQ_OK);
  for (int n = 0; n < 24; n++) {
    struct limit limit = {-1};
    struct mxq_config config = MXQ_CONFIG_INIT;
    struct mxq_context *context = NULL;
    const struct mxq_image *image = NULL;
    config.cache_dirs = "/proc/none"; /* no disk */
    config.resize = limited;
    config.resize_user = &limit;
    assert_int_equal(mxq_context_create(&config, &context), MXQ_OK);
    limit.left = n;
    threads.calls = 0;
    const enum mxq_status status = mxq_image_get(context, &id, arch, &image, NULL);
    assert_true(status == MXQ_OK || status == MXQ_OUT_OF_MEMORY);
    failed += status != MXQ_OK;
    beside += status != MXQ_OK && threads.calls;
    if (status != MXQ_OK) assert_int_equal(context->nvrtc.handle != NULL, threads.calls);
    mxq_context_destroy(context);
  }
  assert_in_range(failed, 4, 24);
  assert_in_range(beside, 3, failed);
}

int main(void) {
#define EACH(test) cmocka_unit_test_setup(test, forget)
  const struct CMUnitTest tests[] = {
      EACH(one_thread_opens_once),
      EACH(without_a_thread_it_is_opened_all_the_same),
      EACH(errors_are_the_callers),
      EACH(a_failed_expansion_waits_for_the_thread),
  };
#undef EACH
  const struct mxq_nvrtc *nvrtc = NULL;
  struct mxq_context *context = create(NULL);
  const enum mxq_status status = mxq_context_nvrtc(context, &nvrtc);
  mxq_context_destroy(context);
  if (status != MXQ_OK) {
    printf("skipped: %s\n", mxq_last_error());
    return 77;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
