/* SPDX-License-Identifier: MIT
 *
 * What mxq_relayout refuses: a status and a text, and nothing written. (What it does: test_scales.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <mxq/mxq.h>

static struct mxq_context *context;

static int set_up(void **state) {
  (void)state;
  return mxq_context_create(NULL, &context) != MXQ_OK;
}
static int tear_down(void **state) {
  (void)state;
  mxq_context_destroy(context);
  return 0;
}

static void refused(const struct mxq_relayout_args *args, int device, enum mxq_status status,
                    const char *reason) {
  assert_int_equal(mxq_relayout(context, args, device, NULL), status);
  if (!strstr(mxq_last_error(), reason)) fail_msg("no \"%s\" in: %s", reason, mxq_last_error());
}

static void test_relayout_refusals(void **state) {
  _Alignas(16) static unsigned char src[4096], dst[4096];
  struct mxq_relayout_args good = {.shape = mxq_shape_dense(2, 33, 70),
                                   .from = MXQ_SCALES_LIN,
                                   .to = MXQ_SCALES_BLK,
                                   .src = src,
                                   .dst = dst};
  struct mxq_relayout_args bad;
  (void)state;
  assert_int_equal(mxq_variant_parse("quantize_bf16_e4m3_b32_rceil_row_lin", &good.variant),
                   MXQ_OK);
  memset(dst, 0xFF, sizeof dst);
  assert_int_equal(mxq_relayout(NULL, &good, MXQ_DEVICE_CPU, NULL), MXQ_INVALID_ARGUMENT);
  refused(NULL, MXQ_DEVICE_CPU, MXQ_INVALID_ARGUMENT, "args is NULL");
  bad = good, bad.to = MXQ_SCALES_LIN;
  refused(&bad, MXQ_DEVICE_CPU, MXQ_INVALID_ARGUMENT, "from lin to lin");
  bad = good, bad.from = MXQ_SCALES_MN;
  refused(&bad, MXQ_DEVICE_CPU, MXQ_INVALID_ARGUMENT, "from mn to blk");
  bad = good, bad.to = 77;
  refused(&bad, MXQ_DEVICE_CPU, MXQ_INVALID_ARGUMENT, "77 is no number of a scale layout");
  bad = good, bad.to = 256 + MXQ_SCALES_BLK;
  refused(&bad, MXQ_DEVICE_CPU, MXQ_INVALID_ARGUMENT, "no number of a scale layout");
  bad = good, bad.variant.mode = MXQ_MODE_AMAX;
  refused(&bad, MXQ_DEVICE_CPU, MXQ_REFUSED, "exists only for e8m0");
  bad = good, bad.part = 1;
  refused(&bad, MXQ_DEVICE_CPU, MXQ_INVALID_ARGUMENT, "part 1");
  bad = good, bad.part = 2;
  refused(&bad, MXQ_DEVICE_CPU, MXQ_INVALID_ARGUMENT, "part 2");
  bad = good, bad.shape.n = -1;
  refused(&bad, MXQ_DEVICE_CPU, MXQ_INVALID_ARGUMENT, "a length is negative");
  bad = good, bad.shape = mxq_shape_dense(INT64_C(1) << 40, INT64_C(1) << 22, 1);
  refused(&bad, MXQ_DEVICE_CPU, MXQ_INVALID_ARGUMENT, "2^63");
  bad = good, bad.src = NULL;
  refused(&bad, MXQ_DEVICE_CPU, MXQ_INVALID_ARGUMENT, "src is NULL");
  bad = good, bad.dst = NULL;
  refused(&bad, MXQ_DEVICE_CPU, MXQ_INVALID_ARGUMENT, "dst is NULL");
  bad = good, bad.dst = src + 2 * 33 * 3 - 1;
  refused(&bad, MXQ_DEVICE_CPU, MXQ_INVALID_ARGUMENT, "overlap");
  bad = good, bad.variant.mode = MXQ_MODE_AMAX, bad.to = MXQ_SCALES_MN, bad.src = src + 2;
  refused(&bad, MXQ_DEVICE_CPU, MXQ_INVALID_ARGUMENT, "aligned to its scales of 4 bytes");
  refused(&good, -3, MXQ_INVALID_ARGUMENT, "device -3");
  assert_int_equal(mxq_relayout(context, &good, MXQ_DEVICE_CPU, (mxq_stream)&bad),
                   MXQ_INVALID_ARGUMENT);
  for (size_t i = 0; i < sizeof dst; ++i) assert_int_equal(dst[i], 0xFF);
  bad = good, bad.shape.n = 0, bad.src = NULL, bad.dst = NULL;
  assert_int_equal(mxq_relayout(context, &bad, MXQ_DEVICE_CPU, NULL), MXQ_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_relayout_refusals)};
  return cmocka_run_group_tests_name("relayout", tests, set_up, tear_down);
}
