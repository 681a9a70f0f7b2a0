/* SPDX-License-Identifier: MIT
 *
 * Scale layouts, contract section 4: each stored place is that of exactly one row and column of
 * scales or padding, mxq_scale_offset finds it, mxq_sizes counts it, and mxq_relayout moves scales
 * there and back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <string.h>

#include "axes.h"
#include "oracle_layout.h"
#include "support.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static struct mxq_context *context;

static int set_up(void **state) {
  (void)state;
  return mxq_context_create(NULL, &context) != MXQ_OK;
}
static int tear_down(void **state) {
  (void)state;
  mxq_context_destroy(context);
  return 0;
}

/* Ragged lengths around the multiples of 4, 16 and 128 that padding goes to. */
static const int64_t shapes[][3] = {{3, 70, 46},  {2, 130, 6},  {1, 2, 2},    {2, 4, 132},
                                    {1, 258, 34}, {3, 18, 514}, {2, 128, 64}, {1, 512, 128},
                                    {5, 1, 1},    {2, 33, 129}};

/* One variant for each layout, block, scale type and scale layout: types change no place. */
static int is_chosen(const struct mxq_variant *variant) {
  if (variant->op == MXQ_OP_QUANTIZE)
    return variant->in == MXQ_TYPE_BF16 && variant->out == MXQ_TYPE_E4M3 &&
           (variant->mode == MXQ_MODE_RCEIL || variant->mode == MXQ_MODE_AMAX);
  return variant->in == MXQ_TYPE_E4M3 && variant->out == MXQ_TYPE_BF16;
}

static void for_each_part(void (*check)(const struct mxq_variant *, const struct mxq_shape *,
                                        unsigned, const struct oracle_layout *)) {
  struct mxq_variant variant = {0};
  size_t count = 0;
  while (mxq_variant_next(&variant))
    for (size_t i = 0; i < COUNT(shapes) && is_chosen(&variant); ++i)
      for (unsigned part = 0; part < 2; ++part) {
        const struct mxq_shape shape = mxq_shape_dense(shapes[i][0], shapes[i][1], shapes[i][2]);
        struct oracle_layout layout;
        const int found = oracle_layout_make(&variant, &shape, part, &layout);
        assert_int_not_equal(found, -1);
        if (found == 0) continue;
        check(&variant, &shape, part, &layout);
        ++count;
      }
  assert_int_not_equal(count, 0);
}

static void fail_at(const struct mxq_variant *variant, const struct mxq_shape *shape,
                    const char *what, uint64_t place) {
  char name[MXQ_VARIANT_NAME_SIZE] = "";
  mxq_variant_name(variant, name, sizeof name);
  fail_msg("%s: (%" PRId64 ", %" PRId64 ", %" PRId64 "): %s at place %" PRIu64, name, shape->e,
           shape->n, shape->k, what, place);
}

static uint64_t size_of(const struct mxq_variant *variant, const struct mxq_shape *shape,
                        unsigned part) {
  struct mxq_byte_counts bytes;
  assert_int_equal(mxq_sizes(variant, shape, &bytes), MXQ_OK);
  return variant->op == MXQ_OP_DEQUANTIZE ? bytes.in_scale : bytes.scale[part];
}

/* Marks the place of every element's scale, each time with what the place must hold. */
static void check_places(const struct mxq_variant *variant, const struct mxq_shape *shape,
                         unsigned part, const struct oracle_layout *layout) {
  static unsigned char marks[1 << 20];
  const uint64_t count = oracle_scale_count(layout);
  assert_true(count <= sizeof marks);
  if (count * layout->scale_bits / 8 != size_of(variant, shape, part))
    fail_at(variant, shape, "mxq_sizes ends elsewhere than", count);
  memset(marks, 0, count);
  for (uint64_t e = 0; e < layout->E; ++e)
    for (uint64_t n = 0; n < layout->N; ++n)
      for (uint64_t k = 0; k < layout->K; ++k) {
        const uint64_t place = mxq_scale_offset(variant, shape, part, e, n, k);
        if (place >= count) fail_at(variant, shape, "outside", place);
        const struct oracle_source source = oracle_scale_source(layout, place);
        if (source.padding || source.e != e || source.block_n != n / layout->block_n ||
            source.block_k != k / layout->block_k)
          fail_at(variant, shape, "another block's scale, or padding,", place);
        marks[place] = 1;
      }
  for (uint64_t place = 0; place < count; ++place)
    if (marks[place] == oracle_scale_source(layout, place).padding)
      fail_at(variant, shape, marks[place] ? "an element" : "no element", place);
}

static void test_places(void **state) {
  (void)state;
  for_each_part(check_places);
}

