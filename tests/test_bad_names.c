/* SPDX-License-Identifier: MIT
 *
 * Names and variants that are none: a status, a text that helps, and nothing touched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mxq/variant.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const char good[] = "quantize_bf16_e4m3_b32_rceil_colt_lin";

static void explains_unknown_names(void **state) {
  (void)state;
  static const struct {
    const char *name;
    const char *parts[3]; /* that the message must have */
  } cases[] = {
      {"quantise_bf16_e4m3_b32_rceil_colt_lin",
       {"operation \"quantise\"", "allowed: quantize dequantize", "did you mean \"quantize\"?"}},
      {"quantize_bf_e4m3_b32_rceil_colt_lin",
       {"input type \"bf\"", "allowed: f32 bf16 f16", "did you mean"}},
      {"quantize_e4m3_e4m3_b32_rceil_colt_lin", {"input type \"e4m3\"", "allowed: f32 bf16 f16"}},
      {"quantize_bf16_E4M3_b32_rceil_colt_lin",
       {"output type \"E4M3\"", "allowed: e4m3 e5m2 e2m3 e3m2 e2m1", "did you mean \"e4m3\"?"}},
      {"quantize_bf16_f16_b32_rceil_colt_lin",
       {"output type \"f16\"", "allowed: e4m3 e5m2 e2m3 e3m2 e2m1"}},
      {"quantize_bf16_e4m3_32_rceil_colt_lin",
       {"block \"32\"", "b16 b32 b64 b128", "did you mean \"b32\"?"}},
      {"quantize_bf16_e4m3_b32_rcail_colt_lin",
       {"mode \"rcail\"", "allowed: floor ceil rceil even amax pow2", "did you mean \"rceil\"?"}},
      {"quantize_bf16_e4m3_b32_rceil_tloc_lin",
       {"layout \"tloc\"", "allowed: row col colt sq sqt rowcol rowcolt sqsqt"}},
      {"quantize_bf16_e4m3_b32_rceil_colt_linear",
       {"scale layout \"linear\"", "allowed: lin blk mn"}},
      {"quantize_bf16_e4m3_b32_e8m0_colt_lin", {"mode \"e8m0\"", "allowed: floor ceil"}},
      {"dequantize_bf16_e4m3_b32_e8m0_colt_lin",
       {"input type \"bf16\"", "allowed: e4m3 e5m2 e2m3 e3m2 e2m1"}},
      {"dequantize_e4m3_e5m2_b32_e8m0_colt_lin", {"output type \"e5m2\"", "allowed: f32 bf16 f16"}},
      {"dequantize_e4m3_bf16_b32_rceil_colt_lin", {"mode \"rceil\"", "allowed: e8m0 f32"}},
      {"dequantize_e4m3_bf16_b32_e8m1_colt_lin",
       {"mode \"e8m1\"", "allowed: e8m0 f32", "did you mean \"e8m0\"?"}},
      {"quantize_bf16_e4m3_b32_rceil_colt_blkk", {"did you mean \"blk\"?"}},
      {"", {"1 part,", "a name has 7", "part 1 is no operation"}},
      {"quantize_bf16_e4m3_b32_colt_lin",
       {"6 parts", "part 5 is no mode", "floor ceil rceil even amax pow2"}},
      {"quantize_bf16_e4m3_b32_rceil_colt", {"6 parts", "part 7 is no scale layout", "lin"}},
      {"quantize_bf16_e4m3_b32_rceil_colt_lin_lin", {"8 parts", "nothing follows"}},
      {"quantize_bf16_e4m3_b32_rceil_colt_", {"scale layout \"\""}},
      {"quantize_bf16_e4m3_b32_rceil_colt_lin ", {"\"lin \"", "did you mean \"lin\"?"}},
      {"quantize_bf16_\xC3\xA9_b32_rceil_colt_lin", {"\"\\xC3\\xA9\""}},
      {"quantize_bf16_\n\x1B[31m_b32_rceil_colt_lin", {"\\x0A\\x1B[31m"}},
  };
  struct mxq_variant variant, untouched;
  memset(&untouched, 0xA5, sizeof untouched);
  for (size_t i = 0; i < COUNT(cases); ++i) {
    variant = untouched;
    assert_int_equal(mxq_variant_parse(cases[i].name, &variant), MXQ_UNKNOWN_NAME);
    assert_memory_equal(&variant, &untouched, sizeof variant);
    for (size_t p = 0; p < COUNT(cases[i].parts) && cases[i].parts[p]; ++p)
      if (!strstr(mxq_last_error(), cases[i].parts[p]))
        fail_msg("%s\nlacks: %s", mxq_last_error(), cases[i].parts[p]);
  }
}

