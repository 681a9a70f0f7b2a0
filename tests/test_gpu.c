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

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check_cases.h"
#include "device_tensors.h"
#include "gpu_tests.h"
#include "plan_as.h"

static struct device_run make_run(const struct mxq_variant *variant, const struct check_case *row,
                                  uint64_t seed) {
  const struct mxq_shape shape = check_case_shape(row, variant);
  struct device_run run;
  OK(device_run_make(gpu_device, variant, &shape, seed, &run));
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
  OK(mxq_plan_launch(plan, gpu_stream));
  OK(mxq_device_stream_synchronize(gpu_device, gpu_stream));
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
  OK(mxq_plan_launch_at(plan, &away.at, gpu_stream));
  OK(mxq_device_stream_synchronize(gpu_device, gpu_stream));
  uint64_t faults = faults_of(variant, &away);
  faults += !device_run_untouched(&home);
  OK(mxq_plan_launch(plan, NULL)); /* still the plan's own addresses */
  OK(mxq_device_synchronize(gpu_device));
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
  OK(mxq_kernel_get(gpu_context, &id->variant, gpu_device, &kernel));
  for (size_t i = 0; (one = check_case_at(i)); i++) {
    if (!check_case_applies(one, id)) continue;
    run_case(kernel, id, one, 1000 + i);
    if (one->weight != CHECK_HEAVY && one->order == CHECK_DENSE) last = one;
  }
  check_launch_at(kernel, id, last);
  mxq_kernel_release(kernel);
}

int main(int argc, char **argv) {
  return gpu_tests_of_kernels("gpu", MXQ_OP_QUANTIZE, test_kernel, argc, argv);
}