/* Contract, section 4, by hand: R and C rounded up as each scale layout does. */
static const struct {
  const char *name;
  int64_t n, k;
  uint64_t scale_bytes[2];
} paddings[] = {
    {"quantize_bf16_e4m3_b32_rceil_row_blk", 130, 70, {3 * 256 * 4, 0}},
    {"quantize_bf16_e4m3_b32_rceil_colt_blk", 130, 70, {3 * 128 * 8, 0}},
    {"quantize_bf16_e4m3_b32_rceil_col_blk", 130, 70, {3 * 128 * 8, 0}},
    {"quantize_bf16_e4m3_b32_rceil_sq_blk", 130, 70, {3 * 256 * 4, 0}},
    {"quantize_bf16_e4m3_b32_rceil_sqt_blk", 130, 70, {3 * 128 * 8, 0}},
    {"quantize_bf16_e4m3_b32_rceil_row_mn", 130, 70, {3 * 132 * 4, 0}},
    {"quantize_bf16_e4m3_b32_rceil_colt_mn", 130, 70, {3 * 72 * 8, 0}},
    {"quantize_bf16_e4m3_b32_rceil_sq_mn", 130, 70, {3 * 132 * 4, 0}},
    {"quantize_bf16_e4m3_b32_amax_row_mn", 130, 70, {4 * 3 * 132 * 3, 0}},
    {"quantize_bf16_e4m3_b32_amax_colt_mn", 130, 70, {4 * 3 * 72 * 5, 0}},
    {"quantize_bf16_e4m3_b32_amax_sq_mn", 130, 70, {4 * 3 * 5 * 4, 0}},
    {"quantize_bf16_e4m3_b32_amax_sqt_mn", 130, 70, {4 * 3 * 3 * 8, 0}},
    {"quantize_bf16_e4m3_b32_rceil_rowcolt_blk", 130, 70, {3 * 256 * 4, 3 * 128 * 8}},
    {"quantize_bf16_e4m3_b32_amax_sqsqt_mn", 130, 70, {4 * 3 * 5 * 4, 4 * 3 * 3 * 8}},
    {"quantize_bf16_e4m3_b32_amax_rowcol_lin", 130, 70, {4 * 3 * 130 * 3, 4 * 3 * 5 * 70}},
};

static void test_sizes(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(paddings); i++) {
    struct mxq_variant variant;
    const struct mxq_shape shape = mxq_shape_dense(3, paddings[i].n, paddings[i].k);
    struct mxq_byte_counts bytes;
    assert_int_equal(mxq_variant_parse(paddings[i].name, &variant), MXQ_OK);
    assert_int_equal(mxq_sizes(&variant, &shape, &bytes), MXQ_OK);
    for (int part = 0; part < 2; part++)
      if (bytes.scale[part] != paddings[i].scale_bytes[part])
        fail_msg("%s: %llu bytes of scales", paddings[i].name,
                 (unsigned long long)bytes.scale[part]);
  }
}

static uint32_t scale_at(const unsigned char *scales, unsigned bits, uint64_t place) {
  uint32_t value = 0;
  memcpy(&value, scales + place * (bits / 8), bits / 8);
  return value;
}

static void move(const struct mxq_variant *variant, const struct mxq_shape *shape, unsigned part,
                 unsigned from, unsigned to, const void *src, void *dst) {
  const struct mxq_relayout_args args = {*variant, *shape, part, from, to, src, dst};
  assert_int_equal(mxq_relayout(context, &args, MXQ_DEVICE_CPU, NULL), MXQ_OK);
}

/* Scales of all bits there and back; each stored place against the oracle. */
static void check_relayout(const struct mxq_variant *variant, const struct mxq_shape *shape,
                           unsigned part, const struct oracle_layout *layout) {
  struct mxq_variant lin = *variant;
  uint64_t random = 11;
  if (variant->scales == MXQ_SCALES_LIN) return;
  lin.scales = MXQ_SCALES_LIN;
  struct support_buffer src = support_buffer_make(size_of(&lin, shape, part));
  struct support_buffer there = support_buffer_make(size_of(variant, shape, part));
  struct support_buffer back = support_buffer_make(src.size);
  for (size_t i = 0; i < src.size; ++i) src.data[i] = (unsigned char)(support_random(&random) >> 9);
  move(variant, shape, part, MXQ_SCALES_LIN, variant->scales, src.data, there.data);
  for (uint64_t place = 0; place < oracle_scale_count(layout); ++place) {
    const struct oracle_source source = oracle_scale_source(layout, place);
    const uint64_t at =
        (source.e * layout->blocks_n + source.block_n) * layout->blocks_k + source.block_k;
    const uint32_t wanted = source.padding ? 0 : scale_at(src.data, layout->scale_bits, at);
    if (scale_at(there.data, layout->scale_bits, place) != wanted)
      fail_at(variant, shape, "another scale", place);
    /* What is no first copy must not be looked at on the way back. */
    if (source.padding || !source.first)
      memset(there.data + place * (layout->scale_bits / 8), 0x5A, layout->scale_bits / 8);
  }
  move(variant, shape, part, variant->scales, MXQ_SCALES_LIN, there.data, back.data);
  assert_memory_equal(src.data, back.data, src.size);
  assert_true(support_buffer_guards(&src, "src") && support_buffer_guards(&there, "there") &&
              support_buffer_guards(&back, "back"));
  support_buffer_free(&src);
  support_buffer_free(&there);
  support_buffer_free(&back);
}

static void test_relayout(void **state) {
  (void)state;
  for_each_part(check_relayout);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_relayout),
  };
  return cmocka_run_group_tests_name("scales", tests, set_up, tear_down);
}
