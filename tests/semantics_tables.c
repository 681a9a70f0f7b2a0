/* SPDX-License-Identifier: MIT */
#include "semantics_tables.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "cpu.h"
#include "oracle.h"

enum { table_size = 16384 };

struct table {
  char text[table_size];
  size_t length;
};

static void __attribute__((format(printf, 2, 3)))
print(struct table *table, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length =
      vsnprintf(table->text + table->length, table_size - table->length, format, arguments);
  va_end(arguments);
  table->length += (size_t)length;
  if (table->length >= table_size) abort(); /* table_size is too small */
}

/* The first float32 variant of a mode and an output type; 0 if there is none. */
static int find_variant(unsigned mode, unsigned out, struct mxq_variant *variant) {
  memset(variant, 0, sizeof *variant);
  while (mxq_variant_next(variant))
    if (variant->op == MXQ_OP_QUANTIZE && variant->in == MXQ_TYPE_F32 && variant->mode == mode &&
        variant->out == out)
      return 1;
  return 0;
}

/* The scale and the code of `x` in a block that holds `other` besides. */
static void quantize_pair(const struct mxq_variant *variant, float x, float other, uint32_t *scale,
                          unsigned *code) {
  const int along_n = (mxq_layout_part(variant->layout, 0) & MXQ_PART_ALONG_N) != 0;
  const struct mxq_shape shape = mxq_shape_dense(1, along_n ? 2 : 1, along_n ? 1 : 2);
  const float in[2] = {x, other};
  unsigned char out[2][2], scales[2][4096] = {{0}};
  const struct mxq_pointers pointers = {in, NULL, {out[0], out[1]}, {scales[0], scales[1]}};
  const unsigned bits = mxq_type_facts(variant->out)->bits;
  mxq_cpu_run(variant, &shape, &pointers);
  memcpy(scale, scales[0], mxq_mode_facts(variant->mode)->scale_bits / 8);
  *code = bits == 4 ? out[0][0] & 15u : out[0][0];
}

/* The output types that a mode has, in order. NULL past the end. */
static const struct mxq_type_facts *out_at(unsigned mode, size_t index) {
  const struct mxq_axis_value *out;
  struct mxq_variant variant;
  for (size_t i = 0; (out = mxq_axis_at(MXQ_AXIS_OUT, MXQ_OP_QUANTIZE, i)); ++i)
    if (find_variant(mode, out->number, &variant) && index-- == 0)
      return mxq_type_facts(out->number);
  return NULL;
}

static void print_head(struct table *table, unsigned mode, const char *before) {
  const struct mxq_type_facts *type;
  print(table, "%s |", before);
  for (size_t i = 0; (type = out_at(mode, i)); ++i) print(table, " %s |", type->token);
  print(table, "\n");
  for (size_t columns = 0; *before; ++before)
    if (*before == '|' && columns++) print(table, "|---");
  print(table, "|---|");
  for (size_t i = 0; out_at(mode, i); ++i) print(table, "--:|");
  print(table, "\n");
}

/* A code and what it stands for under a scale. */
static void print_code(struct table *table, const struct mxq_type_facts *type,
                       const struct oracle *oracle, unsigned code, double scale) {
  const unsigned sign_shift = type->exponent_bits + type->mantissa_bits;
  const unsigned magnitude = code & ((1u << sign_shift) - 1);
  print(table, " `%0*X` ", (int)(sign_shift + 4) / 4, code);
  if (magnitude >= oracle->count || isnan(scale))
    print(table, "NaN |");
  else
    print(table, "%s%.6g |", code >> sign_shift ? "-" : "", oracle->magnitudes[magnitude] * scale);
}

static double print_scale(struct table *table, unsigned mode, uint32_t scale) {
  float value;
  memcpy(&value, &scale, sizeof value);
  if (mxq_mode_facts(mode)->scale_bits == 32) {
    if (isnan(value))
      print(table, " NaN");
    else
      print(table, " %.9g", (double)value);
    return (double)value;
  }
  print(table, " %" PRIu32, scale);
  return scale == 255 ? NAN : ldexp(1.0, (int)scale - 127);
}

static void print_maximum(struct table *table, unsigned mode, float a, const char *name) {
  const struct mxq_type_facts *type;
  struct mxq_variant variant;
  struct oracle oracle;
  uint32_t bits;
  memcpy(&bits, &a, sizeof bits);
  print(table, "| %s | `%08" PRIX32 "` |", name, bits);
  for (size_t i = 0; (type = out_at(mode, i)); ++i) {
    uint32_t scale = 0;
    unsigned code;
    if (!find_variant(mode, type->number, &variant) || !oracle_make(&variant, &oracle)) abort();
    quantize_pair(&variant, a, 0.0f, &scale, &code);
    print_code(table, type, &oracle, code, print_scale(table, mode, scale));
  }
  print(table, "\n");
}

#define FLOOR (1u << MXQ_MODE_FLOOR)
#define CEIL  (1u << MXQ_MODE_CEIL)
#define RCEIL (1u << MXQ_MODE_RCEIL)
#define EVEN  (1u << MXQ_MODE_EVEN)
#define AMAX  (1u << MXQ_MODE_AMAX)
#define POW2  (1u << MXQ_MODE_POW2)

