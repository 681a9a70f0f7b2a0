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

/* The tokens in the order of the contract, and the number of each forever: they stand in caches and
 * registered sets. Written by hand; axes.def must agree. */
static const struct fixed {
  enum mxq_axis axis;
  const char *token;
  unsigned number;
} quantize_fixed[] =
    {
        {MXQ_AXIS_OP, "quantize", 1},    {MXQ_AXIS_OP, "dequantize", 2},
        {MXQ_AXIS_IN, "f32", 1},         {MXQ_AXIS_IN, "bf16", 2},
        {MXQ_AXIS_IN, "f16", 3},         {MXQ_AXIS_OUT, "e4m3", 4},
        {MXQ_AXIS_OUT, "e5m2", 5},       {MXQ_AXIS_OUT, "e2m3", 6},
        {MXQ_AXIS_OUT, "e3m2", 7},       {MXQ_AXIS_OUT, "e2m1", 8},
        {MXQ_AXIS_BLOCK, "b16", 16},     {MXQ_AXIS_BLOCK, "b32", 32},
        {MXQ_AXIS_BLOCK, "b64", 64},     {MXQ_AXIS_BLOCK, "b128", 128},
        {MXQ_AXIS_MODE, "floor", 1},     {MXQ_AXIS_MODE, "ceil", 2},
        {MXQ_AXIS_MODE, "rceil", 3},     {MXQ_AXIS_MODE, "even", 4},
        {MXQ_AXIS_MODE, "amax", 5},      {MXQ_AXIS_MODE, "pow2", 6},
        {MXQ_AXIS_LAYOUT, "row", 1},     {MXQ_AXIS_LAYOUT, "col", 2},
        {MXQ_AXIS_LAYOUT, "colt", 3},    {MXQ_AXIS_LAYOUT, "sq", 4},
        {MXQ_AXIS_LAYOUT, "sqt", 5},     {MXQ_AXIS_LAYOUT, "rowcol", 6},
        {MXQ_AXIS_LAYOUT, "rowcolt", 7}, {MXQ_AXIS_LAYOUT, "sqsqt", 8},
        {MXQ_AXIS_SCALES, "lin", 1},     {MXQ_AXIS_SCALES, "blk", 2},
        {MXQ_AXIS_SCALES, "mn", 3},
},
  dequantize_fixed[] = {
      {MXQ_AXIS_OP, "quantize", 1},    {MXQ_AXIS_OP, "dequantize", 2},
      {MXQ_AXIS_IN, "e4m3", 4},        {MXQ_AXIS_IN, "e5m2", 5},
      {MXQ_AXIS_IN, "e2m3", 6},        {MXQ_AXIS_IN, "e3m2", 7},
      {MXQ_AXIS_IN, "e2m1", 8},        {MXQ_AXIS_OUT, "f32", 1},
      {MXQ_AXIS_OUT, "bf16", 2},       {MXQ_AXIS_OUT, "f16", 3},
      {MXQ_AXIS_BLOCK, "b16", 16},     {MXQ_AXIS_BLOCK, "b32", 32},
      {MXQ_AXIS_BLOCK, "b64", 64},     {MXQ_AXIS_BLOCK, "b128", 128},
      {MXQ_AXIS_MODE, "e8m0", 7},      {MXQ_AXIS_MODE, "f32", 8},
      {MXQ_AXIS_LAYOUT, "row", 1},     {MXQ_AXIS_LAYOUT, "col", 2},
      {MXQ_AXIS_LAYOUT, "colt", 3},    {MXQ_AXIS_LAYOUT, "sq", 4},
      {MXQ_AXIS_LAYOUT, "sqt", 5},     {MXQ_AXIS_LAYOUT, "rowcol", 6},
      {MXQ_AXIS_LAYOUT, "rowcolt", 7}, {MXQ_AXIS_LAYOUT, "sqsqt", 8},
      {MXQ_AXIS_SCALES, "lin", 1},     {MXQ_AXIS_SCALES, "blk", 2},
      {MXQ_AXIS_SCALES, "mn", 3},
};

/* The words of every place of a name, and the name that a number spells: the last place moves
 * fastest. Made by no code of the product. */
