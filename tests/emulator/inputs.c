/* SPDX-License-Identifier: MIT */
#include "inputs.h"

#include <string.h>

#include "axes.h"

struct fill {
  const struct mxq_variant *variant;
  const struct mxq_shape *shape;
  unsigned char *in;
  uint64_t bytes; /* of an element */
  unsigned mantissa_bits;
  uint32_t sign_bit, exponent_end;
  uint64_t block_n, block_k;
};

static unsigned char *at(const struct fill *fill, uint64_t e, uint64_t n, uint64_t k) {
  const struct mxq_shape *shape = fill->shape;
  const uint64_t stride_e = shape->e > 1 ? (uint64_t)shape->stride_e : 0;
  const uint64_t stride_n = shape->n > 1 ? (uint64_t)shape->stride_n : 0;
  return fill->in + (e * stride_e + n * stride_n + k) * fill->bytes;
}

/* Fractions of 23 bits after the leading one. */
static uint32_t fraction(const struct mxq_type_facts *out, unsigned which) {
  const double leading = out->max / (double)(UINT64_C(1) << out->emax);
  const uint32_t largest = (uint32_t)((leading - 1.0) * 8388608.0);
  const uint32_t tie = 0x800000 - (1u << (22 - out->mantissa_bits));
  const uint32_t table[] = {0, largest, tie, 0x7FFFFF, 0x400000};
  return table[which % (sizeof table / sizeof table[0])];
}

/* The magnitude that block number `block` gets, in the input type. Every eighth one lies beside the
 * largest that the scale 2^-127 is enough for: shares of it are subnormal. */
static uint32_t edge(const struct fill *fill, uint64_t block) {
  const struct mxq_type_facts *out = mxq_type_facts(fill->variant->out);
  const uint32_t all = (1u << fill->mantissa_bits) - 1;
  const int smallest = block % 8 == 5;
  const uint64_t rest = smallest ? block / 8 : block / fill->exponent_end;
  const uint32_t exponent = smallest ? (uint32_t)out->emax : (uint32_t)(block % fill->exponent_end);
  const uint32_t fraction_bits = fraction(out, smallest ? 1 : (unsigned)(rest / 3));
  const uint32_t mantissa = fraction_bits >> (23 - fill->mantissa_bits);
  const uint32_t bits = exponent << fill->mantissa_bits | (mantissa & all);
  const uint32_t moved = bits + (uint32_t)(rest % 3) - 1; /* one below, it, or one above */
  const uint32_t end = fill->exponent_end << fill->mantissa_bits;
  return moved < end ? moved : bits;
}

/* Next to a tie between two codes: on it, or one place beside it, at most `magnitude`. */
static uint32_t near_tie(const struct fill *fill, uint32_t own, uint32_t magnitude,
                         uint64_t index) {
  const unsigned bits = mxq_type_facts(fill->variant->out)->mantissa_bits;
  const uint32_t below = (uint32_t)(index / 3 % 5) << fill->mantissa_bits;
  const uint32_t near = magnitude > below ? magnitude - below : magnitude;
  const uint32_t fraction = own & ((1u << fill->mantissa_bits) - 1);
  const uint32_t value = (near >> fill->mantissa_bits << fill->mantissa_bits) | fraction;
  /* Codes that are subnormal lie farther apart. */
  const unsigned place = fill->mantissa_bits - bits - 1 + (unsigned)(index / 15 % (bits + 2));
  const uint32_t tie = (value >> place | 1) << place, moved = tie + (uint32_t)(index % 3) - 1;
  return moved <= magnitude ? moved : magnitude;
}

/* Nothing in the block stays larger than `magnitude`, and one element has it. In half of the blocks
 * many of the others lie next to ties; in the other half that one alone tells the scale. */
static void fill_block(const struct fill *fill, uint64_t e, uint64_t n, uint64_t k,
                       uint32_t magnitude, uint64_t block) {
  const uint64_t rows = (uint64_t)fill->shape->n, columns = (uint64_t)fill->shape->k;
  const uint64_t end_n = n + fill->block_n < rows ? n + fill->block_n : rows;
  const uint64_t end_k = k + fill->block_k < columns ? k + fill->block_k : columns;
  const uint64_t chosen = block * 31 % ((end_n - n) * (end_k - k));
  uint64_t index = 0;
  for (uint64_t y = n; y < end_n; y++)
    for (uint64_t x = k; x < end_k; x++, index++) {
      uint32_t bits = 0;
      memcpy(&bits, at(fill, e, y, x), fill->bytes);
      const uint32_t sign = bits & fill->sign_bit, own = bits & (fill->sign_bit - 1);
      const int tie = block % 16 < 8 && index % 4 == 1 && index != chosen;
      if (own <= magnitude && index != chosen && !tie) continue;
      bits = sign | (tie                                 ? near_tie(fill, own, magnitude, index / 4)
                     : index == chosen || magnitude == 0 ? magnitude
                                                         : own % magnitude);
      memcpy(at(fill, e, y, x), &bits, fill->bytes);
    }
}

void emu_inputs_mark_edges(const struct mxq_variant *variant, const struct mxq_shape *shape,
                           uint64_t seed, void *in) {
  const struct mxq_type_facts *type = mxq_type_facts(variant->in);
  const unsigned along = mxq_layout_part(variant->layout, 0);
  const struct fill fill = {
      .variant = variant,
      .shape = shape,
      .in = in,
      .bytes = type->bits / 8,
      .mantissa_bits = type->mantissa_bits,
      .sign_bit = 1u << (type->bits - 1),
      .exponent_end = (1u << type->exponent_bits) - 1,
      .block_n = along & MXQ_PART_ALONG_N ? variant->block : 1u,
      .block_k = along & MXQ_PART_ALONG_K ? variant->block : 1u,
  };
  uint64_t block = seed * 7919;
  for (uint64_t e = 0; e < (uint64_t)shape->e; e++)
    for (uint64_t n = 0; n < (uint64_t)shape->n; n += fill.block_n)
      for (uint64_t k = 0; k < (uint64_t)shape->k; k += fill.block_k, block++)
        if (block % 2) fill_block(&fill, e, n, k, edge(&fill, block / 2), block);
}
