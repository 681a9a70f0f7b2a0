/* SPDX-License-Identifier: MIT */
#include "exhaustive_inputs.h"

#include <math.h>
#include <string.h>

#include "axes.h"
#include "support.h"

enum { pattern_blocks = 1 << 16, tie_blocks = 2048, binades = 12 };

const char *const exhaustive_names[EXHAUSTIVE_KINDS] = {"patterns", "ties"};

/* Where the blocks of a variant's input lie. */
struct writer {
  const struct mxq_variant *variant;
  const struct mxq_type_facts *type;
  uint64_t blocks;
  unsigned char *in;
};

static int along_k(const struct mxq_variant *variant) {
  return (mxq_layout_part(variant->layout, 0) & MXQ_PART_ALONG_K) != 0;
}

static void put(const struct writer *to, uint64_t block, unsigned element, uint32_t bits) {
  const uint64_t size = to->type->bits / 8;
  const uint64_t place =
      along_k(to->variant) ? block * to->variant->block + element : element * to->blocks + block;
  memcpy(to->in + place * size, &bits, size); /* little-endian */
}

struct mxq_shape exhaustive_shape(const struct mxq_variant *variant, enum exhaustive_kind kind) {
  const int64_t blocks = kind == EXHAUSTIVE_PATTERNS ? pattern_blocks : tie_blocks;
  return along_k(variant) ? mxq_shape_dense(1, blocks, variant->block)
                          : mxq_shape_dense(1, variant->block, blocks);
}

static void fill_patterns(const struct writer *to) {
  const unsigned wide = to->type->bits - 16;
  const uint32_t sign = 1u << (to->type->bits - 1);
  const uint32_t infinity = ((1u << to->type->exponent_bits) - 1) << to->type->mantissa_bits;
  const uint32_t below = (uint32_t)binades << to->type->mantissa_bits;
  uint64_t random = 16;
  for (uint32_t block = 0; block < pattern_blocks; block++) {
    const uint32_t lower = wide && support_random(&random) % 2 ? 0xFFFF : 0;
    const uint32_t pattern = block << wide | lower, magnitude = pattern & ~sign;
    const unsigned place = block * 7 % to->variant->block;
    const uint32_t top = magnitude < infinity ? magnitude : infinity - 1;
    const uint32_t range = top < below ? top : below;
    for (unsigned i = 0; i < to->variant->block; i++) {
      const uint64_t bits = support_random(&random);
      const uint32_t other = (top - (uint32_t)(bits >> 32) % (range + 1)) | (bits & 1 ? sign : 0);
      put(to, block, i, i == place ? pattern : other);
    }
  }
}

/* A magnitude in the bits of an input type, cut off where the type ends. */
static uint32_t bits_of(const struct mxq_type_facts *type, double value) {
  const int bias = (1 << (type->exponent_bits - 1)) - 1, digits = (int)type->mantissa_bits;
  int exponent = 0;
  frexp(value, &exponent);
  exponent = exponent - 1 + bias; /* the field */
  if (value <= 0) return 0;
  if (exponent < 1) return (uint32_t)ldexp(value, bias - 1 + digits);
  const double mantissa = ldexp(value, bias - exponent + digits) - ldexp(1, digits);
  return (uint32_t)exponent << digits | (uint32_t)mantissa;
}

/* The value of an output type's code without its sign, also for the code after the last. */
static double value_of(const struct mxq_type_facts *type, unsigned code) {
  const int bias = (1 << (type->exponent_bits - 1)) - 1, digits = (int)type->mantissa_bits;
  const unsigned exponent = code >> digits, mantissa = code & ((1u << digits) - 1);
  return exponent ? ldexp((1 << digits) + (int)mantissa, (int)exponent - bias - digits)
                  : ldexp(mantissa, 1 - bias - digits);
}

/* The index-th number to round: codes' values and the middles above them, each with the numbers
 * beside it, in both signs. The largest is above the type's maximum. */
static uint32_t tie(const struct writer *to, const struct mxq_type_facts *code, unsigned index,
                    int power) {
  const unsigned sign = index % 2, step = index / 2 % 3, middle = index / 6 % 2, at = index / 12;
  const double low = value_of(code, at), high = value_of(code, at + 1);
  const double number = ldexp(middle ? (low + high) / 2 : low, power);
  const uint32_t bits = bits_of(to->type, number) + step;
  return (bits ? bits - 1 : 0) | sign << (to->type->bits - 1);
}

/* Rounds of blocks for each power, with the type's maximum and with almost twice its exponent as
 * the block's maximum; each round has every number. */
static void fill_ties(const struct writer *to) {
  static const int powers[] = {0, -5, 9, -1, 3, -90, 60};
  const struct mxq_type_facts *code = mxq_type_facts(to->variant->out);
  const unsigned used = to->type->exponent_bits == 8 ? 7 : 1; /* f16 has no room for others */
  const unsigned in_round = tie_blocks / (2 * used), tied = to->variant->block - 1u;
  unsigned codes = 0;
  while (value_of(code, codes) < code->max) codes++;
  const unsigned numbers = (codes + 1) * 12;
  for (unsigned block = 0; block < tie_blocks; block++) {
    const unsigned round = block / in_round;
    const int power = powers[round / 2 % used];
    const double most = round % 2 ? ldexp(2 - ldexp(1, -8), code->emax) : code->max;
    put(to, block, 0, bits_of(to->type, ldexp(most, power)));
    for (unsigned i = 0; i < tied; i++)
      put(to, block, i + 1, tie(to, code, (block % in_round * tied + i) % numbers, power));
  }
}

void exhaustive_fill(const struct mxq_variant *variant, enum exhaustive_kind kind, void *in) {
  const struct mxq_shape shape = exhaustive_shape(variant, kind);
  const struct writer to = {variant, mxq_type_facts(variant->in),
                            (uint64_t)(along_k(variant) ? shape.n : shape.k), in};
  if (kind == EXHAUSTIVE_PATTERNS)
    fill_patterns(&to);
  else
    fill_ties(&to);
}
