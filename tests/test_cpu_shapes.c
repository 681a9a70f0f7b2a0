/* SPDX-License-Identifier: MIT
 *
 * The CPU path on every kind of shape: ragged, empty, strided, broadcast, far apart; each output
 * byte written, none outside.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "axes.h"
#include "cpu.h"
#include "oracle.h"
#include "support.h"

/* Runs one shape; fails naming it. */
static void check_shape(const struct mxq_variant *variant, const struct mxq_shape *shape) {
  struct support_tensors tensors;
  int whole = 1;
  assert_int_equal(
      support_tensors_make(variant, shape, (uint64_t)(shape->n * 1000 + shape->k), &tensors),
      MXQ_OK);
  const struct mxq_pointers pointers = support_tensors_pointers(&tensors);
  mxq_cpu_run(variant, shape, &pointers);
  const uint64_t differences = oracle_compare(variant, shape, &pointers);
  whole &= support_buffer_guards(&tensors.in, "in");
  for (int part = 0; part < 2; ++part) {
    whole &= support_buffer_guards(&tensors.out[part], "out");
    whole &= support_buffer_guards(&tensors.scale[part], "scale");
  }
  support_tensors_free(&tensors);
  if (differences || !whole)
    fail_msg("(%" PRId64 ", %" PRId64 ", %" PRId64 ") with strides (%" PRId64 ", %" PRId64
             "): %" PRIu64 " differ",
             shape->e, shape->n, shape->k, shape->stride_e, shape->stride_n, differences);
}

static void for_each_variant(void (*check)(const struct mxq_variant *)) {
  struct mxq_variant variant = {0};
  size_t count = 0;
  while (mxq_variant_next(&variant)) {
    if (variant.op != MXQ_OP_QUANTIZE) continue;
    check(&variant);
    ++count;
  }
  assert_int_not_equal(count, 0);
}

static void check_lengths(const struct mxq_variant *variant) {
  static const int64_t ns[] = {1, 2, 31, 32, 33, 64, 127, 128, 129, 200, 300};
  static const int64_t ks[] = {1, 7, 8, 9, 16, 65, 127, 128, 129, 257};
  for (size_t n = 0; n < sizeof ns / sizeof ns[0]; ++n)
    for (size_t k = 0; k < sizeof ks / sizeof ks[0]; ++k) {
      const struct mxq_shape shape = mxq_shape_dense(n % 2 ? 3 : 1, ns[n], ks[k]);
      check_shape(variant, &shape);
    }
  const struct mxq_shape many = mxq_shape_dense(257, 5, 3);
  check_shape(variant, &many);
}

static void check_strides(const struct mxq_variant *variant) {
  static const struct mxq_shape shapes[] = {
      {3, 70, 33, 70 * 40 + 11, 40}, /* padded */
      {3, 70, 33, 34, 3 * 34 + 1},   /* matrices inside of rows */
      {3, 70, 33, 0, 33},            /* one matrix for all */
      {3, 70, 33, 40, 0},            /* one row for all of a matrix */
      {3, 70, 33, 0, 0},             /* one row for all */
      {3, 70, 33, 70, 1},            /* rows that overlap */
      {1, 70, 33, -9, 40},           /* strides that do not matter: */
      {3, 1, 33, 50, INT64_MIN},
      {1, 1, 200, INT64_MAX, -1},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i) check_shape(variant, &shapes[i]);
}

/* Nothing is read or written, however long the other axes are. */
static void check_empty(const struct mxq_variant *variant) {
  const int64_t many = INT64_C(1) << 61;
  const struct mxq_shape shapes[] = {{0, 5, 7, 35, 7},   {2, 0, 7, 0, 7},    {2, 5, 0, 0, 0},
                                     {0, 0, 0, 0, 0},    {many, 0, 1, 0, 0}, {many, 1, 0, 0, 0},
                                     {1, many, 0, 0, 0}, {0, many, 1, 0, 0}, {1, 0, many, 0, 0}};
  const struct mxq_pointers none = {0};
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i)
    mxq_cpu_run(variant, &shapes[i], &none);
}

/* Strides beyond 32 bits, over memory of which only the rows themselves exist. */
static void check_far(const struct mxq_variant *variant) {
  const size_t bytes = mxq_type_facts(variant->in)->bits / 8;
  const struct mxq_shape shape = {2, 2, 10, (INT64_C(3) << 32) + 2, (INT64_C(1) << 32) + 1};
  const size_t extent = (size_t)(shape.stride_e + shape.stride_n + shape.k) * bytes;
  unsigned char out[2][2 * 2 * 10], scales[2][4096];
  unsigned char *in = mmap(NULL, extent, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const struct mxq_pointers pointers = {in, {out[0], out[1]}, {scales[0], scales[1]}};
  if (in == MAP_FAILED) {
    print_message("skipped: no address space for %zu bytes\n", extent);
    skip();
  }
  support_fill(variant, &shape, 4, in);
  mxq_cpu_run(variant, &shape, &pointers);
  const uint64_t differences = oracle_compare(variant, &shape, &pointers);
  munmap(in, extent);
  assert_int_equal(differences, 0);
}

static void run_check(void **state) {
  void (*const *check)(const struct mxq_variant *) = *state;
  for_each_variant(*check);
}

#define CHECK(name)                                                                   \
  {                                                                                   \
#name, run_check, NULL, NULL, &(void (*[1])(const struct mxq_variant *)) { name } \
  }

int main(void) {
  const struct CMUnitTest tests[] = {CHECK(check_lengths), CHECK(check_strides), CHECK(check_empty),
                                     CHECK(check_far)};
  return cmocka_run_group_tests_name("cpu_shapes", tests, NULL, NULL);
}
