/* SPDX-License-Identifier: MIT
 *
 * The table of what dequantize makes of codes and scales that are special.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "semantics_tables.h"

static const struct row {
  const char *what, *type;
  unsigned char code;
  unsigned scale_bits;
  uint32_t scale;
} rows[] = {
    {"1 under the byte of 1", "e4m3", 0x38, 8, 127},
    {"byte 0 is 2^-127", "e4m3", 0x38, 8, 0},
    {"the smallest product", "e5m2", 0x01, 8, 0},
    {"a tie of f16, to even", "e4m3", 0x39, 8, 105},
    {"-0 stays -0", "e2m1", 0x08, 8, 127},
    {"the maximum under the largest byte", "e4m3", 0x7E, 8, 254},
    {"beyond f16 alone", "e5m2", 0x7B, 8, 128},
    {"an infinity", "e5m2", 0xFC, 8, 0},
    {"a NaN code, either sign", "e4m3", 0xFF, 8, 127},
    {"a NaN code", "e5m2", 0x7D, 8, 127},
    {"the byte 255", "e2m1", 0x02, 8, 255},
    {"an infinity under the byte 255", "e5m2", 0x7C, 8, 255},
    {"bits above the six", "e2m3", 0xC8, 8, 127},
    {"bits above the six", "e3m2", 0x8C, 8, 127},
    {"a float scale", "e4m3", 0x39, 32, 0x3DCCCCCD},
    {"a subnormal float scale", "e4m3", 0x38, 32, 0x00000001},
    {"a negative float scale", "e4m3", 0x38, 32, 0xC0000000},
    {"the float scale infinity", "e4m3", 0x38, 32, 0x7F800000},
    {"0 under it", "e4m3", 0x00, 32, 0x7F800000},
    {"the float scale of a NaN block", "e4m3", 0x7F, 32, 0x7FC00000},
};

static uint32_t dequantize(const struct row *row, const char *out) {
  char name[MXQ_VARIANT_NAME_SIZE];
  struct mxq_variant variant;
  const struct mxq_shape shape = mxq_shape_dense(1, 1, 2);
  const unsigned char codes[2] = {row->code, 0};
  uint32_t got[2] = {0, 0};
  const struct mxq_pointers pointers = {codes, &row->scale, {got, NULL}, {NULL, NULL}};
  snprintf(name, sizeof name, "dequantize_%s_%s_b32_%s_row_lin", row->type, out,
           row->scale_bits == 8 ? "e8m0" : "f32");
  if (mxq_variant_parse(name, &variant) != MXQ_OK) abort();
  mxq_cpu_run(&variant, &shape, &pointers);
  return strcmp(out, "f32") ? got[0] & 0xFFFF : got[0];
}

static double value_of(uint32_t bits, const char *type) {
  float value;
  if (!strcmp(type, "f16")) {
    const int exponent = (int)(bits >> 10 & 31), mantissa = (int)(bits & 1023);
    const double size = exponent == 31 ? (mantissa ? NAN : INFINITY)
                        : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                                       : ldexp(mantissa, -24);
    return bits >> 15 ? -size : size;
  }
  if (!strcmp(type, "bf16")) bits <<= 16;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

void semantics_decode_table(void (*use)(const char *text)) {
  static char text[16384];
  size_t used = (size_t)snprintf(text, sizeof text,
                                 "| what | type | code | scale | f32 | bf16 | f16 |\n"
                                 "|---|---|---|---|--:|--:|--:|\n");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    static const char *const types[] = {"f32", "bf16", "f16"};
    used += (size_t)snprintf(
        text + used, sizeof text - used,
        rows[i].scale_bits == 8 ? "| %s | %s | `%02X` | %u |" : "| %s | %s | `%02X` | `%08X` |",
        rows[i].what, rows[i].type, rows[i].code, (unsigned)rows[i].scale);
    for (size_t t = 0; t < 3; ++t) {
      const uint32_t bits = dequantize(&rows[i], types[t]);
      const double value = value_of(bits, types[t]);
      char shown[32];
      snprintf(shown, sizeof shown, "%.6g", value);
      if (isnan(value)) snprintf(shown, sizeof shown, "NaN");
      used += (size_t)snprintf(text + used, sizeof text - used, " %s `%0*X` |", shown, t ? 4 : 8,
                               (unsigned)bits);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "\n");
  }
  if (used >= sizeof text) abort();
  use(text);
}
