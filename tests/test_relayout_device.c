/* SPDX-License-Identifier: MIT
 *
 * The host side of mxq_relayout: devices, streams, the caller's context, captures, fork.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device.h"
#include "fakes.h"

/* (2, 64, 64) in colt, blocks of 32: 2 * 2 * 64 scales, one tile of 128 x 4 a matrix. */
enum { SRC_BYTES = 256, DST_BYTES = 1024 };

static struct fakes fakes;

/* Scales on a device, and what the CPU path makes of them. */
struct moved {
  struct mxq_context *context;
  struct mxq_relayout_args args;
  int device;
  mxq_stream stream;
  unsigned char src[SRC_BYTES], expected[DST_BYTES];
};

static struct mxq_context *create(void) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_context *context = NULL;
  config.cache_dirs = "/proc/mxq";
  return mxq_context_create(&config, &context) == MXQ_OK ? context : NULL;
}

static int make(int device, struct moved *moved) {
  void *src = NULL, *dst = NULL;
  memset(moved, 0, sizeof *moved);
  moved->context = create();
  moved->device = device;
  moved->args = (struct mxq_relayout_args){.shape = mxq_shape_dense(2, 64, 64),
                                           .from = MXQ_SCALES_LIN,
                                           .to = MXQ_SCALES_BLK,
                                           .src = moved->src,
                                           .dst = moved->expected};
  for (int i = 0; i < SRC_BYTES; i++) moved->src[i] = (unsigned char)(i * 7 + 1);
  if (mxq_variant_parse("quantize_bf16_e4m3_b32_rceil_colt_lin", &moved->args.variant) != MXQ_OK ||
      mxq_relayout(moved->context, &moved->args, MXQ_DEVICE_CPU, NULL) != MXQ_OK ||
      mxq_device_allocate(device, SRC_BYTES, &src) != MXQ_OK ||
      mxq_device_allocate(device, DST_BYTES, &dst) != MXQ_OK ||
      mxq_device_upload(device, src, moved->src, SRC_BYTES) != MXQ_OK ||
      mxq_device_fill(device, dst, 0xFF, DST_BYTES) != MXQ_OK ||
      mxq_device_stream_create(device, &moved->stream) != MXQ_OK)
    return 0;
  moved->args.src = src;
  moved->args.dst = dst;
  return 1;
}

static void forget(struct moved *moved) {
  mxq_device_free(moved->device, (void *)(uintptr_t)moved->args.src);
  mxq_device_free(moved->device, moved->args.dst);
  mxq_device_stream_destroy(moved->device, moved->stream);
  mxq_context_destroy(moved->context);
}

/* 1: moved; 0: untouched; -1: neither. Poison afterwards. */
static int outcome(const struct moved *moved) {
  unsigned char got[DST_BYTES], poison[DST_BYTES];
  memset(poison, 0xFF, sizeof poison);
  if (mxq_device_download(moved->device, got, moved->args.dst, DST_BYTES) != MXQ_OK) return -1;
  if (mxq_device_fill(moved->device, moved->args.dst, 0xFF, DST_BYTES) != MXQ_OK) return -1;
  if (memcmp(got, poison, DST_BYTES) == 0) return 0;
  return memcmp(got, moved->expected, DST_BYTES) == 0 ? 1 : -1;
}

static int says(const char *piece) { return strstr(mxq_last_error(), piece) != NULL; }

