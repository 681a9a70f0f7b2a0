/* SPDX-License-Identifier: MIT
 *
 * The emulator's conversions of all 2^32 floats, to e4m3 and e5m2 and the shorter types, against
 * the boundaries between codes, which are exact. Instead
 *   test_emulator_exhaustive ONE_IN
 * one float in so many, of which the variable MXQ_TURN takes others; test_emulator_convert has
 * every boundary and its neighbours.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/code_values.h"
#include "emulator/primitives.h"

enum { seed = 4 };

/* Every `step`th float is checked, and which of them are. */
static uint32_t step = 1, turn;

/* The first float from `begin` on that is checked. */
static uint32_t first_from(uint32_t begin) { return begin + (turn + step - begin % step) % step; }

static unsigned narrow(const struct code_type *type, uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return emu_narrow(value, type->exponent_bits, type->mantissa_bits);
}

/* All floats from `begin` to before `end` have the same code. Returns how many were checked. */
static uint64_t check_run(const struct code_type *type, uint32_t begin, uint32_t end,
                          unsigned code) {
  const unsigned sign = 1u << (type->exponent_bits + type->mantissa_bits);
  uint64_t checked = 0;
  for (uint32_t bits = first_from(begin); bits < end; bits += step, checked += 2)
    if (narrow(type, bits) != code || narrow(type, bits | 0x80000000) != (code | sign))
      fail_msg("%s of the float 0x%08X or its negative: not 0x%X", type->name, bits, code);
  return checked;
}

static void test_all_floats(void **state) {
  (void)state;
  for (const struct code_type *type = code_types; type->name; type++) {
    uint32_t begin = 0;
    uint64_t checked = 0;
    for (unsigned code = 0; code < type->largest; code++) {
      /* A tie goes to the even code. */
      const uint32_t end = code_boundary(type, code) + (code % 2 == 0);
      checked += check_run(type, begin, end, code);
      begin = end;
    }
    checked += check_run(type, begin, 0x7F800001, type->largest);
    for (uint32_t bits = first_from(0x7F800001); bits < 0x80000000; bits += step, checked += 2)
      if (narrow(type, bits) != type->nan_code || narrow(type, bits | 0x80000000) != type->nan_code)
        fail_msg("%s of the NaN 0x%08X", type->name, bits);
    assert_true(checked == 2 * ((UINT64_C(0x80000000) - turn + step - 1) / step));
  }
}

/* Each power of two is the code of the floats from behind the one before it. */
static void test_all_powers(void **state) {
  (void)state;
  uint32_t bits = turn;
  for (unsigned code = 0; code <= 254; code++) {
    const float power = ldexpf(1, (int)code - 127);
    uint32_t end;
    memcpy(&end, &power, sizeof end);
    for (; bits <= end || (code == 254 && bits <= 0x7F800000); bits += step) {
      float value;
      memcpy(&value, &bits, sizeof value);
      if (emu_ceil_e8m0(value) != code) fail_msg("e8m0 of the float 0x%08X: not %u", bits, code);
    }
  }
  assert_int_equal(bits, first_from(0x7F800001));
}

int main(int count, char **arguments) {
  const char *asked = getenv("MXQ_TURN");
  const long one_in = count > 1 ? strtol(arguments[1], NULL, 10) : 1;
  if (count > 2 || one_in < 1 || one_in > 1 << 20) {
    fprintf(stderr, "usage: test_emulator_exhaustive [ONE_IN]\n");
    return 2;
  }
  step = (uint32_t)one_in;
  turn = (asked ? (uint32_t)strtoul(asked, NULL, 10) : seed) % step;
  printf("MXQ_TURN=%u: one float in %u\n", turn, step);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_floats),
                                     cmocka_unit_test(test_all_powers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
