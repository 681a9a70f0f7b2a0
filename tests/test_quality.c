/* SPDX-License-Identifier: MIT
 *
 * The quality figures of mxq quantize against the plainest way to compute them, on ragged shapes,
 * every code, and any number of threads.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axes.h"
#include "quality.h"

static uint32_t seed;

static uint32_t next_random(void) {
  seed ^= seed << 13;
  seed ^= seed >> 17;
  return seed ^= seed << 5;
}

/* Contract, section 2, by arithmetic: what a code of a type means. */
static const struct format {
  const char *type;
  int exponent_bits, mantissa_bits;
  double max;
} formats[] = {{"e4m3", 4, 3, 448},
               {"e5m2", 5, 2, 57344},
               {"e2m3", 2, 3, 7.5},
               {"e3m2", 3, 2, 28},
               {"e2m1", 2, 1, 6}};

static double code_value(const char *type, unsigned code) {
  const struct format *f = formats;
  while (strcmp(f->type, type)) f++;
  const int bias = (1 << (f->exponent_bits - 1)) - 1;
  const int mantissa = (int)code & ((1 << f->mantissa_bits) - 1);
  const int exponent = (int)(code >> f->mantissa_bits) & ((1 << f->exponent_bits) - 1);
  const double fraction = mantissa / (double)(1 << f->mantissa_bits);
  const double value = exponent ? ldexp(1 + fraction, exponent - bias) : ldexp(fraction, 1 - bias);
  if (value > f->max) return NAN;
  return code >> (f->exponent_bits + f->mantissa_bits) & 1 ? -value : value;
}

static double scale_value(const unsigned char *scales, unsigned bits, uint64_t place) {
  float value;
  if (bits == 8) return scales[place] == 255 ? (double)NAN : ldexp(1, scales[place] - 127);
  memcpy(&value, scales + 4 * place, sizeof value);
  return (double)value;
}

static double input_value(const char *type, const unsigned char *at) {
  uint32_t bits = 0;
  float value;
  if (!strcmp(type, "f16")) {
    uint16_t half;
    memcpy(&half, at, 2);
    const int exponent = half >> 10 & 31, mantissa = half & 1023;
    if (exponent == 31) return NAN;
    const double size = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    return half & 0x8000 ? -size : size;
  }
  memcpy(strcmp(type, "bf16") ? (unsigned char *)&bits : (unsigned char *)&bits + 2, at,
         strcmp(type, "bf16") ? 4 : 2);
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static struct quality plainly(const struct mxq_variant *variant, const struct mxq_shape *shape,
                              const unsigned char *in, const unsigned char *codes,
                              const unsigned char *scales) {
  struct quality q = {0};
  const struct mxq_type_facts *type = mxq_type_facts(variant->in);
  const char *out = mxq_type_facts(variant->out)->token;
  const uint64_t count = (uint64_t)(shape->e * shape->n * shape->k);
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t k = i % (uint64_t)shape->k, n = i / (uint64_t)shape->k % (uint64_t)shape->n;
    const uint64_t e = i / (uint64_t)(shape->n * shape->k);
    const double scale = scale_value(scales, mxq_mode_facts(variant->mode)->scale_bits,
                                     mxq_scale_offset(variant, shape, 0, e, n, k));
    const uint64_t place = mxq_data_offset(variant, shape, 0, e, n, k);
    const unsigned code =
        strcmp(out, "e2m1") ? codes[place] : (unsigned)codes[place / 2] >> place % 2 * 4 & 15u;
    const double x = input_value(type->token, in + i * type->bits / 8);
    const double y = (double)(float)(code_value(out, code) * scale);
    if (!isfinite(x - y)) {
      q.excluded++;
      continue;
    }
    q.elements++;
    q.signal += x * x;
    q.noise += (x - y) * (x - y);
    q.largest_error = fmax(q.largest_error, fabs(x - y));
    q.largest_input = fmax(q.largest_input, fabs(x));
    if (x != 0) q.largest_relative = fmax(q.largest_relative, fabs(x - y) / fabs(x));
  }
  return q;
}

static void assert_close(double a, double b) { assert_true(fabs(a - b) <= 1e-9 * fabs(b)); }

/* Sizes near 1, and among them any bits. */
static void fill_scales(unsigned bits, unsigned char *scales, uint64_t size) {
  for (uint64_t i = 0; i < size; i += bits / 8) {
    const uint32_t random = next_random();
    const float value = ldexpf(1 + (float)(random % 1000) / 1000, (int)(random >> 16 & 31) - 16);
    if (bits == 8)
      scales[i] = (unsigned char)(i % 7 ? 100 + random % 50 : random);
    else
      memcpy(scales + i, i % 7 ? (const void *)&value : &random, 4);
  }
}