static const char *const words[2][MXQ_AXIS_COUNT][9] = {
    {{"quantize"},
     {"f32", "bf16", "f16"},
     {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"},
     {"b16", "b32", "b64", "b128"},
     {"floor", "ceil", "rceil", "even", "amax", "pow2"},
     {"row", "col", "colt", "sq", "sqt", "rowcol", "rowcolt", "sqsqt"},
     {"lin", "blk", "mn"}},
    {{"dequantize"},
     {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"},
     {"f32", "bf16", "f16"},
     {"b16", "b32", "b64", "b128"},
     {"e8m0", "f32"},
     {"row", "col", "colt", "sq", "sqt", "rowcol", "rowcolt", "sqsqt"},
     {"lin", "blk", "mn"}},
};

static size_t word_count(int op, int place) {
  size_t count = 0;
  while (count < 9 && words[op][place][count]) ++count;
  return count;
}

/* Spells name `index`; 0 past the last. */
static int spell(int op, size_t index, char *name) {
  size_t at[MXQ_AXIS_COUNT], used = 0;
  for (int place = MXQ_AXIS_COUNT; place-- > 0; index /= word_count(op, place))
    at[place] = index % word_count(op, place);
  for (int place = 0; place < MXQ_AXIS_COUNT; ++place)
    used += (size_t)snprintf(name + used, MXQ_VARIANT_NAME_SIZE - used, "%s%s", place ? "_" : "",
                             words[op][place][at[place]]);
  return index == 0;
}

/* Contract, section 1: why a name is refused, by the first rule; NULL if it is not. */
static const char *refusal_of(const char *name) {
  const int floats = strstr(name, "_amax_") || strstr(name, "_pow2_") || strstr(name, "_f32_row") ||
                     strstr(name, "_f32_col") || strstr(name, "_f32_sq");
  const int eight_bits = strstr(name, "_e4m3_") || strstr(name, "_e5m2_");
  if (floats && !eight_bits) return "float32 scales exist only for e4m3 and e5m2";
  if (floats && strstr(name, "_blk")) return "exists only for e8m0";
  if (name[0] == 'd' && (strstr(name, "_rowcol") || strstr(name, "_sqsqt")))
    return "dequantize reads one output";
  return NULL;
}

/* A block size more is one line of axes.def and none here: its number is its length. */
static int is_later_block(unsigned block) {
  return block != 16 && block != 32 && block != 64 && block != 128;
}

/* mxq_variant_next without those. */
static int next_of_contract(struct mxq_variant *variant) {
  int more;
  do more = mxq_variant_next(variant);
  while (more && is_later_block(variant->block));
  return more;
}

static void lists_the_names_of_the_contract(void **state) {
  (void)state;
  char expected[MXQ_VARIANT_NAME_SIZE], name[MXQ_VARIANT_NAME_SIZE];
  struct mxq_variant variant = {0}, refused;
  size_t listed[2] = {0, 0};
  for (int op = 0; op < 2; ++op)
    for (size_t index = 0; spell(op, index, expected); ++index) {
      const char *refusal = refusal_of(expected);
      if (refusal) {
        assert_int_equal(mxq_variant_parse(expected, &refused), MXQ_REFUSED);
        if (!strstr(mxq_last_error(), refusal))
          fail_msg("%s\nlacks: %s", mxq_last_error(), refusal);
        continue;
      }
      ++listed[op];
      assert_int_equal(next_of_contract(&variant), 1);
      assert_int_equal(mxq_variant_name(&variant, name, sizeof name), MXQ_OK);
      assert_string_equal(name, expected);
    }
  assert_int_equal(next_of_contract(&variant), 0);
  assert_int_equal(listed[0], 6528);
  assert_int_equal(listed[1], 1140);
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
static unsigned number_of(enum mxq_axis axis, unsigned op, const char *token) {
  const struct mxq_axis_value *value;
  for (size_t i = 0; (value = mxq_axis_at(axis, op, i)); ++i)
    if (strcmp(value->token, token) == 0) return value->number;
  return 0;
}

static void holds_numbers(unsigned op, const struct fixed *fixed, size_t count) {
  const struct mxq_axis_value *value;
  size_t total = 0, later = 0;
  for (size_t i = 0; i < count; ++i)
    assert_int_equal(number_of(fixed[i].axis, op, fixed[i].token), fixed[i].number);
  for (int axis = 0; axis < MXQ_AXIS_COUNT; ++axis)
    for (size_t i = 0; mxq_axis_at((enum mxq_axis)axis, op, i); ++i) ++total;
  for (size_t i = 0; (value = mxq_axis_at(MXQ_AXIS_BLOCK, op, i)); ++i) {
    char token[16];
    snprintf(token, sizeof token, "b%u", value->number);
    assert_string_equal(value->token, token);
    later += is_later_block(value->number) != 0;
  }
  assert_int_equal(total, count + later); /* any other new row needs its line above */
}

static void stores_numbers_that_never_change(void **state) {
  (void)state;
  assert_int_equal(sizeof(struct mxq_variant), 32);
  holds_numbers(MXQ_OP_QUANTIZE, quantize_fixed, COUNT(quantize_fixed));
  holds_numbers(MXQ_OP_DEQUANTIZE, dequantize_fixed, COUNT(dequantize_fixed));
  for (size_t i = 0; i < COUNT(quantize_fixed); ++i)
    if (quantize_fixed[i].axis == MXQ_AXIS_MODE)
      assert_int_equal(mxq_mode_scale_bits(quantize_fixed[i].number),
                       quantize_fixed[i].number < 5 ? 8 : 32);
  assert_int_equal(mxq_mode_scale_bits(MXQ_MODE_E8M0), 8);
  assert_int_equal(mxq_mode_scale_bits(MXQ_MODE_FLOAT), 32);
  assert_int_equal(mxq_mode_scale_bits(0), 0);
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

/* Rules look at facts, so they hold for values to come: each refuses alone. */
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
  subject.scales = MXQ_SCALES_BLK;
  assert_null(mxq_rule_refusing(&subject));
  subject.mode = &float_scales;
  assert_ptr_equal(mxq_rule_refusing(&subject), mxq_rule_at(1));
  assert_string_equal(mxq_rule_at(1)->name, "blk-scales");
  subject.scales = MXQ_SCALES_MN;
  assert_null(mxq_rule_refusing(&subject));

  subject = legal;
  subject.op = MXQ_OP_DEQUANTIZE;
  assert_ptr_equal(mxq_rule_refusing(&subject), mxq_rule_at(2));
  assert_string_equal(mxq_rule_at(2)->name, "two-parts");
  subject.parts[1] = MXQ_PART_NONE;
  assert_null(mxq_rule_refusing(&subject));
  assert_null(mxq_rule_at(3)); /* a new rule needs its lines here */
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
