/* SPDX-License-Identifier: MIT
 *
 * On the first device, bit for bit against the CPU path: every pattern of 16 bits as the maximum of
 * a block, and every tie between two codes with its neighbours, for each input, output and mode, in
 * blocks of 32 along K and along N, by the fast and the generic kernel. A test's name is the
 * variant's and the input's. Arguments are globs of other variants instead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fnmatch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "device_tensors.h"
#include "gpu_tests.h"
#include "exhaustive_inputs.h"
#include "plan_as.h"
#include "selectable.h"
#include "status.h"

enum { device = 0, variants_max = 4096, threads_max = 64 };

struct exhaustive_case {
  struct mxq_variant variant;
  enum exhaustive_kind kind;
  char name[MXQ_VARIANT_NAME_SIZE + 16];
  char fault[512];
};

static struct mxq_context *context;
static struct mxq_variant variants[variants_max];
static struct exhaustive_case cases[variants_max * EXHAUSTIVE_KINDS];
static struct CMUnitTest tests[variants_max * EXHAUSTIVE_KINDS];
static size_t variant_count, case_count;
static atomic_size_t next_case;

/* One kernel on tensors whose input is filled, against `want`. */
static enum mxq_status run_kernel(struct exhaustive_case *one, const struct mxq_kernel_id *id,
                                  const struct mxq_shape *shape, struct support_tensors *actual,
                                  const struct mxq_pointers *want) {
  struct device_tensors on_device;
  struct mxq_kernel *kernel = NULL;
  struct mxq_plan *plan = NULL;
  const struct mxq_pointers got = support_tensors_pointers(actual);
  char name[MXQ_KERNEL_NAME_SIZE] = "";
  MXQ_TRY(mxq_kernel_id_name(id, name, sizeof name));
  memset(actual->out[0].data, 0xFF, actual->out[0].size);
  memset(actual->scale[0].data, 0xFF, actual->scale[0].size);
  MXQ_TRY(mxq_kernel_get(context, &one->variant, device, &kernel));
  enum mxq_status status = device_tensors_make(device, actual, &on_device);
  if (status == MXQ_OK) {
    const struct mxq_pointers at = device_tensors_pointers(&on_device, actual);
    status = mxq_plan_create_as(kernel, id, shape, &at, &plan);
    if (status == MXQ_OK) status = mxq_plan_launch(plan, NULL);
    if (status == MXQ_OK) status = mxq_device_synchronize(device);
    if (status == MXQ_OK) status = device_tensors_download(&on_device, actual);
    mxq_plan_destroy(plan);
    device_tensors_free(&on_device);
  }
  mxq_kernel_release(kernel);
  if (status != MXQ_OK) return status;
  const uint64_t wrong = support_compare(&one->variant, shape, want, &got);
  if (wrong)
    snprintf(one->fault, sizeof one->fault, "%s: %llu codes differ", name,
             (unsigned long long)wrong);
  return MXQ_OK;
}

static enum mxq_status run_kernels(struct exhaustive_case *one, const struct mxq_shape *shape,
                                   struct support_tensors *actual,
                                   const struct mxq_pointers *want) {
  struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST];
  size_t count = 0;
  const struct mxq_arch *arch = NULL;
  struct mxq_device_info info;
  MXQ_TRY(mxq_device_describe(device, &info));
  MXQ_TRY(mxq_arch_of_device(info.major, info.minor, &arch));
  MXQ_TRY(mxq_selectable_by_plans(&one->variant, arch, ids, &count));
  for (size_t i = 0; i < count; i++) MXQ_TRY(run_kernel(one, &ids[i], shape, actual, want));
  return MXQ_OK;
}

static enum mxq_status run_case(struct exhaustive_case *one) {
  const struct mxq_shape shape = exhaustive_shape(&one->variant, one->kind);
  struct support_tensors expected, actual;
  MXQ_TRY(support_tensors_allocate(&one->variant, &shape, &expected));
  MXQ_TRY(support_tensors_allocate(&one->variant, &shape, &actual));
  const struct mxq_pointers want = support_tensors_pointers(&expected);
  exhaustive_fill(&one->variant, one->kind, expected.in.data);
  memcpy(actual.in.data, expected.in.data, expected.in.size);
  mxq_cpu_run(&one->variant, &shape, &want);
  const enum mxq_status status = run_kernels(one, &shape, &actual, &want);
  support_tensors_free(&expected);
  support_tensors_free(&actual);
  return status;
}

static void *run(void *user) {
  for (;;) {
    const size_t index = atomic_fetch_add(&next_case, 1);
    if (index >= case_count) return user;
    struct exhaustive_case *one = &cases[index];
    if (run_case(one) != MXQ_OK)
      snprintf(one->fault, sizeof one->fault, "%.500s", mxq_last_error());
  }
}

/* The CPU path takes most of the time: it runs on all processors. */
static void run_all(void) {
  pthread_t threads[threads_max];
  long wanted = sysconf(_SC_NPROCESSORS_ONLN), started = 0;
  if (wanted > threads_max) wanted = threads_max;
  while (started < wanted && pthread_create(&threads[started], NULL, run, NULL) == 0) started++;
  if (!started) run(NULL);
  while (started) pthread_join(threads[--started], NULL);
}

static void check(void **state) {
  const struct exhaustive_case *one = *state;
  if (one->fault[0]) fail_msg("%s", one->fault);
}

static int selected(const char *name, int count, char **patterns) {
  static const char *const defaults[] = {"*_b32_*_row_lin", "*_b32_*_colt_lin"};
  for (int i = 1; i < count; i++)
    if (fnmatch(patterns[i], name, 0) == 0) return 1;
  for (int i = 0; count < 2 && i < 2; i++)
    if (fnmatch(defaults[i], name, 0) == 0) return 1;
  return 0;
}

static void list_cases(int count, char **patterns) {
  struct mxq_variant variant = {0};
  char name[MXQ_VARIANT_NAME_SIZE];
  while (mxq_variant_next(&variant) && variant_count < variants_max) {
    if (mxq_variant_name(&variant, name, sizeof name) != MXQ_OK) continue;
    if (!selected(name, count, patterns)) continue;
    variants[variant_count++] = variant;
    for (int kind = 0; kind < EXHAUSTIVE_KINDS; kind++) {
      struct exhaustive_case *one = &cases[case_count];
      one->variant = variant;
      one->kind = (enum exhaustive_kind)kind;
      snprintf(one->name, sizeof one->name, "%s %s", name, exhaustive_names[kind]);
      tests[case_count++] =
          (struct CMUnitTest){.name = one->name, .test_func = check, .initial_state = one};
    }
  }
}

int main(int argc, char **argv) {
  const int skip = gpu_tests_skip(1);
  if (skip) return skip;
  list_cases(argc, argv);
  if (!case_count || mxq_context_create(NULL, &context) != MXQ_OK ||
      mxq_prepare(context, NULL, variants, variant_count) != MXQ_OK) {
    fprintf(stderr, "%s\n", case_count ? mxq_last_error() : "no variant matches");
    return 2;
  }
  run_all();
  const int failed = _cmocka_run_group_tests("gpu_exhaustive", tests, case_count, NULL, NULL);
  mxq_context_destroy(context);
  return failed;
}
