/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "oracle.h"
#include "oracle_layout.h"

enum { shown_differences = 6 };

/* Contract, section 2; written again on purpose. `infinity`, `nan`: the first magnitude code that
 * means so, past all codes if none does. */
static const struct code_type {
  const char *token;
  int bits, mantissa_bits, bias;
  unsigned infinity, nan;
} code_types[] = {
    {"e4m3", 8, 3, 7, 0x7F, 0x7F}, {"e5m2", 8, 2, 15, 0x7C, 0x7D}, {"e2m3", 6, 3, 1, 64, 64},
    {"e3m2", 6, 2, 3, 64, 64},     {"e2m1", 4, 1, 1, 16, 16},
};

static const struct wide_type {
  const char *token;
  int bits, mantissa_bits, least; /* exponent of the smallest normal */
  double beyond;                  /* the power of two above the largest value */
  uint32_t nan;
} wide_types[] = {
    {"f32", 32, 23, -126, 0x1p128, 0x7FFFFFFF},
    {"bf16", 16, 7, -126, 0x1p128, 0x7FFF},
    {"f16", 16, 10, -14, 0x1p16, 0x7FFF},
};

#define FIND(table, wanted)                                       \
  for (size_t i = 0; i < sizeof(table) / sizeof((table)[0]); ++i) \
    if (!strcmp((table)[i].token, (wanted))) return &(table)[i];  \
  fprintf(stderr, "no oracle for %s\n", (wanted));                \
  abort()

static const struct code_type *code_type_of(const char *token) { FIND(code_types, token); }
static const struct wide_type *wide_type_of(const char *token) { FIND(wide_types, token); }

static double code_value(const struct code_type *type, unsigned code) {
  const unsigned sign = 1u << (type->bits - 1);
  const unsigned magnitude = code & (sign - 1);
  const int exponent = (int)(magnitude >> type->mantissa_bits);
  const double fraction =
      ldexp((double)(magnitude % (1u << type->mantissa_bits)), -type->mantissa_bits);
  double value =
      exponent ? ldexp(1 + fraction, exponent - type->bias) : ldexp(fraction, 1 - type->bias);
  if (magnitude >= type->nan) return NAN;
  if (magnitude >= type->infinity) value = INFINITY;
  return code & sign ? -value : value;
}

static double scale_value(unsigned bits, uint32_t scale) {
  float value;
  if (bits == 8) return scale == 255 ? NAN : ldexp(1, (int)scale - 127);
  memcpy(&value, &scale, sizeof value);
  return value;
}

/* Nearest in steps of the type's last place there; what rounds to the power above the largest value
 * is infinite. */
static double nearest(const struct wide_type *type, double value) {
  if (value == 0 || isinf(value)) return value;
  const int exponent = ilogb(value) < type->least ? type->least : ilogb(value);
  const double place = ldexp(1, exponent - type->mantissa_bits);
  const double rounded = rint(value / place) * place;
  return fabs(rounded) >= type->beyond ? copysign(INFINITY, value) : copysign(rounded, value);
}

/* The bits of a value that the type has, by their meaning. */
static uint32_t wide_bits(const struct wide_type *type, double value) {
  const uint32_t sign = (uint32_t)(signbit(value) != 0) << (type->bits - 1);
  const uint32_t full = (1u << (type->bits - 1 - type->mantissa_bits)) - 1;
  const double magnitude = fabs(value);
  if (isinf(value)) return sign | full << type->mantissa_bits;
  const int exponent = magnitude < ldexp(1, type->least) ? type->least : ilogb(magnitude);
  const double units = magnitude / ldexp(1, exponent - type->mantissa_bits);
  const uint32_t steps = (uint32_t)(exponent - type->least);
  return sign | ((uint32_t)units + (steps << type->mantissa_bits));
}

