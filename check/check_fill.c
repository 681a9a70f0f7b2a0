/* SPDX-License-Identifier: MIT
 *
 * Inputs that are hard to round, made from bits: the three input types differ in field widths
 * alone.
 */
#include "check_fill.h"

#include <math.h>
#include <string.h>

#include "axes.h"

/* The fields of a type and of the block at hand. */
struct maker {
  unsigned mantissa_bits;
  uint32_t exponent_max; /* the exponent field of infinities and NaN */
  uint32_t exponent;     /* of the block's large elements */
  uint32_t tie_bits;     /* mantissa bits of the output type */
  uint32_t binades;      /* of the output type, and some that it rounds to zero */
  uint32_t max_mantissa; /* of the output type's maximum, in the input's places */
  unsigned kind;         /* of the block */
};

enum { kind_nan, kind_infinity, kind_zero, kind_largest, kind_subnormal, kind_edge, kinds = 48 };

static uint32_t join(const struct maker *maker, uint32_t sign, uint32_t exponent,
                     uint32_t mantissa) {
  const uint32_t mask = (1u << maker->mantissa_bits) - 1;
  const unsigned sign_bit = maker->mantissa_bits + (maker->exponent_max == 31 ? 5 : 8);
  return sign << sign_bit | exponent << maker->mantissa_bits | (mantissa & mask);
}

static uint32_t lower(uint32_t exponent, uint32_t steps) {
  return exponent > steps ? exponent - steps : 0;
}

/* Half way between two codes of the output type, or one unit beside it. */
static uint32_t tie(const struct maker *maker, uint32_t random) {
  const unsigned dropped = maker->mantissa_bits - maker->tie_bits;
  const uint32_t middle = (random >> 8) << dropped | 1u << (dropped - 1);
  return middle + random % 3 - 1;
}

static uint32_t ordinary(const struct maker *maker, uint32_t random) {
  const uint32_t sign = random & 1, pick = (random >> 1) % 12, rest = random >> 5;
  switch (pick) {
    case 0: return join(maker, sign, maker->exponent, 0);
    case 1: return join(maker, sign, lower(maker->exponent, 1), ~0u);
    case 2: return join(maker, sign, maker->exponent, 1);
    case 3: return join(maker, sign, 0, 0);
    case 4: return join(maker, sign, 0, rest);
    case 5:
    case 6:
      return join(maker, sign, lower(maker->exponent, rest % maker->binades),
                  tie(maker, rest >> 4));
    case 7: return join(maker, sign, maker->exponent, ~0u);
    default: return join(maker, sign, lower(maker->exponent, rest % maker->binades / 2), rest >> 4);
  }
}

static uint32_t element(const struct maker *maker, uint32_t random) {
  const uint32_t sign = random & 1, rest = random >> 6;
  const int one_of_many = (random >> 1) % 32 == 0;
  switch (maker->kind) {
    case kind_nan:
      return one_of_many ? join(maker, sign, maker->exponent_max, rest | 1)
                         : ordinary(maker, random);
    case kind_infinity:
      return one_of_many ? join(maker, sign, maker->exponent_max, 0) : ordinary(maker, random);
    case kind_zero: return join(maker, sign, 0, 0);
    case kind_largest: return join(maker, sign, maker->exponent_max - 1, ~(rest & 1));
    case kind_subnormal: return join(maker, sign, 0, rest);
    case kind_edge: /* the mantissa of the output's maximum, and its neighbours */
      return join(maker, sign, lower(maker->exponent, rest % 8 / 7 ? 0 : 1 + rest % 4),
                  maker->max_mantissa + (rest >> 8) % 3 - 1);
    default: return ordinary(maker, random);
  }
}

/* A number of its own for each pair. */
static uint64_t mix(uint64_t state, uint64_t value) {
  state ^= value * UINT64_C(0xD6E8FEB86659FD93);
  return check_random(&state);
}

static void begin_block(struct maker *maker, uint64_t hash) {
  maker->kind = (unsigned)(hash % kinds);
  maker->exponent = (uint32_t)(hash >> 32) % maker->exponent_max;
}

