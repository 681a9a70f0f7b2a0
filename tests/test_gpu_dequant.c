/* SPDX-License-Identifier: MIT
 *
 * Every kernel of dequantize on the first device, bit for bit against the CPU path, the bytes
 * between rows included: one test a kernel, of its name. Arguments are globs of names; none means
 * all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "axes.h"
#include "cpu.h"
#include "device_tensors.h"
#include "gpu_tests.h"
#include "plan_as.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Gaps between rows and matrices are in elements, of 16 bytes for fast kernels. */
static const struct shape_case {
  const char *what;
  enum mxq_family family;
  int64_t e, n, k;
  int64_t gap_n, gap_e;
  int e_inside_n; /* matrices lie inside rows */
} cases[] = {
    {"smallest", MXQ_FAMILY_TMA, 1, 32, 32, 0, 0, 0},
    {"half of a run of rows", MXQ_FAMILY_TMA, 3, 48, 96, 0, 0, 0},
    {"parts of tiles", MXQ_FAMILY_TMA, 1, 96, 160, 0, 0, 0},
    {"full tiles and parts, three matrices", MXQ_FAMILY_TMA, 3, 304, 160, 0, 0, 0},
    {"padded strides", MXQ_FAMILY_TMA, 2, 160, 1056, 1, 3, 0},
    {"many matrices", MXQ_FAMILY_TMA, 257, 32, 32, 0, 0, 0},
    {"matrices inside rows", MXQ_FAMILY_TMA, 3, 96, 64, 1, 0, 1},
    {"one element", MXQ_FAMILY_ANY, 1, 1, 1, 0, 0, 0},
    {"odd lengths", MXQ_FAMILY_ANY, 3, 37, 71, 0, 0, 0},
    {"full tiles and parts", MXQ_FAMILY_ANY, 2, 133, 197, 0, 0, 0},
    {"odd strides", MXQ_FAMILY_ANY, 3, 45, 77, 3, 5, 0},
    {"a long row", MXQ_FAMILY_ANY, 1, 1, 3001, 0, 0, 0},
    {"a long column", MXQ_FAMILY_ANY, 1, 3001, 1, 0, 0, 0},
    {"matrices inside rows", MXQ_FAMILY_ANY, 3, 35, 49, 1, 0, 1},
    {"aligned all the same", MXQ_FAMILY_ANY, 2, 128, 256, 0, 0, 0},
};

/* Two codes share a byte: the contract wants an even length along their contiguous axis; N shorter
 * than 16 bytes of codes is none for fast kernels. */
static struct mxq_shape shape_of(const struct mxq_variant *variant, const struct shape_case *row) {
  const int64_t sixteen_bytes = 128 / (int64_t)mxq_type_facts(variant->out)->bits;
  const int64_t unit = row->family == MXQ_FAMILY_TMA ? sixteen_bytes : 1;
  const int64_t packed = mxq_type_facts(variant->in)->bits == 4;
  const int64_t multiple = !packed ? 1 : row->family == MXQ_FAMILY_TMA ? 32 : 2;
  struct mxq_shape shape = {.e = row->e,
                            .n = (row->n + multiple - 1) / multiple * multiple,
                            .k = (row->k + multiple - 1) / multiple * multiple};
  shape.stride_n = shape.k + row->gap_n * unit;
  shape.stride_e = shape.n * shape.stride_n + row->gap_e * unit;
  if (row->e_inside_n) {
    shape.stride_e = shape.stride_n;
    shape.stride_n *= row->e;
  }
  return shape;
}

static void run_and_compare(struct mxq_kernel *kernel, const struct mxq_kernel_id *id,
                            const char *what, struct device_run *run) {
  struct mxq_plan *plan = NULL;
  uint64_t faults = 0;
  OK(mxq_plan_create_as(kernel, id, &run->shape, &run->at, &plan));
  OK(mxq_plan_launch(plan, gpu_stream));
  OK(mxq_device_stream_synchronize(gpu_device, gpu_stream));
  OK(device_run_faults(&id->variant, run, &faults));
  mxq_plan_destroy(plan);
  device_run_free(run);
  if (faults) fail_msg("case \"%s\": %" PRIu64 " faults", what, faults);
}

static void put_code(const struct mxq_variant *variant, unsigned char *codes, uint64_t place,
                     unsigned code) {
  if (mxq_type_facts(variant->in)->bits == 8) {
    codes[place] = (unsigned char)code;
    return;
  }
  unsigned char *byte = &codes[place / 2];
  const unsigned low = place % 2 * 4, keep = 0xF0u >> low;
  *byte = (unsigned char)((*byte & keep) | (code & 15u) << low);
}

