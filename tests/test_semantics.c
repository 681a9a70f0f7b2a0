/* SPDX-License-Identifier: MIT
 *
 * The tables of docs/semantics.md, computed by the CPU path. `test_semantics --print` writes them;
 * without it the test looks each of them up in the document.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "cpu.h"
#include "oracle.h"

enum { table_size = 8192 };

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
  const struct mxq_pointers pointers = {in, {out[0], out[1]}, {scales[0], scales[1]}};
  const unsigned bits = mxq_type_facts(variant->out)->bits;
  mxq_cpu_run(variant, &shape, &pointers);
  memcpy(scale, scales[0], mxq_mode_facts(variant->mode)->scale_bits / 8);
  *code = bits == 4 ? out[0][0] & 15u : out[0][0];
}

static void print_value(struct table *table, const struct oracle *oracle, unsigned code,
                        double scale) {
  const unsigned sign = code >> 7;
  const unsigned magnitude = code & 0x7F;
  if (magnitude >= oracle->count)
    print(table, " NaN |");
  else
    print(table, " %s%.6g |", sign ? "-" : "", oracle->magnitudes[magnitude] * scale);
}

static void print_maximum(struct table *table, unsigned mode, float a, const char *name) {
  struct mxq_variant variant;
  struct oracle oracle;
  uint32_t bits;
  memcpy(&bits, &a, sizeof bits);
  print(table, "| %s | `%08" PRIX32 "` |", name, bits);
  const struct mxq_axis_value *out;
  for (size_t i = 0; (out = mxq_axis_at(MXQ_AXIS_OUT, MXQ_OP_QUANTIZE, i)); ++i) {
    uint32_t scale = 0;
    unsigned code;
    if (!find_variant(mode, out->number, &variant) || !oracle_make(&variant, &oracle)) continue;
    quantize_pair(&variant, a, 0.0f, &scale, &code);
    print(table, " %" PRIu32 " | `%02X` |", scale, code);
    print_value(table, &oracle, code, ldexp(1.0, (int)scale - 127));
  }
  print(table, "\n");
}

static void print_mode(struct table *table, unsigned mode) {
  const struct {
    float a;
    const char *name;
  } rows[] = {
      {0.0f, "0"},
      {0x1p-149f, "2^-149, the smallest subnormal"},
      {0x1p-126f, "2^-126, the smallest normal"},
      {nextafterf(1.0f, 0.0f), "the value below 1"},
      {1.0f, "1"},
      {1.75f, "1.75, the mantissa of both maxima"},
      {nextafterf(1.75f, 2.0f), "the value above 1.75"},
      {nextafterf(2.0f, 0.0f), "the value below 2"},
      {448.0f, "448, the maximum of e4m3"},
      {57344.0f, "57344, the maximum of e5m2"},
      {FLT_MAX, "the largest float32"},
      {INFINITY, "infinity"},
      {NAN, "NaN"},
  };
  const struct mxq_axis_value *out;
  struct mxq_variant variant;
  print(table, "| maximum of the block | its bits |");
  for (size_t i = 0; (out = mxq_axis_at(MXQ_AXIS_OUT, MXQ_OP_QUANTIZE, i)); ++i)
    if (find_variant(mode, out->number, &variant))
      print(table, " %s: scale | its code | reads back |", out->token);
  print(table, "\n|---|---|");
  for (size_t i = 0; (out = mxq_axis_at(MXQ_AXIS_OUT, MXQ_OP_QUANTIZE, i)); ++i)
    if (find_variant(mode, out->number, &variant)) print(table, "--:|---|--:|");
  print(table, "\n");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
    print_maximum(table, mode, rows[i].a, rows[i].name);
}

/* Elements beside 2^emax: mode floor gives them the scale 1. */
static void print_elements(struct table *table, unsigned out) {
  struct mxq_variant variant;
  struct oracle oracle;
  if (!find_variant(MXQ_MODE_FLOOR, out, &variant) || !oracle_make(&variant, &oracle)) return;
  const float least = (float)oracle.magnitudes[1],
              most = (float)oracle.magnitudes[oracle.count - 1];
  const float before = (float)oracle.magnitudes[oracle.count - 2];
  const float anchor = ldexpf(1.0f, mxq_type_facts(out)->emax);
  const struct {
    float x;
    const char *name;
  } rows[] = {
      {-0.0f, "-0"},
      {least / 2, "half the smallest: a tie, to even"},
      {nextafterf(least / 2, 1.0f), "the value above it"},
      {-least / 2, "its negative"},
      {least, "the smallest subnormal"},
      {least * 1.5f, "one and a half: a tie, to even"},
      {(most + before) / 2, "half way to the maximum: a tie, to even"},
      {nextafterf((most + before) / 2, 0.0f), "the value below it"},
      {nextafterf((most + before) / 2, INFINITY), "the value above it"},
      {most, "the maximum"},
      {nextafterf(2 * anchor, 0.0f), "beyond: saturates"},
  };
  print(table, "| %s product | value | code | stands for |\n|---|--:|---|--:|\n",
        mxq_type_facts(out)->token);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    uint32_t scale = 0;
    unsigned code;
    quantize_pair(&variant, rows[i].x, anchor, &scale, &code);
    assert_int_equal(scale, 127);
    print(table, "| %s | %.9g | `%02X` |", rows[i].name, (double)rows[i].x, code);
    print_value(table, &oracle, code, 1.0);
    print(table, "\n");
  }
}

/* Calls `use` with each table of the document. */
static size_t for_each_table(void (*use)(const char *text)) {
  static struct table table;
  const struct mxq_axis_value *value;
  size_t count = 0;
  for (size_t i = 0; (value = mxq_axis_at(MXQ_AXIS_MODE, MXQ_OP_QUANTIZE, i)); ++i, ++count) {
    table.length = 0;
    print_mode(&table, value->number);
    use(table.text);
  }
  for (size_t i = 0; (value = mxq_axis_at(MXQ_AXIS_OUT, MXQ_OP_QUANTIZE, i)); ++i, ++count) {
    table.length = 0;
    print_elements(&table, value->number);
    use(table.text);
  }
  return count;
}

static char document[1 << 17];

static void look_up(const char *text) {
  if (!strstr(document, text))
    fail_msg("docs/semantics.md lacks this table (test_semantics --print writes all):\n%s", text);
}

static void test_document(void **state) {
  FILE *file = fopen(MXQ_TEST_DIR "/../docs/semantics.md", "r");
  (void)state;
  assert_non_null(file);
  const size_t length = fread(document, 1, sizeof document - 1, file);
  fclose(file);
  assert_true(length > 0 && length < sizeof document - 1);
  assert_int_not_equal(for_each_table(look_up), 0);
}

static void write_out(const char *text) { printf("%s\n", text); }

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_document)};
  if (argc == 2 && !strcmp(argv[1], "--print")) return for_each_table(write_out) == 0;
  return cmocka_run_group_tests_name("semantics", tests, NULL, NULL);
}
