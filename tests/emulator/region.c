/* SPDX-License-Identifier: MIT */
#include "region.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "machine.h"
#include "place.h"

static int holds(const struct emu_region *region, uintptr_t at, uint64_t bytes) {
  const uintptr_t base = (uintptr_t)region->base;
  return at >= base && at - base <= region->size && bytes <= region->size - (at - base);
}

/* The tensor that an address lies in, or else the one whose beginning or end is nearest. */
static const struct emu_region *nearest(uintptr_t at) {
  const struct emu_region *best = NULL;
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i < emu.launch->region_count; i++) {
    const struct emu_region *region = &emu.launch->regions[i];
    const uintptr_t base = (uintptr_t)region->base, end = base + region->size;
    const uint64_t distance = at < base ? base - at : at >= end ? at - end + 1 : 0;
    if (best && distance >= least) continue;
    best = region;
    least = distance;
  }
  return best;
}

static _Noreturn void outside(uintptr_t at, uint64_t bytes, const char *how) {
  const struct emu_region *region = nearest(at);
  if (!region) emu_hazard("%s of %" PRIu64 " bytes at no tensor's address", how, bytes);
  const int64_t offset = (int64_t)(at - (uintptr_t)region->base);
  if (holds(region, at, bytes))
    emu_hazard("%s of %" PRIu64 " bytes at byte %" PRId64 " of %s, which is only %s", how, bytes,
               offset, region->name, region->writable ? "written" : "read");
  emu_hazard("%s of %" PRIu64 " bytes at byte %" PRId64 " of %s, outside of its %" PRIu64 " bytes",
             how, bytes, offset, region->name, region->size);
}

static struct emu_region *find(uintptr_t at, uint64_t bytes, int writable) {
  for (size_t i = 0; i < emu.launch->region_count; i++) {
    struct emu_region *region = &emu.launch->regions[i];
    if (region->writable == writable && holds(region, at, bytes)) return region;
  }
  return NULL;
}

void emu_region_describe(const struct emu_region *region, uint64_t byte, char *text, size_t size) {
  const struct emu_mark *mark = &region->marks[byte];
  if (!mark->written)
    snprintf(text, size, "byte %" PRIu64 " of %s, was never written", byte, region->name);
  else
    snprintf(text, size, "byte %" PRIu64 " of %s: block %u, thread %u wrote it at %s", byte,
             region->name, mark->block, mark->thread, emu_place_text(mark->place).text);
}

void emu_region_write(void *to, const void *from, uint64_t bytes, const struct emu_stand *stand,
                      unsigned thread) {
  struct emu_region *region = find((uintptr_t)to, bytes, 1);
  const struct emu_mark mark = {
      emu.block, (uint16_t)thread, emu_place_of(stand->file, stand->line), 0, 0, 1};
  char before[256];
  if (!region) outside((uintptr_t)to, bytes, stand->what);
  const uint64_t offset = (uint64_t)((unsigned char *)to - region->base);
  for (uint64_t i = offset; i < offset + bytes; i++) {
    if (region->marks[i].gap)
      emu_hazard("%s writes byte %" PRIu64
                 " of %s, which belongs to no element: it lies between rows or matrices",
                 stand->what, i, region->name);
    if (region->marks[i].written) {
      emu_region_describe(region, i, before, sizeof before);
      emu_hazard("%s writes a second time %s", stand->what, before);
    }
    region->marks[i] = mark;
  }
  memcpy(to, from, bytes);
}

void emu_region_read(const void *from, void *to, uint64_t bytes, const char *how) {
  const struct emu_region *region = find((uintptr_t)from, bytes, 0);
  if (!region) outside((uintptr_t)from, bytes, how);
  const uint64_t offset = (uint64_t)((const unsigned char *)from - region->base);
  for (uint64_t i = 0; i < bytes; i++)
    if (!region->marks[offset + i].real)
      emu_hazard("%s reads byte %" PRIu64
                 " of %s, which belongs to no element: it lies between "
                 "rows or matrices",
                 how, offset + i, region->name);
  memcpy(to, from, bytes);
}

int emu_region_complete(const struct emu_region *region) {
  for (uint64_t i = 0; region->writable && i < region->size; i++) {
    if (region->marks[i].written || region->marks[i].gap) continue;
    emu_hazard_at(NULL, 0, "byte %" PRIu64 " of the %" PRIu64 " of %s was never written", i,
                  region->size, region->name);
    return 0;
  }
  return 1;
}
