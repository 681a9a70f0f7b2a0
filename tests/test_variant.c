/* SPDX-License-Identifier: MIT
 *
 * Names, numbers and rules of variants: contract, section 1.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <mxq/variant.h>

#include "axes.h"
#include "rules.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* The tokens of quantize in the order of the contract, and the number of each forever: they stand
 * in caches and registered sets. Written by hand; axes.def must agree. */
static const struct {
  enum mxq_axis axis;
  const char *token;
  unsigned number;
} fixed[] = {
    {MXQ_AXIS_OP, "quantize", 1},  {MXQ_AXIS_IN, "f32", 1},     {MXQ_AXIS_IN, "bf16", 2},
    {MXQ_AXIS_IN, "f16", 3},       {MXQ_AXIS_OUT, "e4m3", 4},   {MXQ_AXIS_OUT, "e5m2", 5},
    {MXQ_AXIS_OUT, "e2m3", 6},     {MXQ_AXIS_OUT, "e3m2", 7},   {MXQ_AXIS_OUT, "e2m1", 8},
    {MXQ_AXIS_BLOCK, "b16", 16},   {MXQ_AXIS_BLOCK, "b32", 32}, {MXQ_AXIS_BLOCK, "b64", 64},
    {MXQ_AXIS_BLOCK, "b128", 128}, {MXQ_AXIS_MODE, "floor", 1}, {MXQ_AXIS_MODE, "ceil", 2},
    {MXQ_AXIS_MODE, "rceil", 3},   {MXQ_AXIS_MODE, "even", 4},  {MXQ_AXIS_MODE, "amax", 5},
    {MXQ_AXIS_MODE, "pow2", 6},    {MXQ_AXIS_LAYOUT, "row", 1}, {MXQ_AXIS_LAYOUT, "col", 2},
    {MXQ_AXIS_LAYOUT, "colt", 3},  {MXQ_AXIS_LAYOUT, "sq", 4},  {MXQ_AXIS_LAYOUT, "sqt", 5},
    {MXQ_AXIS_SCALES, "lin", 1},
};