static void refuses_null_and_small_places(void **state) {
  (void)state;
  char name[MXQ_VARIANT_NAME_SIZE];
  struct mxq_variant variant;
  assert_int_equal(mxq_variant_parse(NULL, &variant), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_variant_parse(good, NULL), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_variant_check(NULL), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_variant_name(NULL, name, sizeof name), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_variant_next(NULL), 0);
  assert_int_equal(mxq_variant_parse(good, &variant), MXQ_OK);
  assert_int_equal(mxq_variant_name(&variant, NULL, 64), MXQ_INVALID_ARGUMENT);
  memset(name, 'x', sizeof name);
  assert_int_equal(mxq_variant_name(&variant, name, strlen(good)), MXQ_INVALID_ARGUMENT);
  assert_int_equal(name[0], 'x');
  assert_int_equal(mxq_variant_name(&variant, name, strlen(good) + 1), MXQ_OK);
  assert_string_equal(name, good);
}

static void refuses_every_wrong_byte(void **state) {
  (void)state;
  struct mxq_variant legal;
  assert_int_equal(mxq_variant_parse(good, &legal), MXQ_OK);
  for (size_t byte = 0; byte < sizeof legal; ++byte)
    for (unsigned value = 0; value < 256; ++value) {
      struct mxq_variant changed = legal, parsed;
      char name[MXQ_VARIANT_NAME_SIZE];
      ((unsigned char *)&changed)[byte] = (unsigned char)value;
      const enum mxq_status status = mxq_variant_check(&changed);
      assert_int_equal(mxq_variant_name(&changed, name, sizeof name), status);
      if (status == MXQ_OK) {
        assert_int_equal(mxq_variant_parse(name, &parsed), MXQ_OK);
        assert_memory_equal(&parsed, &changed, sizeof parsed);
      } else {
        assert_int_equal(status, MXQ_INVALID_ARGUMENT);
        struct mxq_variant stepped = changed;
        if (byte < 8) assert_int_equal(mxq_variant_next(&stepped), 0);
        assert_true(strlen(mxq_last_error()) > 20);
      }
    }
}

static unsigned random_below(uint64_t *seed, unsigned bound) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(*seed >> 33) % bound;
}

/* Random bytes, and good names with bytes replaced, dropped or doubled. */
static void survives_garbage(void **state) {
  (void)state;
  char text[300];
  uint64_t seed = 2;
  for (int round = 0; round < 100000; ++round) {
    size_t length = random_below(&seed, sizeof text - 2);
    if (round % 2) {
      length = strlen(good);
      memcpy(text, good, length);
      text[random_below(&seed, (unsigned)length)] = (char)(1 + random_below(&seed, 255));
      if (round % 3 == 0) length = random_below(&seed, (unsigned)length);
    } else {
      for (size_t i = 0; i < length; ++i)
        text[i] = (char)(random_below(&seed, 4) ? 1 + random_below(&seed, 255) : '_');
    }
    text[length] = 0;
    struct mxq_variant variant;
    char name[MXQ_VARIANT_NAME_SIZE];
    if (mxq_variant_parse(text, &variant) == MXQ_OK) {
      assert_int_equal(mxq_variant_name(&variant, name, sizeof name), MXQ_OK);
      assert_string_equal(name, text);
    }
  }
}

static void survives_a_megabyte(void **state) {
  (void)state;
  static const char fills[] = {'_', 'a', '\xFF', '%'};
  const size_t size = 1 << 20;
  char *text = malloc(size + 1);
  assert_non_null(text);
  text[size] = 0;
  for (size_t i = 0; i < sizeof fills; ++i) {
    struct mxq_variant variant;
    memset(text, fills[i], size);
    assert_int_equal(mxq_variant_parse(text, &variant), MXQ_UNKNOWN_NAME);
    assert_true(strlen(mxq_last_error()) < 1024);
  }
  static const char head[] = "quantize_bf16_", tail[] = "_b32_rceil_colt_lin";
  struct mxq_variant variant;
  memset(text, '\xFF', size); /* one long part among good ones */
  memcpy(text, head, strlen(head));
  memcpy(text + size - strlen(tail), tail, strlen(tail));
  assert_int_equal(mxq_variant_parse(text, &variant), MXQ_UNKNOWN_NAME);
  assert_non_null(strstr(mxq_last_error(), "\"...; allowed: e4m3 e5m2"));
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(explains_unknown_names),   cmocka_unit_test(refuses_null_and_small_places),
      cmocka_unit_test(refuses_every_wrong_byte), cmocka_unit_test(survives_garbage),
      cmocka_unit_test(survives_a_megabyte),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
