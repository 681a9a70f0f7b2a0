/* SPDX-License-Identifier: MIT */
#include "shared.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "place.h"
#include "primitives.h"
#include "team.h"

#define PLACE(what) emu_place_text((what)->place).text

enum kind { kind_empty, kind_data, kind_landing, kind_barrier };

struct byte {
  uint32_t count; /* of the writer, when it wrote */
  uint32_t reads; /* the first of the reads since, an index; 0 none */
  uint32_t syncs; /* of the block when that list was begun: older ones are empty */
  uint16_t writer;
  uint16_t place;
  uint8_t kind;
  uint8_t sources; /* stores of the copy engine that will read it */
};

/* Reads of a byte by different threads that are not ordered one after the other. */
struct read {
  uint32_t count;
  uint32_t next;
  uint16_t thread;
  uint16_t place;
};

static struct byte *bytes_of;
static unsigned size, room;
static struct read *reads;
static uint32_t reads_used, reads_room;

void emu_shared_begin(unsigned bytes) {
  if (bytes > room) {
    bytes_of = realloc(bytes_of, bytes * sizeof *bytes_of);
    if (!bytes_of) abort();
    room = bytes;
  }
  size = bytes;
  reads_used = 1;
  if (bytes) memset(bytes_of, 0, bytes * sizeof *bytes_of);
}

void emu_shared_meet(void) { reads_used = 1; }

void emu_shared_check(unsigned offset, unsigned bytes, unsigned alignment, const char *what) {
  const unsigned end = emu.launch->shared_bytes;
  if (bytes % alignment != 0 || (alignment & (alignment - 1)) != 0)
    emu_hazard("%s of %u bytes: there are accesses of 1, 2, 4, 8 and 16", what, bytes);
  if (offset > end || bytes > end - offset)
    emu_hazard("%s of %u bytes at shared offset 0x%x, past the block's %u bytes", what, bytes,
               offset, end);
  if (offset % alignment != 0)
    emu_hazard("%s of %u bytes at shared offset 0x%x, which is no multiple of %u", what, bytes,
               offset, alignment);
}

static uint32_t first_read(const struct byte *byte) {
  return byte->syncs == emu.syncs ? byte->reads : 0;
}

static uint32_t new_read(void) {
  if (reads_used >= reads_room) {
    reads_room = reads_room ? 2 * reads_room : 65536;
    reads = realloc(reads, reads_room * sizeof *reads);
    if (!reads) abort();
  }
  return reads_used++;
}

/* Reads that are ordered before this one say nothing that it does not say. */
static void add_read(struct byte *byte, unsigned thread, uint16_t place) {
  uint32_t kept = 0, spare = 0, next;
  for (uint32_t i = first_read(byte); i; i = next) {
    next = reads[i].next;
    if (emu_clock_ordered(thread, reads[i].thread, reads[i].count)) {
      spare = i;
    } else {
      reads[i].next = kept;
      kept = i;
    }
  }
  if (!spare) spare = new_read();
  reads[spare] = (struct read){emu_clock_now(thread), kept, (uint16_t)thread, place};
  byte->reads = spare;
  byte->syncs = emu.syncs;
}

static int by_engine(const struct byte *byte) { return byte->writer >= emu_clock_engine(0); }

/* Hazard unless the byte holds data whose write is ordered before what the thread does now. */
static void check_data(unsigned thread, unsigned at, const char *what) {
  const struct byte *byte = &bytes_of[at];
  if (byte->kind == kind_empty) emu_hazard("%s of shared byte 0x%x, which nobody wrote", what, at);
  if (byte->kind == kind_barrier) emu_hazard("%s of shared byte 0x%x of a barrier", what, at);
  if (byte->kind == kind_landing)
    emu_hazard("%s of shared byte 0x%x before the barrier of its load (%s) completed", what, at,
               PLACE(byte));
  if (emu_clock_ordered(thread, byte->writer, byte->count)) return;
  if (by_engine(byte))
    emu_hazard(
        "%s of shared byte 0x%x, loaded by the copy engine (%s), without a wait on its "
        "barrier",
        what, at, PLACE(byte));
  emu_hazard(
      "%s of shared byte 0x%x, which thread %u wrote (%s), with nothing between that orders "
      "the two",
      what, at, byte->writer, PLACE(byte));
}