/* Of e8m0 every byte; of floats the ends of all ranges, ties, and any. */
static uint32_t scale_number(const struct mxq_variant *variant, unsigned number) {
  static const uint32_t hard[] = {0x00000000, 0x80000000, 0x00000001, 0x007FFFFF, 0x00800000,
                                  0x33000000, 0x33800001, 0x38000000, 0x3F800000, 0x3F808000,
                                  0x3F818000, 0x3F801000, 0x477FEFFF, 0x477FF000, 0x7F7F7FFF,
                                  0x7F7F8000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001,
                                  0x7FC00000, 0xFFC12345};
  uint64_t state = number;
  if (mxq_mode_scale_bits(variant->mode) == 8) return number;
  return number < COUNT(hard) ? hard[number] : (uint32_t)(support_random(&state) >> 32);
}

/* Every code under every one of 256 scales; copies of scales beside the first keep what they have.
 */
static void fill_every(const struct mxq_variant *variant, const struct mxq_shape *shape,
                       struct support_tensors *tensors) {
  const struct mxq_scale_grid grid = mxq_scale_grid_of(variant, shape, 0);
  const size_t size = mxq_mode_scale_bits(variant->mode) / 8;
  const int square = grid.block_n > 1 && grid.block_k > 1;
  for (uint64_t n = 0; n < (uint64_t)shape->n; n++)
    for (uint64_t k = 0; k < (uint64_t)shape->k; k++) {
      const uint64_t code = square             ? n % grid.block_n * grid.block_k + k % grid.block_k
                            : grid.block_n > 1 ? n
                                               : k;
      put_code(variant, tensors->in.data, mxq_data_offset(variant, shape, 0, 0, n, k),
               (unsigned)code & 255);
    }
  for (uint64_t n = 0; n < (uint64_t)shape->n; n += grid.block_n)
    for (uint64_t k = 0; k < (uint64_t)shape->k; k += grid.block_k) {
      const uint64_t number = square             ? n / grid.block_n * 16 + k / grid.block_k
                              : grid.block_n > 1 ? k
                                                 : n;
      const uint32_t scale = scale_number(variant, (unsigned)number & 255);
      memcpy(tensors->in_scale.data + mxq_scale_offset(variant, shape, 0, 0, n, k) * size, &scale,
             size);
    }
}

static void check_every_code(struct mxq_kernel *kernel, const struct mxq_kernel_id *id) {
  const struct mxq_variant *variant = &id->variant;
  const unsigned part = mxq_layout_part(variant->layout, 0);
  const int square = (part & MXQ_PART_ALONG_N) && (part & MXQ_PART_ALONG_K);
  const int64_t side = square ? 16 * variant->block : 256;
  const struct mxq_shape shape = mxq_shape_dense(1, side, side);
  struct device_run run;
  OK(device_run_make(gpu_device, variant, &shape, 5, &run));
  fill_every(variant, &shape, &run.expected);
  fill_every(variant, &shape, &run.actual);
  OK(device_tensors_upload(&run.on_device, &run.actual));
  mxq_cpu_run(variant, &shape, &run.want);
  run_and_compare(kernel, id, "every code under every scale", &run);
}

/* A plan launched at other addresses: those are written, its own are not. */
static void check_launch_at(struct mxq_kernel *kernel, const struct mxq_kernel_id *id,
                            const struct shape_case *row) {
  const struct mxq_shape shape = shape_of(&id->variant, row);
  struct mxq_plan *plan = NULL;
  struct device_run home, away;
  uint64_t faults = 0;
  OK(device_run_make(gpu_device, &id->variant, &shape, 77, &home));
  OK(device_run_make(gpu_device, &id->variant, &shape, 78, &away));
  OK(mxq_plan_create_as(kernel, id, &shape, &home.at, &plan));
  OK(mxq_plan_launch_at(plan, &away.at, gpu_stream));
  OK(mxq_device_stream_synchronize(gpu_device, gpu_stream));
  OK(device_run_faults(&id->variant, &away, &faults));
  faults += !device_run_untouched(&home);
  mxq_plan_destroy(plan);
  device_run_free(&home);
  device_run_free(&away);
  if (faults) fail_msg("launch at other addresses: %" PRIu64 " faults", faults);
}

static void test_kernel(void **state) {
  const struct mxq_kernel_id *id = *state;
  struct mxq_kernel *kernel = NULL;
  OK(mxq_kernel_get(gpu_context, &id->variant, gpu_device, &kernel));
  const struct shape_case *last = NULL;
  for (size_t i = 0; i < COUNT(cases); i++) {
    if (cases[i].family != (enum mxq_family)id->family) continue;
    const struct mxq_shape shape = shape_of(&id->variant, &cases[i]);
    struct device_run run;
    OK(device_run_make(gpu_device, &id->variant, &shape, 1000 + i, &run));
    run_and_compare(kernel, id, cases[i].what, &run);
    last = &cases[i];
  }
  check_every_code(kernel, id);
  check_launch_at(kernel, id, last);
  mxq_kernel_release(kernel);
}

int main(int argc, char **argv) {
  return gpu_tests_of_kernels("gpu_dequant", MXQ_OP_DEQUANTIZE, test_kernel, argc, argv);
}