uint32_t oracle_decode(const struct mxq_variant *variant, unsigned code, uint32_t scale) {
  const struct code_type *in = code_type_of(mxq_type_facts(variant->in)->token);
  const struct wide_type *out = wide_type_of(mxq_type_facts(variant->out)->token);
  const unsigned scale_bits = mxq_mode_facts(variant->mode)->scale_bits;
  /* A double holds the product exactly. */
  const double exact =
      code_value(in, code & ((1u << in->bits) - 1)) * scale_value(scale_bits, scale);
  if (isnan(exact)) return out->nan;
  return wide_bits(out, nearest(out, nearest(wide_type_of("f32"), exact)));
}

static uint32_t little_endian(const unsigned char *bytes, size_t count) {
  uint32_t value = 0;
  while (count--) value = value << 8 | bytes[count];
  return value;
}

/* The scale of each block, along K first: from the places that are no copies. */
static uint32_t *gather_scales(const struct oracle_layout *layout, const unsigned char *stored) {
  const size_t bytes = layout->scale_bits / 8;
  const uint64_t blocks = layout->E * layout->blocks_n * layout->blocks_k;
  uint32_t *scales = calloc((size_t)blocks, sizeof *scales);
  for (uint64_t place = 0; scales && place < oracle_scale_count(layout); ++place) {
    const struct oracle_source source = oracle_scale_source(layout, place);
    if (source.padding || !source.first) continue;
    const uint64_t block =
        (source.e * layout->blocks_n + source.block_n) * layout->blocks_k + source.block_k;
    scales[block] = little_endian(stored + place * bytes, bytes);
  }
  return scales;
}

static uint64_t out_place(const struct mxq_shape *shape, uint64_t e, uint64_t n, uint64_t k) {
  return (shape->e > 1 ? e * (uint64_t)shape->stride_e : 0) +
         (shape->n > 1 ? n * (uint64_t)shape->stride_n : 0) + k;
}

static int compare_element(const struct mxq_variant *variant, const struct mxq_shape *shape,
                           const struct mxq_pointers *pointers, const struct oracle_layout *layout,
                           const uint32_t *scales, const uint64_t at[3], int show) {
  const size_t bytes = mxq_type_facts(variant->out)->bits / 8;
  const uint64_t place = oracle_code_place(layout, at[0], at[1], at[2]);
  const unsigned char *in = pointers->in, *out = pointers->out[0];
  const unsigned code =
      mxq_type_facts(variant->in)->bits == 4 ? in[place / 2] >> place % 2 * 4 & 15u : in[place];
  const uint32_t scale =
      scales[(at[0] * layout->blocks_n + at[1] / layout->block_n) * layout->blocks_k +
             at[2] / layout->block_k];
  const uint32_t expected = oracle_decode(variant, code, scale);
  const uint32_t got = little_endian(out + out_place(shape, at[0], at[1], at[2]) * bytes, bytes);
  if (expected == got) return 0;
  if (show)
    fprintf(stderr,
            "(%" PRIu64 ", %" PRIu64 ", %" PRIu64 "): code %02x, scale %02" PRIx32
            ": expected %08" PRIx32 ", got %08" PRIx32 "\n",
            at[0], at[1], at[2], code, scale, expected, got);
  return 1;
}

uint64_t oracle_compare_decoded(const struct mxq_variant *variant, const struct mxq_shape *shape,
                                const struct mxq_pointers *pointers) {
  struct oracle_layout layout;
  uint64_t differences = 0;
  if (oracle_layout_make(variant, shape, 0, &layout) != 1) return 1;
  uint32_t *scales = gather_scales(&layout, pointers->in_scale);
  if (!scales) return 1;
  for (uint64_t e = 0; e < layout.E; ++e)
    for (uint64_t n = 0; n < layout.N; ++n)
      for (uint64_t k = 0; k < layout.K; ++k)
        differences += (uint64_t)compare_element(variant, shape, pointers, &layout, scales,
                                                 (const uint64_t[3]){e, n, k},
                                                 differences < shown_differences);
  free(scales);
  return differences;
}
