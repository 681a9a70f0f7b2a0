/* SPDX-License-Identifier: MIT */
#include "convert_samples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "primitives.h"

static float bits_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* The emulator's part of each primitive, on the words a and b. */
#define PAIR(name, function, exponent_bits)                           \
  static uint32_t name(uint32_t a, uint32_t b) {                      \
    return function(a & 0xFFFF, b & 0xFFFF, exponent_bits) |          \
           (uint32_t)function(a >> 16, b >> 16, exponent_bits) << 16; \
  }
PAIR(product_bf16, emu_multiply_half, 8)
PAIR(product_f16, emu_multiply_half, 5)
PAIR(smaller_bf16, emu_smaller_half, 8)
PAIR(smaller_f16, emu_smaller_half, 5)
PAIR(larger_bf16, emu_larger_half, 8)
PAIR(larger_f16, emu_larger_half, 5)

/* The third operand, as in convert_gpu.cu: near to the others' product as often as not. */
static uint32_t addend(uint32_t a, uint32_t b) { return a % 2 ? product_bf16(a, b) : a ^ b << 7; }
static uint32_t sum_bf16(uint32_t a, uint32_t b) {
  const uint32_t c = addend(a, b);
  return emu_multiply_add_half(a & 0xFFFF, b & 0xFFFF, c & 0xFFFF, 8) |
         (uint32_t)emu_multiply_add_half(a >> 16, b >> 16, c >> 16, 8) << 16;
}
static uint32_t sum_f16(uint32_t a, uint32_t b) {
  const uint32_t c = addend(a, b);
  return emu_multiply_add_half(a & 0xFFFF, b & 0xFFFF, c & 0xFFFF, 5) |
         (uint32_t)emu_multiply_add_half(a >> 16, b >> 16, c >> 16, 5) << 16;
}
static uint32_t sum(uint32_t a, uint32_t b) {
  return float_bits(emu_multiply_add(bits_float(a), bits_float(b), bits_float(addend(a, b))));
}
static uint32_t larger(uint32_t a, uint32_t b) {
  return float_bits(emu_larger_magnitude(bits_float(a), bits_float(b)));
}
static uint32_t product(uint32_t a, uint32_t b) {
  return float_bits(emu_multiply(bits_float(a), bits_float(b)));
}
static uint32_t smaller(uint32_t a, uint32_t b) {
  return float_bits(emu_min_number(bits_float(a), bits_float(b)));
}
static uint32_t widened(uint32_t a, uint32_t b) {
  (void)b;
  return float_bits(emu_widen_half(a & 0xFFFF, 5));
}

static uint32_t widened_e4m3(uint32_t a, uint32_t b) {
  (void)b;
  return emu_widen_code(a & 0xFF, 4, 3) | (uint32_t)emu_widen_code(a >> 8 & 0xFF, 4, 3) << 16;
}
static uint32_t widened_e5m2(uint32_t a, uint32_t b) {
  (void)b;
  return emu_widen_code(a & 0xFF, 5, 2) | (uint32_t)emu_widen_code(a >> 8 & 0xFF, 5, 2) << 16;
}
static uint32_t rounded_bf16(uint32_t a, uint32_t b) {
  return emu_round_half(bits_float(a), 8) | (uint32_t)emu_round_half(bits_float(b), 8) << 16;
}
static uint32_t rounded_f16(uint32_t a, uint32_t b) {
  return emu_round_half(bits_float(a), 5) | (uint32_t)emu_round_half(bits_float(b), 5) << 16;
}
static uint32_t permuted(uint32_t a, uint32_t b) { return emu_permute_bytes(a, ~a, b & 0x7777); }
static uint32_t smaller_u16(uint32_t a, uint32_t b) {
  const uint32_t low = (a & 0xFFFF) < (b & 0xFFFF) ? a & 0xFFFF : b & 0xFFFF;
  return low | ((a >> 16) < (b >> 16) ? a >> 16 : b >> 16) << 16;
}
static uint32_t larger_u16(uint32_t a, uint32_t b) {
  const uint32_t low = (a & 0xFFFF) > (b & 0xFFFF) ? a & 0xFFFF : b & 0xFFFF;
  return low | ((a >> 16) > (b >> 16) ? a >> 16 : b >> 16) << 16;
}
static uint32_t signs(uint32_t a, uint32_t b) { return emu_permute_bytes(a, ~a, b | 0x8888); }

/* In the order of convert_gpu.cu. Signs of maxima may be any; where any NaN will do, it says so. */
static const struct {
  const char *name;
  uint32_t (*expected)(uint32_t a, uint32_t b);
  uint32_t ignored;
  int any_nan;
} table[EMU_SAMPLES] = {
    {"product of bf16", product_bf16, 0, 0},
    {"product of f16", product_f16, 0, 0},
    {"sum of bf16", sum_bf16, 0, 0},
    {"sum of f16", sum_f16, 0, 0},
    {"smaller bf16", smaller_bf16, 0, 0},
    {"smaller f16", smaller_f16, 0, 0},
    {"sum", sum, 0, 0},
    {"larger bf16", larger_bf16, 0x80008000, 0},
    {"larger f16", larger_f16, 0x80008000, 0},
    {"larger float", larger, 0, 0},
    {"product", product, 0, 0},
    {"smaller float", smaller, 0, 0},
    {"f16 widened", widened, 0, 1},
    {"e4m3 widened", widened_e4m3, 0, 0},
    {"e5m2 widened", widened_e5m2, 0, 0},
    {"bf16 rounded", rounded_bf16, 0, 0},
    {"f16 rounded", rounded_f16, 0, 0},
    {"bytes permuted", permuted, 0, 0},
    {"signs permuted", signs, 0, 0},
    {"smaller halves", smaller_u16, 0, 0},
    {"larger halves", larger_u16, 0, 0},
};

int emu_sample_is_right(size_t result, uint32_t a, uint32_t b, uint32_t actual,
                        char text[EMU_TEXT]) {
  const uint32_t expected = table[result].expected(a, b);
  if (((expected ^ actual) & ~table[result].ignored) == 0) return 1;
  if (table[result].any_nan && isnan(bits_float(expected)) && isnan(bits_float(actual))) return 1;
  snprintf(text, EMU_TEXT, "%s: of 0x%08X and 0x%08X: 0x%08X, not 0x%08X", table[result].name, a, b,
           actual, expected);
  return 0;
}
