/* SPDX-License-Identifier: MIT
 *
 * mxq_relayout on the first device, bit for bit against the CPU path: every layout, part, block,
 * scale type and pair of scale layouts, on shapes with padding; misaligned scales; capture.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "axes.h"
#include "device.h"
#include "gpu_tests.h"
#include "shape.h"
#include "support.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const int64_t shapes[][3] = {{1, 1, 1},     {2, 37, 71},  {1, 300, 517},
                                    {3, 128, 512}, {2, 129, 33}, {1, 5, 2000},
                                    {1, 2000, 5},  {257, 3, 40}, {1, 4096, 2048}};

/* Scales on host and gpu_device; the buffers are aligned, the scales may lie `shift` bytes behind.
 */
struct scales {
  struct support_buffer host;
  void *on_device;
  size_t shift;
};

static struct scales make_scales(uint64_t bytes, size_t shift, uint64_t seed) {
  struct scales made = {support_buffer_make(bytes + shift), NULL, shift};
  for (uint64_t i = 0; seed && i < bytes; i++)
    made.host.data[shift + i] = (unsigned char)(support_random(&seed) >> 40);
  OK(mxq_device_allocate(gpu_device, made.host.total, &made.on_device));
  OK(mxq_device_upload(gpu_device, made.on_device, made.host.base, made.host.total));
  return made;
}

static void free_scales(struct scales *scales) {
  mxq_device_free(gpu_device, scales->on_device);
  support_buffer_free(&scales->host);
}

static unsigned char *at_device(const struct scales *scales) {
  return (unsigned char *)scales->on_device + SUPPORT_GUARD_BYTES + scales->shift;
}

static uint64_t bytes_of(const struct mxq_relayout_args *args, unsigned layout) {
  struct mxq_variant variant = args->variant;
  uint64_t bytes = 0;
  variant.scales = (uint8_t)layout;
  OK(mxq_shape_scale_bytes(&variant, &args->shape, args->part, &bytes));
  return bytes;
}

/* Whether all of a buffer, guards included, is what the CPU path made of it. */
static int is_on_device(const struct scales *scales, const char *name, const char *what) {
  struct support_buffer got = support_buffer_make(scales->host.size);
  OK(mxq_device_download(gpu_device, got.base, scales->on_device, got.total));
  size_t at = 0;
  while (at < got.total && got.base[at] == scales->host.base[at]) at++;
  if (at < got.total)
    fprintf(stderr, "%s, %s: byte %td: expected 0x%02X, got 0x%02X\n", name, what,
            (ptrdiff_t)(at - SUPPORT_GUARD_BYTES - scales->shift), scales->host.base[at],
            got.base[at]);
  const int same = at == got.total;
  support_buffer_free(&got);
  return same;
}

static void check(struct mxq_relayout_args args, size_t shift, uint64_t seed) {
  char name[MXQ_VARIANT_NAME_SIZE], text[MXQ_VARIANT_NAME_SIZE + 128];
  struct scales src = make_scales(bytes_of(&args, args.from), shift, seed);
  struct scales dst = make_scales(bytes_of(&args, args.to), shift, 0);
  OK(mxq_variant_name(&args.variant, name, sizeof name));
  snprintf(text, sizeof text,
           "%s part %u, scale layout %u to %u, (%" PRId64 ", %" PRId64 ", %" PRId64 ")", name,
           args.part, args.from, args.to, args.shape.e, args.shape.n, args.shape.k);
  args.src = at_device(&src);
  args.dst = at_device(&dst);
  OK(mxq_relayout(gpu_context, &args, seed % 2 ? gpu_device : MXQ_DEVICE_AUTO, gpu_stream));
  OK(mxq_device_stream_synchronize(gpu_device, gpu_stream));
  args.src = src.host.data + shift;
  args.dst = dst.host.data + shift;
  OK(mxq_relayout(gpu_context, &args, MXQ_DEVICE_CPU, NULL));
  const int good = is_on_device(&src, text, "source") && is_on_device(&dst, text, "result");
  free_scales(&src);
  free_scales(&dst);
  if (!good) fail_msg("%s", text);
}

static void check_variant(const struct mxq_variant *variant, unsigned part) {
  const size_t size = mxq_mode_scale_bits(variant->mode) / 8;
  for (size_t i = 0; i < COUNT(shapes); i++)
    for (unsigned back = 0; back < 2; back++) {
      struct mxq_relayout_args args = {.variant = *variant, .part = part};
      args.shape = mxq_shape_dense(shapes[i][0], shapes[i][1], shapes[i][2]);
      args.from = back ? variant->scales : MXQ_SCALES_LIN;
      args.to = back ? MXQ_SCALES_LIN : variant->scales;
      check(args, i % 3 == 1 ? size : 0, 2 * i + back + 1);
    }
}

/* Of the variants that differ in nothing that scales know of, one. */
static int is_first_of_kind(const struct mxq_variant *variant) {
  return variant->op == MXQ_OP_QUANTIZE && variant->in == MXQ_TYPE_F32 &&
         variant->out == MXQ_TYPE_E4M3 && variant->scales != MXQ_SCALES_LIN &&
         (variant->mode == MXQ_MODE_FLOOR || variant->mode == MXQ_MODE_AMAX);
}

static void test_every_layout(void **state) {
  struct mxq_variant variant;
  unsigned checked = 0;
  (void)state;
  memset(&variant, 0, sizeof variant);
  while (mxq_variant_next(&variant)) {
    if (!is_first_of_kind(&variant)) continue;
    for (unsigned part = 0; part < 2; part++) {
      if (mxq_layout_part(variant.layout, part) == MXQ_PART_NONE) continue;
      check_variant(&variant, part);
      checked++;
    }
  }
  assert_true(checked > 0);
}

static void test_nothing_to_move(void **state) {
  struct mxq_relayout_args args = {.from = MXQ_SCALES_LIN, .to = MXQ_SCALES_BLK};
  (void)state;
  OK(mxq_variant_parse("quantize_bf16_e4m3_b32_rceil_row_lin", &args.variant));
  args.shape = mxq_shape_dense(3, 0, 64);
  OK(mxq_relayout(gpu_context, &args, gpu_device, gpu_stream));
}

static void test_host_memory_is_refused(void **state) {
  static unsigned char src[64], dst[512];
  struct mxq_relayout_args args = {.from = MXQ_SCALES_LIN, .to = MXQ_SCALES_BLK};
  (void)state;
  OK(mxq_variant_parse("quantize_bf16_e4m3_b32_rceil_row_lin", &args.variant));
  args.shape = mxq_shape_dense(1, 16, 64);
  args.src = src;
  args.dst = dst;
  assert_int_equal(mxq_relayout(gpu_context, &args, gpu_device, gpu_stream), MXQ_INVALID_ARGUMENT);
  assert_non_null(strstr(mxq_last_error(), "host memory"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_layout),
      cmocka_unit_test(test_nothing_to_move),
      cmocka_unit_test(test_host_memory_is_refused),
  };
  const int skip = gpu_tests_skip(1);
  if (skip) return skip;
  return cmocka_run_group_tests(tests, gpu_tests_begin, gpu_tests_end);
}