/* Whether the contract has the name, and the name, made by no code of the product. */
static int expected_name(size_t index, char *name) {
  static const char *const inputs[] = {"f32", "bf16", "f16"};
  static const char *const outputs[] = {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"};
  static const int blocks[] = {16, 32, 64, 128};
  static const char *const modes[] = {"floor", "ceil", "rceil", "even", "amax", "pow2"};
  static const char *const layouts[] = {"row", "col", "colt", "sq", "sqt"};
  const size_t layout = index % COUNT(layouts), mode = index / COUNT(layouts) % COUNT(modes);
  const size_t rest = index / COUNT(layouts) / COUNT(modes);
  const size_t block = rest % COUNT(blocks), out = rest / COUNT(blocks) % COUNT(outputs);
  const size_t in = rest / COUNT(blocks) / COUNT(outputs);
  assert_true(in < COUNT(inputs));
  snprintf(name, MXQ_VARIANT_NAME_SIZE, "quantize_%s_%s_b%d_%s_%s_lin", inputs[in], outputs[out],
           blocks[block], modes[mode], layouts[layout]);
  return mode < 4 || out < 2; /* float32 scales: only with e4m3 and e5m2 */
}

/* A block size more is one line of axes.def and none here: its number is its length. */
static int is_later_block(unsigned block) {
  return block != 16 && block != 32 && block != 64 && block != 128;
}

static void lists_the_names_of_the_contract(void **state) {
  (void)state;
  char expected[MXQ_VARIANT_NAME_SIZE], name[MXQ_VARIANT_NAME_SIZE];
  struct mxq_variant variant = {0};
  size_t listed = 0, index = 0;
  while (mxq_variant_next(&variant)) {
    if (is_later_block(variant.block)) continue;
    while (!expected_name(index++, expected)) {
      struct mxq_variant refused;
      assert_int_equal(mxq_variant_parse(expected, &refused), MXQ_REFUSED);
      assert_non_null(strstr(mxq_last_error(), "float32 scales exist only for e4m3 and e5m2"));
    }
    assert_int_equal(mxq_variant_name(&variant, name, sizeof name), MXQ_OK);
    assert_string_equal(name, expected);
    ++listed;
  }
  assert_int_equal(listed, 3 * (2 * 6 + 3 * 4) * 4 * 5);
}

static void reads_back_what_it_writes(void **state) {
  (void)state;
  char name[MXQ_VARIANT_NAME_SIZE];
  struct mxq_variant variant = {0}, parsed;
  while (mxq_variant_next(&variant)) {
    memset(&parsed, 0xFF, sizeof parsed);
    assert_int_equal(mxq_variant_name(&variant, name, sizeof name), MXQ_OK);
    assert_int_equal(mxq_variant_parse(name, &parsed), MXQ_OK);
    assert_memory_equal(&parsed, &variant, sizeof variant);
    assert_int_equal(mxq_variant_check(&parsed), MXQ_OK);
  }
}

/* The number that a token stands for; 0 if the axis lacks it. */
static unsigned number_of(enum mxq_axis axis, const char *token) {
  const struct mxq_axis_value *value;
  for (size_t i = 0; (value = mxq_axis_at(axis, MXQ_OP_QUANTIZE, i)); ++i)
    if (strcmp(value->token, token) == 0) return value->number;
  return 0;
}

static void stores_numbers_that_never_change(void **state) {
  (void)state;
  const struct mxq_axis_value *value;
  size_t total = 0, later = 0;
  assert_int_equal(sizeof(struct mxq_variant), 32);
  for (size_t i = 0; i < COUNT(fixed); ++i)
    assert_int_equal(number_of(fixed[i].axis, fixed[i].token), fixed[i].number);
  for (int axis = 0; axis < MXQ_AXIS_COUNT; ++axis)
    for (size_t i = 0; mxq_axis_at((enum mxq_axis)axis, MXQ_OP_QUANTIZE, i); ++i) ++total;
  for (size_t i = 0; (value = mxq_axis_at(MXQ_AXIS_BLOCK, MXQ_OP_QUANTIZE, i)); ++i) {
    char token[16];
    snprintf(token, sizeof token, "b%u", value->number);
    assert_string_equal(value->token, token);
    later += is_later_block(value->number) != 0;
  }
  assert_int_equal(total, COUNT(fixed) + later); /* any other new row needs its line above */
}

static void has_the_facts_of_the_formats(void **state) {
  (void)state;
  static const struct {
    enum mxq_type type;
    unsigned bits, exponent_bits, mantissa_bits, nan_code;
    int emax;
    double max;
  } facts[] = {
      {MXQ_TYPE_F32, 32, 8, 23, 0, 127, 0},      {MXQ_TYPE_BF16, 16, 8, 7, 0, 127, 0},
      {MXQ_TYPE_F16, 16, 5, 10, 0, 15, 0},       {MXQ_TYPE_E4M3, 8, 4, 3, 0x7F, 8, 448},
      {MXQ_TYPE_E5M2, 8, 5, 2, 0x7F, 15, 57344}, {MXQ_TYPE_E2M3, 8, 2, 3, 0x1F, 2, 7.5},
      {MXQ_TYPE_E3M2, 8, 3, 2, 0x1F, 4, 28},     {MXQ_TYPE_E2M1, 4, 2, 1, 0x7, 2, 6},
  };
  for (size_t i = 0; i < COUNT(facts); ++i) {
    const struct mxq_type_facts *type = mxq_type_facts(facts[i].type);
    assert_non_null(type);
    assert_int_equal(type->bits, facts[i].bits);
    assert_int_equal(type->exponent_bits, facts[i].exponent_bits);
    assert_int_equal(type->mantissa_bits, facts[i].mantissa_bits);
    assert_int_equal(type->nan_code, facts[i].nan_code);
    assert_int_equal(type->emax, facts[i].emax);
    assert_true(type->max >= facts[i].max && type->max <= facts[i].max);
  }
  assert_null(mxq_type_facts(0));
  assert_null(mxq_mode_facts(0));
}

/* Rules look at facts, so those that no present variant breaks are tried on facts to come. */
static void rules_refuse_what_has_no_meaning(void **state) {
  (void)state;
  const struct mxq_type_facts four_bits = {.token = "x", .number = 200, .bits = 4};
  const struct mxq_mode_facts float_scales = {.token = "x", .number = 200, .scale_bits = 32};
  const struct mxq_rule_subject legal = {.op = MXQ_OP_QUANTIZE,
                                         .scales = MXQ_SCALES_LIN,
                                         .code = mxq_type_facts(MXQ_TYPE_E4M3),
                                         .mode = mxq_mode_facts(MXQ_MODE_RCEIL),
                                         .parts = {MXQ_PART_ALONG_K, MXQ_PART_ALONG_N}};
  struct mxq_rule_subject subject = legal;
  assert_null(mxq_rule_refusing(&subject));

  subject.mode = &float_scales;
  assert_null(mxq_rule_refusing(&subject));
  subject.code = mxq_type_facts(MXQ_TYPE_E5M2);
  assert_null(mxq_rule_refusing(&subject));
  subject.code = &four_bits;
  assert_ptr_equal(mxq_rule_refusing(&subject), mxq_rule_at(0));
  assert_string_equal(mxq_rule_at(0)->name, "float-scales");
  subject.mode = legal.mode;
  assert_null(mxq_rule_refusing(&subject));

  subject = legal;
  subject.op = 2;
  assert_ptr_equal(mxq_rule_refusing(&subject), mxq_rule_at(1));
  assert_string_equal(mxq_rule_at(1)->name, "two-parts");
  subject.parts[1] = MXQ_PART_NONE;
  assert_null(mxq_rule_refusing(&subject));
  assert_null(mxq_rule_at(2)); /* a new rule needs its lines here */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_the_names_of_the_contract),
      cmocka_unit_test(reads_back_what_it_writes),
      cmocka_unit_test(stores_numbers_that_never_change),
      cmocka_unit_test(has_the_facts_of_the_formats),
      cmocka_unit_test(rules_refuse_what_has_no_meaning),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
