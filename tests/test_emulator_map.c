/* SPDX-License-Identifier: MIT
 *
 * The copy engine of the emulator: every limit of a tensor map, what lies outside of a tensor, and
 * where the swizzle puts bytes.
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

void tiny_dump(const void *args);

enum { columns = 160, rows = 12, depth = 2 };

static const struct mxq_map_plan box_map = {.element = MXQ_MAP_U8,
                                            .swizzle = MXQ_MAP_SWIZZLE_NONE,
                                            .rank = 3,
                                            .dims = {columns, rows, depth},
                                            .strides_bytes = {columns, columns *rows},
                                            .box = {TINY_ROW, TINY_ROWS, 1}};

struct limit {
  const char *says;
  void (*break_it)(struct mxq_map_plan *plan);
};

#define BREAK(name, change) \
  static void name(struct mxq_map_plan *plan) { change; }
BREAK(no_rows, plan->dims[1] = 0)
BREAK(dim_over, plan->dims[2] = (UINT64_C(1) << 32) + 1)
BREAK(box_none, plan->box[1] = 0)
BREAK(box_over, plan->box[0] = 272)
BREAK(stride_odd, plan->strides_bytes[0] = columns + 8)
BREAK(stride_over, plan->strides_bytes[1] = UINT64_C(1) << 40)
BREAK(inner_odd, plan->box[0] = 24)
BREAK(rank_two, plan->rank = 2)
BREAK(no_type, plan->element = (enum mxq_map_element)7)
BREAK(no_swizzle, plan->swizzle = (enum mxq_map_swizzle)7)
BREAK(over_span, plan->swizzle = MXQ_MAP_SWIZZLE_128B; plan->box[0] = 144)
BREAK(over_span_64, plan->swizzle = MXQ_MAP_SWIZZLE_64B; plan->box[0] = 80)
BREAK(over_span_32, plan->swizzle = MXQ_MAP_SWIZZLE_32B; plan->box[0] = 48)
BREAK(under_span, plan->swizzle = MXQ_MAP_SWIZZLE_128B; plan->box[0] = 64)
BREAK(span_64, plan->swizzle = MXQ_MAP_SWIZZLE_64B; plan->box[0] = 64)
BREAK(span_32, plan->swizzle = MXQ_MAP_SWIZZLE_32B; plan->box[0] = 32)
BREAK(dim_most, plan->dims[2] = UINT64_C(1) << 32)
BREAK(box_most, plan->box[0] = 256)
BREAK(stride_most, plan->strides_bytes[1] = (UINT64_C(1) << 40) - 16)
BREAK(stride_zero, plan->strides_bytes[1] = 0)

static const struct limit refused[] = {
    {"dimension 1 is 0", no_rows},
    {"dimension 2 is 4294967297", dim_over},
    {"box 1 is 0", box_none},
    {"box 0 is 272", box_over},
    {"stride 1 is 168 bytes: no multiple of 16", stride_odd},
    {"stride 2 is 1099511627776 bytes: not below 2^40", stride_over},
    {"inner box of 24 bytes: no multiple of 16", inner_odd},
    {"rank 2", rank_two},
    {"no such element type", no_type},
    {"no such swizzle", no_swizzle},
    {"more than the swizzle's 128", over_span},
    {"more than the swizzle's 64", over_span_64},
    {"more than the swizzle's 32", over_span_32},
    {"knows a swizzle of 128 for 128 only", under_span},
};
static const struct limit taken[] = {{"", dim_most},    {"", box_most}, {"", stride_most},
                                     {"", stride_zero}, {"", span_64},  {"", span_32}};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void test_limits_of_maps(void **state) {
  static _Alignas(256) unsigned char memory[256];
  struct mxq_tensor_map map;
  char text[EMU_TEXT] = "";
  (void)state;
  for (size_t i = 0; i < COUNT(refused); i++) {
    struct mxq_map_plan plan = box_map;
    refused[i].break_it(&plan);
    assert_false(emu_map_encode(&plan, memory, &map, text));
    if (!strstr(text, refused[i].says)) fail_msg("'%s' without '%s'", text, refused[i].says);
  }
  for (size_t i = 0; i < COUNT(taken); i++) {
    struct mxq_map_plan plan = box_map;
    taken[i].break_it(&plan);
    if (!emu_map_encode(&plan, memory, &map, text)) fail_msg("%d: %s", (int)i, text);
  }
  assert_false(emu_map_encode(&box_map, memory + 8, &map, text));
  assert_non_null(strstr(text, "no multiple of 16"));
}

struct dump {
  _Alignas(256) unsigned char in[depth * rows * columns];
  unsigned char wall[256];
  _Alignas(256) unsigned char out[TINY_TILE];
  _Alignas(256) unsigned char dump[TINY_TILE];
  struct emu_mark in_marks[depth * rows * columns], out_marks[TINY_TILE], dump_marks[TINY_TILE];
};

/* Loads a box at (x, y, 0) and stores it to a dense tile through a map with the same box. */
static int run_dump(struct dump *dump, const struct mxq_map_plan *in_map,
                    enum mxq_map_swizzle out_swizzle, int x, int y, char text[EMU_TEXT]) {
  const uint32_t row = in_map->box[0];
  struct mxq_map_plan out_map = {.element = MXQ_MAP_U8,
                                 .swizzle = out_swizzle,
                                 .rank = 3,
                                 .dims = {row, TINY_TILE / row, 1},
                                 .strides_bytes = {row, TINY_TILE},
                                 .box = {row, TINY_TILE / row, 1}};
  struct emu_region regions[] = {{"in", dump->in, sizeof dump->in, 0, dump->in_marks},
                                 {"out", dump->out, sizeof dump->out, 1, dump->out_marks},
                                 {"dump", dump->dump, sizeof dump->dump, 1, dump->dump_marks}};
  struct tiny_args args = {.dump = dump->dump, .x = x, .y = y};
  const struct emu_launch launch = {tiny_dump, &args,   TINY_THREADS,  1, TINY_SHARED, 7,
                                    0,         regions, COUNT(regions)};
  memset(dump, 0, sizeof *dump);
  for (size_t i = 0; i < sizeof dump->in; i++) {
    dump->in[i] = (unsigned char)(1 + i % 255);
    dump->in_marks[i].real = i % columns < columns - 16; /* the last of each row are a gap */
  }
  assert_true(emu_map_encode(in_map, dump->in, &args.in, text));
  assert_true(emu_map_encode(&out_map, dump->out, &args.out, text));
  return emu_launch_run(&launch, text);
}

