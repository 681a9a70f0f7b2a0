/* SPDX-License-Identifier: MIT */
#include "oracle.h"

#include <math.h>
#include <string.h>

#include "axes.h"

struct oracle_type {
  const char *token;
  int exponent_bits, mantissa_bits;
  double max;
  int emax;
  unsigned nan_code;
};

/* Contract, section 2, the table of types; written again on purpose. */
static const struct oracle_type types[] = {
    {"e4m3", 4, 3, 448, 8, 0x7F}, {"e5m2", 5, 2, 57344, 15, 0x7F}, {"e2m3", 2, 3, 7.5, 2, 0x1F},
    {"e3m2", 3, 2, 28, 4, 0x1F},  {"e2m1", 2, 1, 6, 2, 0x7},
};

struct oracle_mode {
  const char *token;
  uint32_t (*scale)(double a, const struct oracle_type *type);
  double (*multiplier)(uint32_t scale);
  uint32_t nan;
};

static double wide_f32(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double two_to(int exponent) { return ldexp(1.0, exponent); }

/* The smallest byte whose power of two is at least `value`. */
static uint32_t byte_at_least(double value) {
  uint32_t byte = 0;
  for (double power = 0x1p-127; byte < 254 && power < value; power *= 2) ++byte;
  return byte;
}

/* The largest byte whose power of two is at most `value`. */
static uint32_t byte_at_most(double value) {
  uint32_t byte = 0;
  for (double power = 0x1p-126; byte < 254 && power <= value; power *= 2) ++byte;
  return byte;
}

static uint32_t scale_floor(double a, const struct oracle_type *type) {
  return byte_at_most(a * two_to(-type->emax));
}

static uint32_t scale_ceil(double a, const struct oracle_type *type) {
  return byte_at_least(a * two_to(-type->emax));
}

/* The float32 nearest to 1 / value, a float32: of a candidate and its neighbours, whose products
 * with the value a double holds exactly. */
static float reciprocal(double value) {
  const float guess = (float)(1.0 / value);
  const float around[3] = {nextafterf(guess, 0.0f), guess, nextafterf(guess, INFINITY)};
  float best = guess;
  for (int i = 0; i < 3; ++i)
    if (fabs(around[i] * value - 1.0) < fabs(best * value - 1.0)) best = around[i];
  return best;
}

static uint32_t scale_rceil(double a, const struct oracle_type *type) {
  return byte_at_least((float)(a * reciprocal(type->max)));
}

/* Halves go up; a subnormal has the last places of the smallest normal. What rounds to 2^128 stays
 * in the binade below. */
static uint32_t scale_even(double a, const struct oracle_type *type) {
  const int exponent = a < 0x1p-126 ? -126 : ilogb(a);
  const double place = two_to(exponent - type->mantissa_bits);
  const double rounded = floor(a / place + 0.5) * place;
  return byte_at_most(fmin(rounded, 0x1p127) * two_to(-type->emax));
}

static double power_multiplier(uint32_t byte) { return two_to(127 - (int)byte); }

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Rounding the double again is harmless: the max of types with float scales is 7 times a power of
 * two, so a quotient is half way between two floats or a fourteenth of their distance from there.
 */
static float quotient(double a, const struct oracle_type *type) {
  return (float)(fmax(a, 0x1p-100) / type->max);
}

static uint32_t scale_amax(double a, const struct oracle_type *type) {
  return bits_of(quotient(a, type));
}

static uint32_t scale_pow2(double a, const struct oracle_type *type) {
  double power = 0x1p-126;
  while (power < quotient(a, type)) power *= 2;
  return bits_of((float)power);
}

static double float_multiplier(uint32_t scale) { return reciprocal(wide_f32(scale)); }

static const struct oracle_mode modes[] = {
    {"floor", scale_floor, power_multiplier, 255},
    {"ceil", scale_ceil, power_multiplier, 255},
    {"rceil", scale_rceil, power_multiplier, 255},
    {"even", scale_even, power_multiplier, 255},
    {"amax", scale_amax, float_multiplier, 0x7FC00000},
    {"pow2", scale_pow2, float_multiplier, 0x7FC00000},
};

/* Sign, exponent and mantissa of an IEEE type, by their meaning. */
static double ieee(uint32_t bits, int exponent_bits, int mantissa_bits) {
  const int all_ones = (1 << exponent_bits) - 1, bias = all_ones / 2;
  const int exponent = (int)(bits >> mantissa_bits) & all_ones;
  const int mantissa = (int)(bits & ((1u << mantissa_bits) - 1));
  const double sign = bits >> (exponent_bits + mantissa_bits) & 1 ? -1.0 : 1.0;
  if (exponent == all_ones) return sign * (mantissa ? NAN : INFINITY);
  if (exponent == 0) return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}
static double wide_bf16(uint32_t bits) { return ieee(bits, 8, 7); }
static double wide_f16(uint32_t bits) { return ieee(bits, 5, 10); }

static const struct {
  const char *token;
  double (*wide)(uint32_t bits);
} inputs[] = {{"f32", wide_f32}, {"bf16", wide_bf16}, {"f16", wide_f16}};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* The value of a magnitude code, as if every exponent were an ordinary one: codes that stand for
 * NaN or infinity come out above the type's maximum. */
static double magnitude_of(const struct oracle_type *type, unsigned code) {
  const int bias = (1 << (type->exponent_bits - 1)) - 1;
  const int exponent = (int)(code >> type->mantissa_bits);
  const int mantissa = (int)(code & ((1u << type->mantissa_bits) - 1));
  if (exponent == 0) return ldexp(mantissa, 1 - bias - type->mantissa_bits);
  return ldexp(mantissa + (1 << type->mantissa_bits), exponent - bias - type->mantissa_bits);
}

int oracle_make(const struct mxq_variant *variant, struct oracle *oracle) {
  const char *in = mxq_type_facts(variant->in)->token, *out = mxq_type_facts(variant->out)->token;
  const char *mode = mxq_mode_facts(variant->mode)->token;
  memset(oracle, 0, sizeof *oracle);
  for (size_t i = 0; i < COUNT(inputs); ++i)
    if (!strcmp(inputs[i].token, in)) oracle->wide = inputs[i].wide;
  for (size_t i = 0; i < COUNT(types); ++i)
    if (!strcmp(types[i].token, out)) oracle->type = &types[i];
  for (size_t i = 0; i < COUNT(modes); ++i)
    if (!strcmp(modes[i].token, mode)) oracle->mode = &modes[i];
  if (!oracle->wide || !oracle->type || !oracle->mode) return 0;
  while (magnitude_of(oracle->type, oracle->count) <= oracle->type->max) {
    oracle->magnitudes[oracle->count] = magnitude_of(oracle->type, oracle->count);
    ++oracle->count;
  }
  return 1;
}

double oracle_wide(const struct oracle *oracle, uint32_t bits) { return oracle->wide(bits); }

unsigned oracle_cast(const struct oracle *oracle, float product) {
  const struct oracle_type *type = oracle->type;
  const double magnitude = fmin(fabs((double)product), type->max);
  unsigned below = 0, above = oracle->count - 1; /* magnitudes stand in order */
  while (above - below > 1) {
    const unsigned middle = (below + above) / 2;
    *(oracle->magnitudes[middle] <= magnitude ? &below : &above) = middle;
  }
  const double down = magnitude - oracle->magnitudes[below];
  const double up = oracle->magnitudes[above] - magnitude;
  const unsigned nearest = down < up || (down == up && below % 2 == 0) ? below : above;
  return nearest | (unsigned)(signbit(product) != 0) << (type->exponent_bits + type->mantissa_bits);
}

void oracle_block(const struct oracle *oracle, const uint32_t *in, size_t count, uint32_t *scale,
                  unsigned *codes) {
  double a = 0;
  for (size_t i = 0; i < count && !isnan(a); ++i) {
    const double x = fabs(oracle->wide(in[i]));
    if (isnan(x) || x > a) a = x;
  }
  const int finite = isfinite(a);
  *scale = finite ? oracle->mode->scale(a, oracle->type) : oracle->mode->nan;
  const double multiplier = finite ? oracle->mode->multiplier(*scale) : 0;
  for (size_t i = 0; i < count; ++i)
    codes[i] = finite ? oracle_cast(oracle, (float)(oracle->wide(in[i]) * multiplier))
                      : oracle->type->nan_code;
}
