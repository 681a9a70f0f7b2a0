/* SPDX-License-Identifier: MIT
 *
 * Every kernel that a plan can select on the first device, bit for bit against the CPU path: one
 * test a kernel, of its name. Arguments are globs of names; none means all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check_cases.h"
#include "device_tensors.h"
#include "plan_as.h"
#include "selectable.h"

enum { device = 0, kernels_max = 32768 };
static struct mxq_context *context;
static mxq_stream stream; /* does not wait for the default stream */

#define OK(call)                                                                   \
  do {                                                                             \
    const enum mxq_status ok_status = (call);                                      \
    if (ok_status != MXQ_OK)                                                       \
      fail_msg("%s: %s: %s", #call, mxq_status_name(ok_status), mxq_last_error()); \
  } while (0)

static struct device_run make_run(const struct mxq_variant *variant, const struct check_case *row,
                                  uint64_t seed) {
  const struct mxq_shape shape = check_case_shape(row, variant);
  struct device_run run;
  OK(device_run_make(device, variant, &shape, seed, &run));
  return run;
}

static uint64_t faults_of(const struct mxq_variant *variant, struct device_run *run) {
  uint64_t faults = 0;
  OK(device_run_faults(variant, run, &faults));
  return faults;
}

static void run_case(struct mxq_kernel *kernel, const struct mxq_kernel_id *id,
                     const struct check_case *row, uint64_t seed) {
  struct mxq_plan *plan = NULL;
  struct device_run run = make_run(&id->variant, row, seed);
  OK(mxq_plan_create_as(kernel, id, &run.shape, &run.at, &plan));
  OK(mxq_plan_launch(plan, stream));
  OK(mxq_device_stream_synchronize(device, stream));
  const uint64_t faults = faults_of(&id->variant, &run);
  mxq_plan_destroy(plan);
  device_run_free(&run);
  if (faults)
    fail_msg("case \"%s\" (seed %" PRIu64 "): %" PRIu64 " faults", row->what, seed, faults);
}

/* A plan launched at other addresses: those are written, its own are not. */
static void check_launch_at(struct mxq_kernel *kernel, const struct mxq_kernel_id *id,
                            const struct check_case *row) {
  const struct mxq_variant *variant = &id->variant;
  struct mxq_plan *plan = NULL;
  struct device_run home = make_run(variant, row, 77), away = make_run(variant, row, 78);
  OK(mxq_plan_create_as(kernel, id, &home.shape, &home.at, &plan));
  OK(mxq_plan_launch_at(plan, &away.at, stream));
  OK(mxq_device_stream_synchronize(device, stream));
  uint64_t faults = faults_of(variant, &away);
  faults += !device_run_untouched(&home);
  OK(mxq_plan_launch(plan, NULL)); /* still the plan's own addresses */
  OK(mxq_device_synchronize(device));
  faults += faults_of(variant, &home);
  mxq_plan_destroy(plan);
  device_run_free(&home);
  device_run_free(&away);
  if (faults) fail_msg("launch at other addresses: %" PRIu64 " faults", faults);
}

static void test_kernel(void **state) {
  const struct mxq_kernel_id *id = *state;
  struct mxq_kernel *kernel = NULL;
  const struct check_case *one, *last = NULL;
  OK(mxq_kernel_get(context, &id->variant, device, &kernel));
  for (size_t i = 0; (one = check_case_at(i)); i++) {
    if (!check_case_applies(one, id)) continue;
    run_case(kernel, id, one, 1000 + i);
    if (one->weight != CHECK_HEAVY && one->order == CHECK_DENSE) last = one;
  }
  check_launch_at(kernel, id, last);
  mxq_kernel_release(kernel);
}

static int selected(const char *name, int count, char **patterns) {
  for (int i = 1; i < count; i++)
    if (fnmatch(patterns[i], name, 0) == 0) return 1;
  return count < 2;
}

static size_t list_tests(int count, char **patterns, struct CMUnitTest *tests) {
  static struct mxq_kernel_id ids[kernels_max];
  static char names[kernels_max][MXQ_KERNEL_NAME_SIZE];
  const struct mxq_arch *arch = NULL;
  struct mxq_device_info info;
  struct mxq_variant variant;
  size_t listed = 0;
  memset(&variant, 0, sizeof variant);
  if (mxq_device_describe(device, &info) != MXQ_OK ||
      mxq_arch_of_device(info.major, info.minor, &arch) != MXQ_OK)
    return 0;
  while (mxq_variant_next(&variant)) {
    struct mxq_kernel_id found[MXQ_SELECTABLE_MOST];
    size_t some = 0;
    if (variant.op != MXQ_OP_QUANTIZE) continue; /* test_gpu_dequant */
    if (mxq_selectable_by_plans(&variant, arch, found, &some) != MXQ_OK) continue;
    for (size_t i = 0; i < some && listed < kernels_max; i++) {
      ids[listed] = found[i];
      if (mxq_kernel_id_name(&ids[listed], names[listed], sizeof names[listed]) != MXQ_OK) continue;
      if (!selected(names[listed], count, patterns)) continue;
      tests[listed] = (struct CMUnitTest){
          .name = names[listed], .test_func = test_kernel, .initial_state = &ids[listed]};
      listed++;
    }
  }
  return listed;
}

static int set_up(void **state) {
  (void)state;
  if (mxq_context_create(NULL, &context) == MXQ_OK &&
      mxq_device_stream_create(device, &stream) == MXQ_OK)
    return 0;
  fprintf(stderr, "%s\n", mxq_last_error());
  return -1;
}

static int tear_down(void **state) {
  (void)state;
  mxq_device_stream_destroy(device, stream);
  mxq_context_destroy(context);
  return 0;
}

int main(int argc, char **argv) {
  static struct CMUnitTest tests[kernels_max];
  int devices = 0;
  const enum mxq_status status = mxq_device_count(&devices);
  if (status != MXQ_OK || devices == 0) {
    printf("skipped: no device: %s\n",
           status == MXQ_OK ? "the driver sees none" : mxq_last_error());
    return 77;
  }
  const size_t listed = list_tests(argc, argv, tests);
  if (listed == 0) {
    fprintf(stderr, "no kernel matches\n");
    return 2;
  }
  return _cmocka_run_group_tests("gpu", tests, listed, set_up, tear_down);
}
