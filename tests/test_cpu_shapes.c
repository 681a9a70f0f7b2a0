/* SPDX-License-Identifier: MIT
 *
 * The CPU path on every kind of shape: ragged, empty, strided, broadcast, far apart; each output
 * byte written, none outside. Every variant takes a few shapes of its own; those that differ from
 * the plainest variant of their layout in one value at most take all.
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
#include "tensor_plan.h"

/* The shape, or the next larger one where codes of four bits fill bytes. */
static struct mxq_shape even(const struct mxq_variant *variant, struct mxq_shape shape) {
  if (mxq_type_facts(variant->out)->bits == 8) return shape;
  for (unsigned part = 0; part < 2; ++part) {
    const unsigned kind = mxq_layout_part(variant->layout, part);
    if (kind == MXQ_PART_NONE) continue;
    if (kind & MXQ_PART_COLUMN_MAJOR)
      shape.n += shape.n % 2;
    else
      shape.k += shape.k % 2;
  }
  return shape;
}

static struct mxq_shape even_dense(const struct mxq_variant *variant, int64_t e, int64_t n,
                                   int64_t k) {
  const struct mxq_shape shape = even(variant, mxq_shape_dense(e, n, k));
  return mxq_shape_dense(shape.e, shape.n, shape.k);
}

/* Runs one shape; fails naming it. */
static void check_shape(const struct mxq_variant *variant, const struct mxq_shape *shape) {
  char name[MXQ_VARIANT_NAME_SIZE] = "";
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
  mxq_variant_name(variant, name, sizeof name);
  if (differences || !whole)
    fail_msg("%s: (%" PRId64 ", %" PRId64 ", %" PRId64 ") with strides (%" PRId64 ", %" PRId64
             "): %" PRIu64 " differ",
             name, shape->e, shape->n, shape->k, shape->stride_e, shape->stride_n, differences);
}

/* How many of a variant's values are not those of the plainest one of its layout. */
static int unusual(const struct mxq_variant *variant) {
  return (variant->in != MXQ_TYPE_BF16) + (variant->out != MXQ_TYPE_E4M3) + (variant->block != 32) +
         (variant->mode != MXQ_MODE_RCEIL) + (variant->scales != MXQ_SCALES_LIN);
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
  static const int64_t ks[] = {1, 7, 8, 9, 16, 65, 127, 128, 129, 257, 1100};
  static size_t turn;
  if (unusual(variant) > 1) return;
  ++turn;
  for (size_t n = 0; n < sizeof ns / sizeof ns[0]; ++n)
    for (size_t k = 0; k < sizeof ks / sizeof ks[0]; ++k) {
      if (ns[n] * ks[k] > 40000) continue;
      /* All of them for the plainest variants, and for the others every eighth in turn. */
      if (unusual(variant) && (n + 3 * k + turn) % 8) continue;
      const struct mxq_shape shape =
          even_dense(variant, ns[n] * ks[k] < 3000 ? 3 : 1, ns[n], ks[k]);
      check_shape(variant, &shape);
    }
  const struct mxq_shape many = even_dense(variant, 257, 5, 3);
  check_shape(variant, &many);
}

/* Lengths by chance, one of the axes up to a little more than two blocks long, rows apart by more
 * than they are long. */
static void check_chance(const struct mxq_variant *variant) {
  static uint64_t state = 5;
  const uint64_t r = support_random(&state);
  const int64_t most = 2 * variant->block + 20;
  int64_t lengths[2] = {1 + (int64_t)(r >> 8 & 0xFFFFFF) % most,
                        1 + (int64_t)(r >> 32 & 0xFFFFFF) % 24};
  for (int i = 0; i < 2; ++i) lengths[i] += lengths[i] % variant->block == 0;
  struct mxq_shape shape = {
      .e = 1 + (int64_t)(r & 1), .n = lengths[r >> 1 & 1], .k = lengths[~r >> 1 & 1]};
  shape = even(variant, shape);
  shape.stride_n = shape.k + (int64_t)(r >> 2 & 7);
  shape.stride_e = shape.n * shape.stride_n + (int64_t)(r >> 5 & 7);
  check_shape(variant, &shape);
}

static void check_strides(const struct mxq_variant *variant) {
  static const struct mxq_shape shapes[] = {
      {3, 70, 33, 70 * 40 + 11, 40}, /* padded */
      {3, 70, 33, 34, 3 * 34 + 1},   /* matrices inside of rows */
      {3, 70, 33, 0, 33},            /* one matrix for all */
      {3, 70, 33, 40, 0},            /* one row for all of a matrix */
      {3, 70, 33, 0, 0},             /* one row for all */
      {3, 70, 33, 70, 1},            /* rows that overlap */
      {1, 70, 33, -9, 40},           /* strides that do not matter, if one row is allowed: */
      {3, 1, 33, 50, INT64_MIN},
      {1, 1, 200, INT64_MAX, -1},
  };
  if (unusual(variant) > 1) return;
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i) {
    const struct mxq_shape shape = even(variant, shapes[i]);
    if (shape.n == shapes[i].n) check_shape(variant, &shape);
  }
}

/* Nothing is read or written, however long the other axes are. */
static void check_empty(const struct mxq_variant *variant) {
  const int64_t many = INT64_C(1) << 61;
  const struct mxq_shape shapes[] = {{0, 6, 8, 48, 8},   {2, 0, 8, 0, 8},    {2, 6, 0, 0, 0},
                                     {0, 0, 0, 0, 0},    {many, 0, 2, 0, 0}, {many, 2, 0, 0, 0},
                                     {1, many, 0, 0, 0}, {0, many, 2, 0, 0}, {1, 0, many, 0, 0}};
  const struct mxq_pointers none = {0};
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i) {
    assert_int_equal(mxq_shape_check(variant, &shapes[i]), MXQ_OK);
    mxq_cpu_run(variant, &shapes[i], &none);
  }
}

/* Strides beyond 32 bits, over memory of which only the rows themselves exist. */
static void check_far(const struct mxq_variant *variant) {
  const size_t bytes = mxq_type_facts(variant->in)->bits / 8;
  const struct mxq_shape shape = {2, 2, 10, (INT64_C(3) << 32) + 2, (INT64_C(1) << 32) + 1};
  const size_t extent = (size_t)(shape.stride_e + shape.stride_n + shape.k) * bytes;
  unsigned char out[2][2 * 2 * 10], scales[2][4096];
  if (unusual(variant) > 1) return;
  unsigned char *in = mmap(NULL, extent, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const struct mxq_pointers pointers = {in, NULL, {out[0], out[1]}, {scales[0], scales[1]}};
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
  const struct CMUnitTest tests[] = {CHECK(check_lengths), CHECK(check_chance),
                                     CHECK(check_strides), CHECK(check_empty), CHECK(check_far)};
  return cmocka_run_group_tests_name("cpu_shapes", tests, NULL, NULL);
}
