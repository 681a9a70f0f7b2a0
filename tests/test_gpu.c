/* SPDX-License-Identifier: MIT
 *
 * Every variant on the first device, bit for bit against the CPU path: one test a variant, of its
 * name. Arguments are globs of names; none means all.
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

#include "axes.h"
#include "device_tensors.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

enum { device = 0, variants_max = 8192 };
static struct mxq_context *context;
static mxq_stream stream; /* does not wait for the default stream */

/* K is given in units of 16 bytes of the input, less some elements. */
static const struct shape_case {
  const char *what;
  int64_t e, n, k_units, k_less;
  int64_t gap_n, gap_e; /* elements of 16 bytes between rows, and between matrices */
  enum { order_dense, order_e_inside_n, order_repeat_e, order_repeat_n } order;
} cases[] = {
    {"smallest", 1, 16, 1, 0, 0, 0, order_dense},
    {"a part of a tile", 1, 48, 5, 0, 0, 0, order_dense},
    {"one full tile and parts", 1, 144, 17, 0, 0, 0, order_dense},
    {"parts of blocks, three matrices", 3, 272, 33, 0, 0, 0, order_dense},
    {"padded strides", 3, 272, 33, 0, 1, 3, order_dense},
    {"padded strides, K of no multiple", 3, 80, 17, 2, 2, 1, order_dense},
    {"many matrices", 257, 48, 5, 0, 0, 0, order_dense},
    {"matrices inside rows", 3, 80, 9, 0, 1, 0, order_e_inside_n},
    {"one matrix repeated", 3, 176, 8, 0, 0, 0, order_repeat_e},
    {"one row repeated", 2, 176, 8, 0, 0, 0, order_repeat_n},
    {"full tiles", 2, 512, 64, 0, 0, 0, order_dense},
    {"more matrices than 16 bits count", 65539, 16, 1, 0, 0, 0, order_dense},
};

static struct mxq_shape shape_of(const struct mxq_variant *variant, const struct shape_case *row) {
  const int64_t unit = 128 / (int64_t)mxq_type_facts(variant->in)->bits;
  const int64_t row_stride = (row->k_units + row->gap_n) * unit;
  struct mxq_shape shape = {.e = row->e, .n = row->n, .k = row->k_units * unit - row->k_less};
  shape.stride_n = row_stride;
  shape.stride_e = row->n * row_stride + row->gap_e * unit;
  if (row->order == order_e_inside_n) {
    shape.stride_e = row_stride;
    shape.stride_n = row->e * row_stride;
  }
  if (row->order == order_repeat_e) shape.stride_e = 0;
  if (row->order == order_repeat_n) {
    shape.stride_n = 0;
    shape.stride_e = row_stride;
  }
  return shape;
}

#define OK(call)                                                                   \
  do {                                                                             \
    const enum mxq_status ok_status = (call);                                      \
    if (ok_status != MXQ_OK)                                                       \
      fail_msg("%s: %s: %s", #call, mxq_status_name(ok_status), mxq_last_error()); \
  } while (0)

static struct device_run make_run(const struct mxq_variant *variant, const struct shape_case *row,
                                  uint64_t seed) {
  const struct mxq_shape shape = shape_of(variant, row);
  struct device_run run;
  OK(device_run_make(device, variant, &shape, seed, &run));
  return run;
}

static uint64_t faults_of(const struct mxq_variant *variant, struct device_run *run) {
  uint64_t faults = 0;
  OK(device_run_faults(variant, run, &faults));
  return faults;
}

static void check_case(struct mxq_kernel *kernel, const struct mxq_variant *variant,
                       const struct shape_case *row, uint64_t seed) {
  struct mxq_plan *plan = NULL;
  struct device_run run = make_run(variant, row, seed);
  OK(mxq_plan_create(kernel, &run.shape, &run.at, &plan));
  OK(mxq_plan_launch(plan, stream));
  OK(mxq_device_stream_synchronize(device, stream));
  const uint64_t faults = faults_of(variant, &run);
  mxq_plan_destroy(plan);
  device_run_free(&run);
  if (faults)
    fail_msg("case \"%s\" (seed %" PRIu64 "): %" PRIu64 " faults", row->what, seed, faults);
}

/* A plan launched at other addresses: those are written, its own are not. */
static void check_launch_at(struct mxq_kernel *kernel, const struct mxq_variant *variant,
                            const struct shape_case *row) {
  struct mxq_plan *plan = NULL;
  struct device_run home = make_run(variant, row, 77), away = make_run(variant, row, 78);
  OK(mxq_plan_create(kernel, &home.shape, &home.at, &plan));
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

static void test_variant(void **state) {
  const struct mxq_variant *variant = *state;
  struct mxq_kernel *kernel = NULL;
  OK(mxq_kernel_get(context, variant, device, &kernel));
  for (size_t i = 0; i < COUNT(cases); i++) check_case(kernel, variant, &cases[i], 1000 + i);
  check_launch_at(kernel, variant, &cases[4]);
  mxq_kernel_release(kernel);
}

static int selected(const char *name, int count, char **patterns) {
  for (int i = 1; i < count; i++)
    if (fnmatch(patterns[i], name, 0) == 0) return 1;
  return count < 2;
}

static size_t list_tests(int count, char **patterns, struct CMUnitTest *tests) {
  static struct mxq_variant variants[variants_max];
  static char names[variants_max][MXQ_VARIANT_NAME_SIZE];
  struct mxq_variant variant;
  size_t listed = 0;
  memset(&variant, 0, sizeof variant);
  while (listed < variants_max && mxq_variant_next(&variant)) {
    if (mxq_variant_name(&variant, names[listed], sizeof names[listed]) != MXQ_OK) continue;
    if (!selected(names[listed], count, patterns)) continue;
    variants[listed] = variant;
    tests[listed] = (struct CMUnitTest){
        .name = names[listed], .test_func = test_variant, .initial_state = &variants[listed]};
    listed++;
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
  static struct CMUnitTest tests[variants_max];
  int devices = 0;
  const enum mxq_status status = mxq_device_count(&devices);
  if (status != MXQ_OK || devices == 0) {
    printf("skipped: no device: %s\n",
           status == MXQ_OK ? "the driver sees none" : mxq_last_error());
    return 77;
  }
  const size_t listed = list_tests(argc, argv, tests);
  if (listed == 0) {
    fprintf(stderr, "no variant matches\n");
    return 2;
  }
  return _cmocka_run_group_tests("gpu", tests, listed, set_up, tear_down);
}
