/* SPDX-License-Identifier: MIT
 *
 * The CPU path's numbers against the oracle, for each input type, output type and mode: every
 * 16-bit maximum, ties, the float32 maxima where a mode changes its mind, NaN and infinities, and
 * callers that round or flush in their own way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "axes.h"
#include "cpu.h"
#include "oracle.h"
#include "support.h"

/* Many blocks of one length, as a tensor of the variant. */
struct batch {
  const struct mxq_variant *variant;
  size_t length, blocks;
  struct mxq_shape shape;
  struct support_buffer in, out[2], scale[2];
};

static struct batch batch_make(const struct mxq_variant *variant, size_t length, size_t blocks) {
  const unsigned kind = mxq_layout_part(variant->layout, 0);
  const int64_t l = (int64_t)length, b = (int64_t)blocks;
  struct batch batch = {.variant = variant, .length = length, .blocks = blocks};
  struct mxq_byte_counts bytes;
  if (!(kind & MXQ_PART_ALONG_K))
    batch.shape = mxq_shape_dense(1, l, b);
  else if (!(kind & MXQ_PART_ALONG_N))
    batch.shape = mxq_shape_dense(1, b, l);
  else
    batch.shape = mxq_shape_dense(b, 1, l);
  assert_int_equal(mxq_sizes(variant, &batch.shape, &bytes), MXQ_OK);
  batch.in = support_buffer_make(bytes.in);
  for (int part = 0; part < 2; ++part) {
    batch.out[part] = support_buffer_make(bytes.out[part]);
    batch.scale[part] = support_buffer_make(bytes.scale[part]);
  }
  return batch;
}

static void batch_set(struct batch *batch, size_t block, size_t i, uint32_t bits) {
  const unsigned kind = mxq_layout_part(batch->variant->layout, 0);
  const size_t size = mxq_type_facts(batch->variant->in)->bits / 8;
  const size_t place =
      kind & MXQ_PART_ALONG_K ? block * batch->length + i : i * batch->blocks + block;
  memcpy(batch->in.data + place * size, &bits, size);
}

static struct mxq_pointers batch_run(struct batch *batch) {
  const struct mxq_pointers pointers = {batch->in.data,
                                        NULL,
                                        {batch->out[0].data, batch->out[1].data},
                                        {batch->scale[0].data, batch->scale[1].data}};
  mxq_cpu_run(batch->variant, &batch->shape, &pointers);
  return pointers;
}

static void batch_free(struct batch *batch) {
  support_buffer_free(&batch->in);
  for (int part = 0; part < 2; ++part) {
    support_buffer_free(&batch->out[part]);
    support_buffer_free(&batch->scale[part]);
  }
}

static void batch_check(struct batch *batch, const char *what) {
  const struct mxq_pointers pointers = batch_run(batch);
  const uint64_t differences = oracle_compare(batch->variant, &batch->shape, &pointers);
  batch_free(batch);
  if (differences) fail_msg("%s: %llu differ", what, (unsigned long long)differences);
}

static uint32_t sign_of(const struct mxq_type_facts *type) { return 1u << (type->bits - 1); }

/* Blocks with every magnitude as their maximum, at all places of the block. */
static void check_16_bit_maxima(const struct mxq_variant *variant) {
  const struct mxq_type_facts *type = mxq_type_facts(variant->in);
  enum { length = 10, blocks = 0x10000 };
  uint64_t random = 1;
  if (type->bits != 16) return;
  struct batch batch = batch_make(variant, length, blocks);
  for (uint32_t bits = 0; bits < blocks; ++bits)
    for (size_t i = 0; i < length; ++i) {
      const uint64_t r = support_random(&random);
      const uint32_t below = (uint32_t)(r >> 32) % ((bits & 0x7FFF) + 1) | (r & 1 ? 0x8000u : 0);
      batch_set(&batch, bits, i, i == bits % length ? bits : below);
    }
  batch_check(&batch, "16-bit maxima");
}

static uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* One block: an anchor, then a code's value and what lies half way to the next, one unit beside
 * that too, of both signs. */
static void set_tie(struct batch *batch, size_t block, float anchor, double value, double next,
                    int exponent) {
  const float tie = (float)((value + next) / 2);
  const float below = nextafterf(tie, 0.0f), above = nextafterf(tie, INFINITY);
  const float products[] = {anchor, (float)value, below, tie, above, -below, -tie, -above};
  for (size_t i = 0; i < batch->length; ++i)
    batch_set(batch, block, i, float_bits(ldexpf(products[i], exponent)));
}

/* Products around every tie of the output type, at scales from the smallest byte on. Float32 input
 * alone can spell them. Beside the power of two of the type's maximum each mode with a power of two
 * gives the product that is meant, beside the maximum `amax` does. */
static void check_ties(const struct mxq_variant *variant) {
  static const int exponents[] = {-127, -126, -125, -100, -1, 0, 1, 100, 112, 124};
  enum { length = 8, anchors = 2, scales = sizeof exponents / sizeof exponents[0] };
  struct oracle oracle;
  assert_true(oracle_make(variant, &oracle));
  if (mxq_type_facts(variant->in)->bits != 32) return;
  struct batch batch = batch_make(variant, length, (size_t)oracle.count * scales * anchors);
  const double top = oracle.magnitudes[oracle.count - 1];
  const double power = ldexp(1.0, mxq_type_facts(variant->out)->emax);
  for (size_t s = 0, block = 0; s < scales * anchors; ++s)
    for (unsigned c = 0; c < oracle.count; ++c, ++block) {
      const double value = oracle.magnitudes[c];
      const double next =
          c + 1 < oracle.count ? oracle.magnitudes[c + 1] : 2 * top - oracle.magnitudes[c - 1];
      set_tie(&batch, block, (float)(s % anchors ? top : power), value, next,
              exponents[s / anchors]);
    }
  batch_check(&batch, "ties");
}