/* Hazard unless everything that was done with the byte is ordered before a write of it now. */
static void check_overwrite(unsigned thread, unsigned at, const char *what) {
  const struct byte *byte = &bytes_of[at];
  if (byte->kind == kind_barrier) emu_hazard("%s over the barrier at 0x%x", what, at & ~7u);
  if (byte->kind == kind_landing)
    emu_hazard("%s over shared byte 0x%x, to which a load (%s) is on its way", what, at,
               PLACE(byte));
  if (byte->sources)
    emu_hazard(
        "%s over shared byte 0x%x before its bulk store has read it: no wait for reading "
        "covers that store yet",
        what, at);
  if (byte->kind == kind_data && !emu_clock_ordered(thread, byte->writer, byte->count))
    emu_hazard(
        "%s over shared byte 0x%x, which %s wrote (%s), with nothing between that orders "
        "the two",
        what, at, by_engine(byte) ? "the copy engine" : "another thread", PLACE(byte));
  for (uint32_t i = first_read(byte); i; i = reads[i].next)
    if (!emu_clock_ordered(thread, reads[i].thread, reads[i].count))
      emu_hazard(
          "%s over shared byte 0x%x, which thread %u reads (%s), with nothing between that "
          "orders the two",
          what, at, reads[i].thread, PLACE(&reads[i]));
}

/* Hazard unless the writer fenced after its write, and then synchronized with the thread. */
static void check_fenced(unsigned thread, unsigned at, const char *what) {
  const struct byte *byte = &bytes_of[at];
  int fenced;
  if (byte->kind == kind_empty || by_engine(byte)) return;
  if (emu_clock_fenced(thread, byte->writer, byte->count, &fenced)) return;
  emu_hazard("%s of shared byte 0x%x, which thread %u wrote (%s) and %s", what, at, byte->writer,
             PLACE(byte),
             fenced ? "fenced too late: nothing orders that fence before the copy engine"
                    : "did not fence: the copy engine may not see it");
}

static void put(unsigned at, enum kind kind, unsigned writer, uint32_t count, uint16_t place) {
  bytes_of[at] = (struct byte){
      .count = count, .writer = (uint16_t)writer, .place = place, .kind = (uint8_t)kind};
}

static void note_load(unsigned thread, unsigned offset, unsigned bytes, uint16_t place) {
  for (unsigned i = offset; i < offset + bytes; i++) {
    check_data(thread, i, "shared_load");
    add_read(&bytes_of[i], thread, place);
  }
}

static void note_store(unsigned thread, unsigned offset, unsigned bytes, const char *what,
                       enum kind kind, uint16_t place) {
  for (unsigned i = offset; i < offset + bytes; i++) {
    check_overwrite(thread, i, what);
    put(i, kind, thread, emu_clock_now(thread), place);
  }
}

void emu_shared_load(unsigned offset, void *to, unsigned bytes, int line, const char *file) {
  const unsigned thread = emu_enter("shared_load", line, file);
  emu_shared_check(offset, bytes, bytes, "shared_load");
  if (!EMU_THREADS) note_load(thread, offset, bytes, emu_place_of(file, line));
  memcpy(to, emu.shared + offset, bytes);
}

void emu_shared_store(unsigned offset, const void *from, unsigned bytes, int line,
                      const char *file) {
  const unsigned thread = emu_enter("shared_store", line, file);
  emu_shared_check(offset, bytes, bytes, "shared_store");
  if (!EMU_THREADS)
    note_store(thread, offset, bytes, "shared_store", kind_data, emu_place_of(file, line));
  memcpy(emu.shared + offset, from, bytes);
}

void emu_shared_barrier_init(unsigned thread, unsigned offset) {
  const struct emu_stand *stand = &emu.stand[thread];
  if (!EMU_THREADS)
    note_store(thread, offset, 8, "barrier_init", kind_barrier,
               emu_place_of(stand->file, stand->line));
}

void emu_shared_barrier_use(unsigned thread, unsigned offset, int engine) {
  const struct byte *byte = &bytes_of[offset];
  if (EMU_THREADS) return;
  if (!emu_clock_ordered(thread, byte->writer, byte->count))
    emu_hazard(
        "%s on the barrier at 0x%x, which thread %u initialized (%s), with nothing between "
        "that orders the two",
        emu.stand[thread].what, offset, byte->writer, PLACE(byte));
  if (engine) check_fenced(thread, offset, "use by the copy engine");
}

void emu_shared_load_begin(unsigned thread, unsigned at, const struct emu_arrival *arrival) {
  emu.shared[at] = arrival->poison;
  if (EMU_THREADS) return;
  check_overwrite(thread, at, "map_load");
  check_fenced(thread, at, "map_load over the bytes");
  put(at, kind_landing, arrival->party, arrival->count, arrival->place);
}

void emu_shared_load_end(unsigned at, unsigned char value) {
  emu.shared[at] = value;
  if (!EMU_THREADS) bytes_of[at].kind = kind_data;
}

void emu_shared_source_begin(unsigned thread, unsigned at) {
  if (EMU_THREADS) return;
  check_data(thread, at, "map_store");
  check_fenced(thread, at, "map_store");
  if (bytes_of[at].sources < UINT8_MAX) bytes_of[at].sources++;
}

unsigned char emu_shared_source_end(unsigned thread, unsigned at) {
  if (!EMU_THREADS) {
    const struct emu_stand *stand = &emu.stand[thread];
    bytes_of[at].sources--;
    add_read(&bytes_of[at], thread, emu_place_of(stand->file, stand->line));
  }
  return emu.shared[at];
}