static struct maker maker_of(const struct mxq_type_facts *in, const struct mxq_type_facts *out) {
  const double max_mantissa = ldexp(out->max, -out->emax) - 1; /* below 1 */
  return (struct maker){
      .mantissa_bits = in->mantissa_bits,
      .exponent_max = (1u << in->exponent_bits) - 1,
      .tie_bits = out->mantissa_bits,
      .binades = (1u << out->exponent_bits) + out->mantissa_bits + 1,
      .max_mantissa = (uint32_t)ldexp(max_mantissa, (int)in->mantissa_bits),
  };
}

/* One row of a matrix, whose blocks are `block_k` long and share `row_hash`. */
static void fill_row(struct maker *maker, uint64_t row_hash, uint64_t block_k, uint64_t state,
                     uint64_t count, size_t size, unsigned char *row) {
  for (uint64_t k = 0; k < count; k++, row += size) {
    if (k % block_k == 0) begin_block(maker, mix(row_hash, k / block_k));
    const uint32_t bits = element(maker, (uint32_t)check_random(&state));
    memcpy(row, &bits, size); /* little-endian */
  }
}

static uint64_t stride_of(int64_t length, int64_t stride) {
  return length > 1 ? (uint64_t)stride : 0;
}

/* One of every kind; more of those that finite products come from. */
static uint32_t scale_bits(uint64_t random, unsigned bits) {
  static const uint32_t floats[] = {0,          0x80000000, 1,          0x00400000, 0x00800000,
                                    0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFF800001};
  static const uint32_t bytes[] = {0, 1, 2, 126, 128, 252, 253, 254, 255};
  const uint32_t value = (uint32_t)(random >> 32);
  if (bits == 8) {
    if (random % 8 == 0) return bytes[value % (sizeof bytes / sizeof bytes[0])];
    return random % 8 == 1 ? value & 255 : 112 + value % 32;
  }
  if (random % 8 == 0) return floats[value % (sizeof floats / sizeof floats[0])];
  return random % 8 == 1 ? value : (value & 0x8FFFFFFF) | 0x38000000;
}

uint64_t check_random(uint64_t *state) {
  /* Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014. */
  uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

void check_fill_values(const struct mxq_variant *variant, const struct mxq_shape *shape,
                       uint64_t seed, void *in) {
  const struct mxq_type_facts *type = mxq_type_facts(variant->in);
  const unsigned second = seed % 2 ? mxq_layout_part(variant->layout, 1) : MXQ_PART_NONE;
  const unsigned along = second ? second : mxq_layout_part(variant->layout, 0);
  const uint64_t block_n = along & MXQ_PART_ALONG_N ? variant->block : 1u;
  const uint64_t block_k = along & MXQ_PART_ALONG_K ? variant->block : 1u;
  const uint64_t size = type->bits / 8;
  const uint64_t stride_e = stride_of(shape->e, shape->stride_e);
  const uint64_t stride_n = stride_of(shape->n, shape->stride_n);
  struct maker maker = maker_of(type, mxq_type_facts(variant->out));
  for (uint64_t e = 0; e < (uint64_t)shape->e; e++)
    for (uint64_t n = 0; n < (uint64_t)shape->n; n++)
      fill_row(&maker, mix(mix(seed, e), n / block_n), block_k, mix(mix(~seed, e), n),
               (uint64_t)shape->k, size,
               (unsigned char *)in + (e * stride_e + n * stride_n) * size);
}

void check_fill_codes(const struct mxq_variant *variant, uint64_t code_bytes, uint64_t scale_bytes,
                      uint64_t seed, void *codes, void *scales) {
  const unsigned bits = mxq_mode_facts(variant->mode)->scale_bits;
  for (uint64_t i = 0; i < code_bytes; i++) {
    const uint64_t random = check_random(&seed);
    ((unsigned char *)codes)[i] = (unsigned char)(random >> 40);
  }
  for (uint64_t i = 0; i < scale_bytes; i += bits / 8) {
    const uint32_t scale = scale_bits(check_random(&seed), bits);
    memcpy((unsigned char *)scales + i, &scale, bits / 8); /* little-endian */
  }
}