/* Copies of a scale are equal, as mxq quantize writes them. */
static void equal_copies(const struct mxq_variant *variant, const struct mxq_shape *shape,
                         unsigned char *scales) {
  const unsigned kind = mxq_layout_part(variant->layout, 0);
  const uint64_t block_n = kind & MXQ_PART_ALONG_N ? variant->block : 1u;
  const uint64_t block_k = kind & MXQ_PART_ALONG_K ? variant->block : 1u;
  const size_t bytes = mxq_mode_facts(variant->mode)->scale_bits / 8;
  for (uint64_t i = 0; i < (uint64_t)(shape->e * shape->n * shape->k); i++) {
    const uint64_t k = i % (uint64_t)shape->k, n = i / (uint64_t)shape->k % (uint64_t)shape->n;
    const uint64_t e = i / (uint64_t)(shape->n * shape->k);
    memmove(
        scales + mxq_scale_offset(variant, shape, 0, e, n, k) * bytes,
        scales + mxq_scale_offset(variant, shape, 0, e, n - n % block_n, k - k % block_k) * bytes,
        bytes);
  }
}

static void compare(const struct mxq_variant *variant, const struct mxq_shape *shape) {
  struct mxq_byte_counts bytes;
  assert_int_equal(mxq_sizes(variant, shape, &bytes), MXQ_OK);
  /* One byte off: inputs in a file stand anywhere. */
  unsigned char *in = malloc(bytes.in + 1), *codes = malloc(bytes.out[0]);
  unsigned char *scales = malloc(bytes.scale[0]);
  for (uint64_t i = 0; i < bytes.in; i++) in[i + 1] = (unsigned char)next_random();
  for (uint64_t i = 0; i < bytes.out[0]; i++) codes[i] = (unsigned char)next_random();
  fill_scales(mxq_mode_facts(variant->mode)->scale_bits, scales, bytes.scale[0]);
  equal_copies(variant, shape, scales);
  const struct quality expected = plainly(variant, shape, in + 1, codes, scales);
  struct quality first = {0};
  for (unsigned threads = 1; threads < 5; threads++) {
    const struct quality q = quality_measure(variant, shape, 0, in + 1, codes, scales, threads);
    if (threads == 1) first = q;
    assert_memory_equal(&q, &first, sizeof q);
    assert_int_equal(q.elements, expected.elements);
    assert_int_equal(q.excluded, expected.excluded);
    assert_close(q.signal, expected.signal);
    assert_close(q.noise, expected.noise);
    assert_true(q.largest_error == expected.largest_error);
    assert_true(q.largest_input == expected.largest_input);
    assert_close(q.largest_relative, expected.largest_relative);
  }
  free(in);
  free(codes);
  free(scales);
}

static void figures_are_those_of_the_plain_way(void **state) {
  (void)state;
  static const int64_t shapes[][3] = {{1, 32, 32},  {1, 1, 1},    {1, 64, 33},  {3, 31, 7},
                                      {2, 257, 40}, {1, 17, 129}, {2, 520, 96}, {5, 16, 8},
                                      {2, 130, 70}, {1, 66, 258}, {3, 2, 300}};
  enum { count = sizeof shapes / sizeof *shapes };
  struct mxq_variant variant = {0};
  unsigned compared = 0;
  seed = 88172645u;
  for (size_t next = 0; mxq_variant_next(&variant); next++) {
    if (variant.op != MXQ_OP_QUANTIZE || next % 23) continue; /* of all kinds: 23 divides no axis */
    /* Two of the shapes that the variant takes, others for its neighbours in the list. */
    for (size_t i = 0; i < 2; i++) {
      const int64_t *s = shapes[(next + i * 3) % count];
      const struct mxq_shape shape = mxq_shape_dense(s[0], s[1], s[2]);
      struct mxq_byte_counts bytes;
      if (mxq_sizes(&variant, &shape, &bytes) != MXQ_OK) continue; /* half a byte */
      compare(&variant, &shape);
      compared++;
    }
  }
  assert_true(compared > 0);
}

static void nothing_has_no_quality(void **state) {
  (void)state;
  struct mxq_variant variant = {0};
  assert_true(mxq_variant_next(&variant));
  const struct mxq_shape shape = mxq_shape_dense(2, 0, 8);
  struct quality q = quality_measure(&variant, &shape, 0, NULL, NULL, NULL, 2);
  assert_int_equal(q.elements + q.excluded, 0);
  assert_true(isnan(quality_decibels(&q)));
  q = (struct quality){.signal = 100, .noise = 1, .elements = 1};
  assert_close(quality_decibels(&q), 20);
  q.noise = 0;
  assert_true(isinf(quality_decibels(&q)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(figures_are_those_of_the_plain_way),
      cmocka_unit_test(nothing_has_no_quality),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