/* Maxima, and the modes that find them tricky; 0: all of them do. */
static const struct {
  const char *name;
  float a;
  int steps; /* so many float32 values beyond `a` */
  unsigned modes;
} maxima[] = {
    {"0", 0.0f, 0, 0},
    {"2^-149, the smallest subnormal", 0x1p-149f, 0, FLOOR | CEIL | RCEIL | EVEN},
    {"2^-126, the smallest normal", 0x1p-126f, 0, FLOOR | CEIL | RCEIL | EVEN},
    {"the value below 2^-100", 0x1p-100f, -1, AMAX | POW2},
    {"the value above 2^-100", 0x1p-100f, 1, AMAX | POW2},
    {"2^-14, below 1e-4", 0x1p-14f, 0, AMAX | POW2},
    {"the value below 1", 1.0f, -1, FLOOR | CEIL | RCEIL},
    {"1", 1.0f, 0, 0},
    {"the value above 1", 1.0f, 1, CEIL},
    {"1.5, the mantissa of the maximum of e2m1", 1.5f, 0, RCEIL},
    {"the value above 1.5", 1.5f, 1, FLOOR | RCEIL},
    {"the value below 1.75", 1.75f, -1, EVEN},
    {"1.75, the mantissa of the maximum of e4m3, e5m2, e3m2", 1.75f, 0, RCEIL | POW2},
    {"1.75: one mantissa bit rounds up from here", 1.75f, 0, EVEN},
    {"the value above 1.75", 1.75f, 1, FLOOR | RCEIL | POW2},
    {"the value below 1.875", 1.875f, -1, EVEN},
    {"1.875, the mantissa of the maximum of e2m3", 1.875f, 0, RCEIL},
    {"1.875: two bits do", 1.875f, 0, EVEN},
    {"the value above 1.875", 1.875f, 1, FLOOR | RCEIL},
    {"the value below 1.9375", 1.9375f, -1, EVEN},
    {"1.9375: three bits do", 1.9375f, 0, EVEN},
    {"the value below 2", 2.0f, -1, FLOOR | CEIL},
    {"3", 3.0f, 0, AMAX | POW2},
    {"448, the maximum of e4m3", 448.0f, 0, AMAX | POW2},
    {"57344, the maximum of e5m2", 57344.0f, 0, AMAX | POW2},
    {"the largest float32", FLT_MAX, 0, 0},
    {"infinity", INFINITY, 0, 0},
    {"NaN", NAN, 0, 0},
};

static void print_mode(struct table *table, unsigned mode) {
  print_head(table, mode, "| maximum of the block | its bits");
  for (size_t i = 0; i < sizeof maxima / sizeof maxima[0]; ++i) {
    float a = maxima[i].a;
    if (maxima[i].modes && !(maxima[i].modes >> mode & 1)) continue;
    if (maxima[i].steps) a = nextafterf(a, maxima[i].steps < 0 ? 0.0f : INFINITY);
    print_maximum(table, mode, a, maxima[i].name);
  }
}

/* Products that are hard to round into a type, and what they are. */
static const char *const product_names[] = {
    "-0",
    "half the smallest: a tie, to even",
    "the value above it",
    "its negative",
    "the smallest subnormal",
    "one and a half: a tie, to even",
    "half way to the maximum: a tie, to even",
    "the value below it",
    "the value above it",
    "the maximum",
    "beyond: saturates",
};
enum { product_count = sizeof product_names / sizeof product_names[0] };

static void products_of(const struct oracle *oracle, float anchor, float products[product_count]) {
  const float least = (float)oracle->magnitudes[1],
              most = (float)oracle->magnitudes[oracle->count - 1],
              before = (float)oracle->magnitudes[oracle->count - 2];
  const float tie = (most + before) / 2;
  const float values[product_count] = {-0.0f,
                                       least / 2,
                                       nextafterf(least / 2, 1.0f),
                                       -least / 2,
                                       least,
                                       least * 1.5f,
                                       tie,
                                       nextafterf(tie, 0.0f),
                                       nextafterf(tie, INFINITY),
                                       most,
                                       nextafterf(2 * anchor, 0.0f)};
  memcpy(products, values, sizeof values);
}

/* Elements beside 2^emax: mode floor gives them the scale 1. */
static void print_elements(struct table *table) {
  const struct mxq_type_facts *type;
  print_head(table, MXQ_MODE_FLOOR, "| product");
  for (size_t row = 0; row < product_count; ++row) {
    print(table, "| %s |", product_names[row]);
    for (size_t i = 0; (type = out_at(MXQ_MODE_FLOOR, i)); ++i) {
      const float anchor = ldexpf(1.0f, type->emax);
      float products[product_count];
      struct mxq_variant variant;
      struct oracle oracle;
      uint32_t scale = 0;
      unsigned code;
      if (!find_variant(MXQ_MODE_FLOOR, type->number, &variant) || !oracle_make(&variant, &oracle))
        abort();
      products_of(&oracle, anchor, products);
      quantize_pair(&variant, products[row], anchor, &scale, &code);
      if (scale != 127) abort();
      print(table, " %.9g", (double)products[row]);
      print_code(table, type, &oracle, code, 1.0);
    }
    print(table, "\n");
  }
}

size_t semantics_tables(void (*use)(const char *text)) {
  static struct table table;
  const struct mxq_axis_value *value;
  size_t count = 0;
  for (size_t i = 0; (value = mxq_axis_at(MXQ_AXIS_MODE, MXQ_OP_QUANTIZE, i)); ++i, ++count) {
    table.length = 0;
    print_mode(&table, value->number);
    use(table.text);
  }
  table.length = 0;
  print_elements(&table);
  use(table.text);
  semantics_decode_table(use);
  return count + 2;
}
