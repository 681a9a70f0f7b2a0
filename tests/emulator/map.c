/* SPDX-License-Identifier: MIT
 *
 * Limits: CUDA driver API, "Tensor Map Object Management", cuTensorMapEncodeTiled, for interleave
 * none and element strides of 1. Swizzle: CUDA C++ Programming Guide, "TMA Swizzle".
 */
#include "map.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shared.h"

_Static_assert(sizeof(struct emu_map) <= sizeof(struct mxq_tensor_map), "a map holds it");

enum { rank = 3 };
static const uint64_t magic = UINT64_C(0x70616D5F757D3B1C);

static const uint8_t element_bytes[] = {[MXQ_MAP_U8] = 1, [MXQ_MAP_U16] = 2, [MXQ_MAP_F32] = 4};
static const uint8_t span_bytes[] = {[MXQ_MAP_SWIZZLE_NONE] = 0,
                                     [MXQ_MAP_SWIZZLE_32B] = 32,
                                     [MXQ_MAP_SWIZZLE_64B] = 64,
                                     [MXQ_MAP_SWIZZLE_128B] = 128};

static int refuse(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int refuse(char *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, EMU_TEXT, format, arguments);
  va_end(arguments);
  return 0;
}

static int check_axis(const struct mxq_map_plan *plan, uint32_t i, char *text) {
  const uint64_t dim = plan->dims[i];
  if (dim == 0 || dim > UINT64_C(1) << 32)
    return refuse(text, "dimension %u is %" PRIu64 ": not from 1 to 2^32", i, dim);
  if (plan->box[i] == 0 || plan->box[i] > 256)
    return refuse(text, "box %u is %u: not from 1 to 256", i, plan->box[i]);
  if (i == 0) return 1;
  const uint64_t stride = plan->strides_bytes[i - 1];
  if (stride % 16 != 0)
    return refuse(text, "stride %u is %" PRIu64 " bytes: no multiple of 16", i, stride);
  if (stride >= UINT64_C(1) << 40)
    return refuse(text, "stride %u is %" PRIu64 " bytes: not below 2^40", i, stride);
  return 1;
}

static int check(const struct mxq_map_plan *plan, const void *base, char *text) {
  if (plan->rank != rank)
    return refuse(text, "rank %u: the copies of these kernels have three coordinates", plan->rank);
  if ((size_t)plan->element >= sizeof element_bytes)
    return refuse(text, "no such element type: %d", (int)plan->element);
  if ((uintptr_t)base % 16 != 0) return refuse(text, "base %p: no multiple of 16", base);
  for (uint32_t i = 0; i < rank; i++)
    if (!check_axis(plan, i, text)) return 0;
  const unsigned inner = plan->box[0] * element_bytes[plan->element];
  if (inner % 16 != 0) return refuse(text, "inner box of %u bytes: no multiple of 16", inner);
  if ((size_t)plan->swizzle >= sizeof span_bytes)
    return refuse(text, "no such swizzle: %d", (int)plan->swizzle);
  const unsigned span = span_bytes[plan->swizzle];
  if (span && inner > span)
    return refuse(text, "inner box of %u bytes: more than the swizzle's %u", inner, span);
  if (span && inner < span) /* how far apart its rows then lie is not documented */
    return refuse(text, "inner box of %u bytes: the emulator knows a swizzle of %u for %u only",
                  inner, span, span);
  return 1;
}

int emu_map_encode(const struct mxq_map_plan *plan, const void *base, struct mxq_tensor_map *map,
                   char text[EMU_TEXT]) {
  struct emu_map made = {.magic = magic, .base = (unsigned char *)(uintptr_t)base};
  if (!check(plan, base, text)) return 0;
  for (uint32_t i = 0; i < rank; i++) {
    made.dims[i] = plan->dims[i];
    made.box[i] = (uint16_t)plan->box[i];
    if (i) made.strides[i - 1] = plan->strides_bytes[i - 1];
  }
  made.element_bytes = element_bytes[plan->element];
  made.span = span_bytes[plan->swizzle];
  memset(map, 0, sizeof *map);
  memcpy(map->bytes, &made, sizeof made);
  return 1;
}

static unsigned row_bytes(const struct emu_map *map) {
  return (unsigned)map->box[0] * map->element_bytes;
}

struct emu_box emu_box_of(unsigned thread, const void *map, unsigned x, unsigned y, unsigned z,
                          unsigned offset) {
  struct emu_box box = {
      .at = {(int32_t)x, (int32_t)y, (int32_t)z}, .offset = offset, .stand = emu.stand[thread]};
  const char *what = box.stand.what;
  if ((uintptr_t)map % 64 != 0) emu_hazard("%s: the tensor map is not aligned to 64 bytes", what);
  memcpy(&box.map, map, sizeof box.map);
  if (box.map.magic != magic) emu_hazard("%s: the argument is no encoded tensor map", what);
  box.bytes = row_bytes(&box.map) * emu_box_rows(&box);
  emu_shared_check(offset, box.bytes, 128, what);
  return box;
}

unsigned emu_box_rows(const struct emu_box *box) {
  return (unsigned)box->map.box[1] * box->map.box[2];
}

struct emu_row emu_box_row(const struct emu_box *box, unsigned index) {
  const struct emu_map *map = &box->map;
  const int64_t y = box->at[1] + (int64_t)(index % map->box[1]);
  const int64_t z = box->at[2] + (int64_t)(index / map->box[1]);
  const int64_t x = box->at[0], width = (int64_t)map->dims[0];
  struct emu_row row = {.index = index};
  const int64_t first = x < 0 ? -x : 0;
  const int64_t end = width - x < map->box[0] ? width - x : map->box[0];
  if (y < 0 || z < 0 || y >= (int64_t)map->dims[1] || z >= (int64_t)map->dims[2] || end <= first)
    return row;
  row.skip = (unsigned)first * map->element_bytes;
  row.bytes = (unsigned)(end - first) * map->element_bytes;
  row.global = map->base + (uint64_t)(x + first) * map->element_bytes +
               (uint64_t)y * map->strides[0] + (uint64_t)z * map->strides[1];
  return row;
}

/* The pattern comes from the address, whose bits from 4 on are xored with those from 7 on, as many
 * as count the 16-byte pieces of the span: shared memory begins at a multiple of 1024. */
struct emu_piece emu_box_piece(const struct emu_box *box, unsigned row, unsigned from,
                               unsigned end) {
  const unsigned span = box->map.span, at = box->offset + row * row_bytes(&box->map) + from;
  const unsigned left = end - from, chunk = 16 - at % 16;
  if (!span) return (struct emu_piece){from, left, at};
  return (struct emu_piece){from, left < chunk ? left : chunk, at ^ (at >> 3 & (span - 16))};
}