static unsigned char wanted(const struct dump *dump, const struct mxq_map_plan *map, int x, int y) {
  if (x < 0 || y < 0 || x >= (int)map->dims[0] || y >= (int)map->dims[1]) return 0;
  return dump->in[y * columns + x];
}

static void test_outside_is_zero(void **state) {
  static struct dump dump;
  static const int corners[][2] = {{0, 0}, {-16, -3}, {112, 9}, {-200, 0}, {0, 400}, {48, 4}};
  struct mxq_map_plan map = box_map;
  char text[EMU_TEXT];
  (void)state;
  map.dims[0] = columns - 16;
  for (size_t c = 0; c < COUNT(corners); c++) {
    const int x = corners[c][0], y = corners[c][1];
    if (!run_dump(&dump, &map, MXQ_MAP_SWIZZLE_NONE, x, y, text)) fail_msg("%s", text);
    for (int i = 0; i < TINY_TILE; i++)
      assert_int_equal(dump.dump[i], wanted(&dump, &map, x + i % TINY_ROW, y + i / TINY_ROW));
    assert_memory_equal(dump.out, dump.dump, TINY_TILE);
  }
}

/* CUDA C++ Programming Guide, "TMA Swizzle": of 128 bytes, sixteen-byte piece c of row r stands at
 * piece c ^ (r % 8); of 64 bytes at c ^ (r / 2 % 4); of 32 bytes at c ^ (r / 4 % 2). */
static void check_swizzle(enum mxq_map_swizzle swizzle, int span, int rows_of_piece, int pieces) {
  static struct dump dump;
  struct mxq_map_plan map = box_map;
  char text[EMU_TEXT];
  map.swizzle = swizzle;
  map.box[0] = (uint32_t)span;
  map.box[1] = (uint32_t)(TINY_TILE / span);
  map.dims[0] = columns - 16;
  if (!run_dump(&dump, &map, swizzle, 0, 0, text)) fail_msg("%s", text);
  for (int r = 0; r < TINY_TILE / span; r++)
    for (int i = 0; i < span; i++) {
      const int piece = (i / 16) ^ (r / rows_of_piece % pieces);
      assert_int_equal(dump.dump[r * span + piece * 16 + i % 16], wanted(&dump, &map, i, r));
      assert_int_equal(dump.out[r * span + i], wanted(&dump, &map, i, r));
    }
}

static void test_swizzles(void **state) {
  (void)state;
  check_swizzle(MXQ_MAP_SWIZZLE_128B, 128, 1, 8);
  check_swizzle(MXQ_MAP_SWIZZLE_64B, 64, 2, 4);
  check_swizzle(MXQ_MAP_SWIZZLE_32B, 32, 4, 2);
}

static void test_reads_beside_elements(void **state) {
  static struct dump dump;
  struct mxq_map_plan map = box_map;
  char text[EMU_TEXT];
  (void)state;
  assert_false(run_dump(&dump, &box_map, MXQ_MAP_SWIZZLE_NONE, 32, 0, text));
  assert_non_null(strstr(text, "byte 144 of in, which belongs to no element"));
  map.dims[1] = 3 * rows;
  map.dims[0] = columns - 16;
  assert_false(run_dump(&dump, &map, MXQ_MAP_SWIZZLE_NONE, 0, depth * rows - 4, text));
  assert_non_null(strstr(text, "outside of its"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_limits_of_maps),
      cmocka_unit_test(test_outside_is_zero),
      cmocka_unit_test(test_swizzles),
      cmocka_unit_test(test_reads_beside_elements),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
