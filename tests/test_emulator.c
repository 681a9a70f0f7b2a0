/* SPDX-License-Identifier: MIT
 *
 * Every kind of hazard is found at every seed, and nothing is found where nothing is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/map.h"
#include "emulator/tiny.h"

enum { tiles = 3, seeds = 12 };

void tiny(const void *args);
void tiny_dump(const void *args);

/* Tensors of a launch of the tiny kernel. */
struct tensors {
  _Alignas(256) unsigned char in[tiles * TINY_TILE];
  _Alignas(256) unsigned char out[tiles * TINY_TILE];
  unsigned char gap[256];
  _Alignas(256) unsigned char sums[tiles * TINY_THREADS];
  struct emu_mark in_marks[tiles * TINY_TILE];
  struct emu_mark out_marks[tiles * TINY_TILE];
  struct emu_mark sums_marks[tiles * TINY_THREADS];
  struct emu_region regions[3];
};

static const struct mxq_map_plan whole = {.element = MXQ_MAP_U8,
                                          .swizzle = MXQ_MAP_SWIZZLE_NONE,
                                          .rank = 3,
                                          .dims = {TINY_ROW, TINY_ROWS, tiles},
                                          .strides_bytes = {TINY_ROW, TINY_TILE},
                                          .box = {TINY_ROW, TINY_ROWS, 1}};

static struct tensors *make_tensors(void) {
  struct tensors *made = aligned_alloc(256, sizeof *made);
  assert_non_null(made);
  memset(made, 0, sizeof *made);
  for (size_t i = 0; i < sizeof made->in; i++) {
    made->in[i] = (unsigned char)(i * 7 + i / 251);
    made->in_marks[i].real = 1;
  }
  made->regions[0] = (struct emu_region){"in", made->in, sizeof made->in, 0, made->in_marks};
  made->regions[1] = (struct emu_region){"out", made->out, sizeof made->out, 1, made->out_marks};
  made->regions[2] =
      (struct emu_region){"sums", made->sums, sizeof made->sums, 1, made->sums_marks};
  return made;
}

static int run_regions(enum tiny_fault fault, uint64_t seed, size_t regions, char text[EMU_TEXT]) {
  struct tensors *tensors = make_tensors();
  struct tiny_args args = {
      .sums = tensors->sums, .input = tensors->in, .tiles = tiles, .fault = (unsigned)fault};
  const struct emu_launch launch = {tiny, &args,  TINY_THREADS,     1,      TINY_SHARED,
                                    seed, 100000, tensors->regions, regions};
  assert_true(emu_map_encode(&whole, tensors->in, &args.in, text));
  assert_true(emu_map_encode(&whole, tensors->out, &args.out, text));
  const int clean = emu_launch_run(&launch, text);
  if (clean) assert_memory_equal(tensors->in, tensors->out, sizeof tensors->in);
  free(tensors);
  return clean;
}

static int run_tiny(enum tiny_fault fault, uint64_t seed, char text[EMU_TEXT]) {
  return run_regions(fault, seed, 3, text);
}

/* Whether the text holds one of several fragments with | between them. */
static int says(const char *text, const char *fragments) {
  char one[128];
  for (;;) {
    const size_t length = strcspn(fragments, "|");
    snprintf(one, sizeof one, "%.*s", (int)length, fragments);
    if (strstr(text, one)) return 1;
    if (!fragments[length]) return 0;
    fragments += length + 1;
  }
}

#define NAME(name, text) #name,
static const char *const names[] = {TINY_FAULTS(NAME)};
#define TEXT(name, text) text,
static const char *const texts[] = {TINY_FAULTS(TEXT)};

static void test_correct_kernel_is_clean(void **state) {
  char text[EMU_TEXT];
  (void)state;
  for (uint64_t seed = 1; seed <= 20 * seeds; seed++)
    if (!run_tiny(TINY_NONE, seed, text)) fail_msg("seed %d: %s", (int)seed, text);
}

static void test_each_fault_is_found(void **state) {
  char text[EMU_TEXT];
  int missed = 0;
  (void)state;
  if (EMU_THREADS) skip(); /* the thread sanitizer finds its own, and ends the program */
  for (int fault = 1; fault < TINY_COUNT; fault++)
    for (uint64_t seed = 1; seed <= seeds; seed++) {
      const int clean = run_tiny((enum tiny_fault)fault, seed, text);
      if (!clean && says(text, texts[fault]) &&
          (strstr(text, "tiny.cc:") || fault == TINY_GLOBAL_UNWRITTEN))
        continue;
      print_error("%s, seed %d: %s\n", names[fault], (int)seed, clean ? "not found" : text);
      missed++;
      break;
    }
  assert_int_equal(missed, 0);
}

static void test_a_seed_gives_one_report(void **state) {
  char first[EMU_TEXT], second[EMU_TEXT];
  int different = 0;
  (void)state;
  if (EMU_THREADS) skip(); /* the order of the threads is the system's */
  for (uint64_t seed = 1; seed <= seeds; seed++) {
    run_tiny(TINY_READ_UNORDERED, seed, first);
    run_tiny(TINY_READ_UNORDERED, seed, second);
    assert_string_equal(first, second);
    run_tiny(TINY_READ_UNORDERED, seed + 1, second);
    different += strcmp(first, second) != 0;
  }
  assert_true(different > seeds / 2); /* seeds are schedules */
}

static void test_no_tensors(void **state) {
  char text[EMU_TEXT];
  (void)state;
  assert_false(run_regions(TINY_NONE, 1, 0, text));
  assert_non_null(strstr(text, "at no tensor's address"));
}

static void test_too_many_threads(void **state) {
  char text[EMU_TEXT];
  const struct emu_launch launch = {.threads = EMU_THREADS_MAX + 1, .grid = 1};
  (void)state;
  assert_false(emu_launch_run(&launch, text));
  assert_non_null(strstr(text, "1025 threads"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_correct_kernel_is_clean), cmocka_unit_test(test_each_fault_is_found),
      cmocka_unit_test(test_a_seed_gives_one_report), cmocka_unit_test(test_no_tensors),
      cmocka_unit_test(test_too_many_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
