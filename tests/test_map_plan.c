/* SPDX-License-Identifier: MIT
 *
 * Each limit of the tensor copy engine at its edge and one past it, by name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tensor_plan.h"

#define TWO(power)   (UINT64_C(1) << (power))
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Rows change one field of a map that meets every limit. */
#define SET(...) \
  { __VA_ARGS__ }
#define ROW(refusal, element, swizzle, rank, dims, strides, box) \
  {                                                              \
    refusal, { element, swizzle, rank, dims, strides, box }      \
  }
#define RANK(refusal, rank) \
  ROW(refusal, MXQ_MAP_U16, 0, rank, SET(64, 1, 1, 1, 1), SET(16, 16, 16, 16), SET(64, 1, 1, 1, 1))
#define DIMS(refusal, d0, d1, d2) \
  ROW(refusal, MXQ_MAP_U16, 0, 3, SET(d0, d1, d2), SET(128, 8192), SET(64, 64, 1))
#define STRIDES(refusal, s1, s2) \
  ROW(refusal, MXQ_MAP_U16, 0, 3, SET(64, 64, 4), SET(s1, s2), SET(64, 64, 1))
#define BOX(refusal, element, swizzle, b0, b1, b2) \
  ROW(refusal, element, swizzle, 3, SET(64, 64, 4), SET(128, 8192), SET(b0, b1, b2))

static const struct {
  const char *refusal; /* a part of the text; NULL: the map is good */
  struct mxq_map_plan map;
} limits[] = {
    RANK("rank 0", 0),
    RANK(NULL, 1),
    RANK(NULL, 5),
    RANK("rank 6", 6),
    DIMS("dimension 1 is 0", 64, 0, 4),
    DIMS(NULL, 1, 1, 1),
    DIMS(NULL, 64, 64, TWO(31)),
    DIMS("dimension 2 is 2147483649; coordinates", 64, 64, TWO(31) + 1),
    DIMS("coordinates", TWO(32), 64, 4),
    DIMS("dimension 0 is 4294967297; the tensor copy engine takes dimensions from 1 to 2^32",
         TWO(32) + 1, 64, 4),
    STRIDES(NULL, 0, 0),
    STRIDES(NULL, 8192, 128),
    STRIDES("dimension 1 is 8 bytes; the tensor copy engine takes multiples of 16", 8, 8192),
    STRIDES("dimension 2 is 8200 bytes; the tensor copy engine takes multiples of 16", 128, 8200),
    STRIDES(NULL, 128, TWO(40) - 16),
    STRIDES("dimension 2 is 1099511627776 bytes; the tensor copy engine takes strides below 2^40",
            128, TWO(40)),
    BOX("box is 0 long in dimension 2", MXQ_MAP_U16, 0, 64, 64, 0),
    BOX(NULL, MXQ_MAP_U16, 0, 256, 256, 256),
    BOX("box is 257 long in dimension 1", MXQ_MAP_U16, 0, 64, 257, 1),
    BOX(NULL, MXQ_MAP_U16, 0, 8, 64, 1),
    BOX("inner box is 24 bytes (12 u16)", MXQ_MAP_U16, 0, 12, 64, 1),
    BOX(NULL, MXQ_MAP_F32, 0, 4, 64, 1),
    BOX("inner box is 8 bytes (2 f32)", MXQ_MAP_F32, 0, 2, 64, 1),
    BOX(NULL, MXQ_MAP_U8, MXQ_MAP_SWIZZLE_128B, 128, 64, 1),
    BOX("inner box is 144 bytes; the swizzle spans 128", MXQ_MAP_U8, MXQ_MAP_SWIZZLE_128B, 144, 64,
        1),
    BOX(NULL, MXQ_MAP_U8, MXQ_MAP_SWIZZLE_NONE, 144, 64, 1),
    BOX(NULL, MXQ_MAP_U8, MXQ_MAP_SWIZZLE_32B, 32, 64, 1),
    BOX("inner box is 48 bytes; the swizzle spans 32", MXQ_MAP_U8, MXQ_MAP_SWIZZLE_32B, 48, 64, 1),
};

static void test_limits(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(limits); i++) {
    const enum mxq_status status = mxq_map_plan_check(&limits[i].map, "probe map");
    const char *wanted = limits[i].refusal;
    if (status != (wanted ? MXQ_UNSUPPORTED : MXQ_OK) ||
        (wanted && (!strstr(mxq_last_error(), wanted) || !strstr(mxq_last_error(), "probe map"))))
      fail_msg("row %zu: wanted %s, got %s: %s", i, wanted ? wanted : "success",
               mxq_status_name(status), mxq_last_error());
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits)};
  return cmocka_run_group_tests_name("map_plan", tests, NULL, NULL);
}