/* Every exponent with the mantissas around those at which a mode steps to the next scale. */
static void check_float32_maxima(const struct mxq_variant *variant) {
  static const uint32_t edges[] = {0, 0x400000, 0x600000, 0x700000, 0x780000, 0x7FFFFF};
  enum { length = 6, around = 5, mantissas = sizeof edges / sizeof edges[0] * around };
  uint64_t random = 2;
  if (mxq_type_facts(variant->in)->bits != 32) return;
  struct batch batch = batch_make(variant, length, 255 * mantissas);
  for (uint32_t e = 0, block = 0; e < 255; ++e)
    for (uint32_t m = 0; m < mantissas; ++m, ++block) {
      const uint32_t mantissa = (edges[m / around] + m % around - around / 2) & 0x7FFFFF;
      const uint32_t largest = e << 23 | mantissa;
      for (size_t i = 0; i < length; ++i) {
        const uint64_t r = support_random(&random);
        const uint32_t below = largest - (uint32_t)(r >> 32) % (largest % (3u << 23) + 1);
        batch_set(&batch, block, i,
                  (i == block % length ? largest : below) | (uint32_t)(r & 1) << 31);
      }
    }
  batch_check(&batch, "float32 maxima");
}

/* A NaN of any kind, or an infinity, at each place of a block between two whole ones. */
static void check_not_finite(const struct mxq_variant *variant) {
  const struct mxq_type_facts *type = mxq_type_facts(variant->in);
  const uint32_t infinity = ((1u << type->exponent_bits) - 1) << type->mantissa_bits;
  const uint32_t specials[] = {infinity, infinity | 1, infinity | 1u << (type->mantissa_bits - 1),
                               sign_of(type) - 1};
  enum { kinds = 2 * sizeof specials / sizeof specials[0] };
  const size_t length = variant->block;
  struct batch batch = batch_make(variant, length, 2 * kinds * length);
  for (size_t block = 0; block < batch.blocks; ++block)
    for (size_t i = 0; i < length; ++i) {
      const size_t kind = block / 2 % kinds, place = block / 2 / kinds;
      const uint32_t special = specials[kind / 2] | (kind % 2 ? sign_of(type) : 0);
      const uint32_t finite = (infinity / 2 + (uint32_t)(i * block)) | (i % 2 ? sign_of(type) : 0);
      batch_set(&batch, block, i, block % 2 && i == place ? special : finite);
    }
  batch_check(&batch, "NaN and infinities");
}

#ifdef __SSE2__
#include <xmmintrin.h>
static void flush_subnormals(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
static int flushes_subnormals(void) { return (_mm_getcsr() & 0x8040) == 0x8040; }
#else
static void flush_subnormals(void) {}
static int flushes_subnormals(void) { return 1; }
#endif

/* What the caller's thread does with roundings and subnormals changes no result and stays set. */
static void check_float_environment(const struct mxq_variant *variant) {
  const struct mxq_shape shape = mxq_shape_dense(1, 2 * variant->block, 512);
  struct support_tensors tensors;
  fenv_t before;
  assert_int_equal(support_tensors_make(variant, &shape, 3, &tensors), MXQ_OK);
  const struct mxq_pointers pointers = support_tensors_pointers(&tensors);
  fegetenv(&before);
  fesetround(FE_UPWARD);
  flush_subnormals();
  mxq_cpu_run(variant, &shape, &pointers);
  const int kept = fegetround() == FE_UPWARD && flushes_subnormals();
  fesetenv(&before);
  const uint64_t differences = oracle_compare(variant, &shape, &pointers);
  support_tensors_free(&tensors);
  assert_true(kept);
  if (differences) fail_msg("%llu differ", (unsigned long long)differences);
}

/* Runs a check for the first variant with each pair of types and mode: blocks and layouts change no
 * number (test_cpu_shapes). */
static void for_each_conversion(void (*check)(const struct mxq_variant *)) {
  static unsigned char seen[256][256][256];
  struct mxq_variant variant = {0};
  size_t count = 0;
  memset(seen, 0, sizeof seen);
  while (mxq_variant_next(&variant)) {
    unsigned char *mark = &seen[variant.in][variant.out][variant.mode];
    if (variant.op != MXQ_OP_QUANTIZE || (*mark)++) continue;
    check(&variant);
    ++count;
  }
  print_message("%zu pairs of types and mode\n", count);
  assert_int_not_equal(count, 0);
}

static void run_check(void **state) {
  void (*const *check)(const struct mxq_variant *) = *state;
  for_each_conversion(*check);
}

#define CHECK(name)                                                                   \
  {                                                                                   \
#name, run_check, NULL, NULL, &(void (*[1])(const struct mxq_variant *)) { name } \
  }

int main(void) {
  const struct CMUnitTest tests[] = {
      CHECK(check_16_bit_maxima),     CHECK(check_ties),
      CHECK(check_float32_maxima),    CHECK(check_not_finite),
      CHECK(check_float_environment),
  };
  return cmocka_run_group_tests_name("cpu", tests, NULL, NULL);
}