static int use_devices(void *user) {
  struct moved zero, one;
  CUcontext now = NULL;
  (void)user;
  CHILD_CHECK(fakes_open(&fakes) && make(0, &zero) && make(1, &one));
  CUcontext own = fakes.fake_context_create(0);
  CHILD_CHECK(fakes.push(own) == CUDA_SUCCESS); /* of device 0, while the scales lie on 1 */
  const mxq_stream streams[] = {NULL, one.stream};
  for (int i = 0; i < 4; i++) {
    const int device = i < 2 ? 1 : MXQ_DEVICE_AUTO;
    CHILD_CHECK(mxq_relayout(one.context, &one.args, device, streams[i % 2]) == MXQ_OK);
    CHILD_CHECK(outcome(&one) == 1);
    CHILD_CHECK(fakes.current(&now) == CUDA_SUCCESS && now == own);
    CHILD_CHECK(fakes.fake_context_depth() == 1);
  }
  CHILD_CHECK(mxq_relayout(one.context, &one.args, 1, zero.stream) == MXQ_INVALID_ARGUMENT);
  CHILD_CHECK(says("cuda:0") && says("cuda:1"));
  CHILD_CHECK(mxq_relayout(one.context, &one.args, 0, NULL) == MXQ_INVALID_ARGUMENT);
  CHILD_CHECK(says("cuda:0") && says("cuda:1"));
  struct mxq_relayout_args mixed = one.args;
  mixed.src = zero.args.src;
  CHILD_CHECK(mxq_relayout(one.context, &mixed, MXQ_DEVICE_AUTO, NULL) == MXQ_INVALID_ARGUMENT);
  CHILD_CHECK(says("cuda:0") && says("cuda:1"));
  CHILD_CHECK(mxq_relayout(one.context, &one.args, 2, NULL) == MXQ_NO_DEVICE);
  CHILD_CHECK(outcome(&one) == 0 && outcome(&zero) == 0 && fakes.fake_context_depth() == 1);
  CHILD_CHECK(fakes.pop(&now) == CUDA_SUCCESS);
  free(own);
  forget(&zero);
  forget(&one);
  CHILD_CHECK(fakes.fake_libraries() == 0);
  return 0;
}

static void the_device_is_that_of_the_scales(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("", use_devices, NULL), 0);
}

static int capture(void *user) {
  struct moved moved;
  CUgraph graph = NULL;
  (void)user;
  CHILD_CHECK(fakes_open(&fakes) && make(0, &moved));
  CHILD_CHECK(fakes.begin_capture(moved.stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
  for (int i = 0; i < 2; i++) /* the stream that captures, and the one that would wait for it */
    CHILD_CHECK(mxq_relayout(moved.context, &moved.args, 0, i ? NULL : moved.stream) ==
                MXQ_NOT_READY);
  CHILD_CHECK(says("before the capture"));
  CHILD_CHECK(fakes.fake_libraries() == 0 && fakes.nvrtc_calls() == 0);
  CHILD_CHECK(fakes.end_capture(moved.stream, &graph) == CUDA_SUCCESS && graph);
  CHILD_CHECK(outcome(&moved) == 0);
  CHILD_CHECK(mxq_relayout(moved.context, &moved.args, 0, moved.stream) == MXQ_OK);
  CHILD_CHECK(outcome(&moved) == 1);
  CHILD_CHECK(fakes.begin_capture(moved.stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
  CHILD_CHECK(mxq_relayout(moved.context, &moved.args, 0, moved.stream) == MXQ_OK);
  CHILD_CHECK(fakes.end_capture(moved.stream, &graph) == CUDA_SUCCESS);
  CHILD_CHECK(outcome(&moved) == 0); /* captured, not run */
  forget(&moved);
  return 0;
}

static void nothing_is_loaded_while_a_stream_captures(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("", capture, NULL), 0);
}

/* The CPU path goes on in a child, the device's does not. */
static int use_after_fork(void *user) {
  struct moved moved;
  int status = 0;
  (void)user;
  CHILD_CHECK(fakes_open(&fakes) && make(0, &moved));
  CHILD_CHECK(mxq_relayout(moved.context, &moved.args, 0, moved.stream) == MXQ_OK);
  const pid_t child = fork();
  if (child == 0) {
    unsigned char here[DST_BYTES];
    struct mxq_relayout_args args = moved.args;
    const enum mxq_status forked = mxq_relayout(moved.context, &args, 0, moved.stream);
    const enum mxq_status found = mxq_relayout(moved.context, &args, MXQ_DEVICE_AUTO, NULL);
    args.src = moved.src;
    args.dst = here;
    const enum mxq_status cpu = mxq_relayout(moved.context, &args, MXQ_DEVICE_CPU, NULL);
    const int same = memcmp(here, moved.expected, DST_BYTES) == 0;
    _exit(forked == MXQ_FORKED && found == MXQ_FORKED && cpu == MXQ_OK && same ? 0 : 1);
  }
  CHILD_CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHILD_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHILD_CHECK(outcome(&moved) == 1);
  forget(&moved);
  return 0;
}

static void a_child_of_a_fork_has_the_cpu_path(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("", use_after_fork, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_device_is_that_of_the_scales),
      cmocka_unit_test(nothing_is_loaded_while_a_stream_captures),
      cmocka_unit_test(a_child_of_a_fork_has_the_cpu_path),
  };
  return cmocka_run_group_tests_name("relayout on devices", tests, NULL, NULL);
}
