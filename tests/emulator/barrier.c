/* SPDX-License-Identifier: MIT */
#include "barrier.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "place.h"
#include "primitives.h"
#include "shared.h"
#include "team.h"

enum { tx_max = (1 << 20) - 1 }; /* PTX ISA, "Tracking asynchronous operations by mbarrier" */

struct barrier {
  unsigned offset;
  unsigned arrivals;           /* of each phase */
  unsigned pending;            /* still to come in this phase */
  int64_t expected;            /* bytes, of this phase */
  uint32_t phase;              /* how many have completed */
  struct emu_stand expect;     /* the last one of this phase */
  struct emu_known arriving;   /* what the arrivals so far know */
  struct emu_known *completed; /* what the completed phases order before a wait; NULL: none yet */
};

/* A load on its way. */
struct flight {
  struct emu_box box;
  unsigned barrier;
};

static struct barrier barriers[EMU_BARRIERS_MAX];
static unsigned used;
static struct flight *flights;
static unsigned flying, room;

void emu_barrier_begin(void) {
  for (unsigned i = 0; i < used; i++) emu_clock_drop(barriers[i].completed);
  used = flying = 0;
}

static struct barrier *find(unsigned thread, unsigned offset) {
  for (unsigned i = 0; i < used; i++)
    if (barriers[i].offset == offset) {
      emu_shared_barrier_use(thread, offset, 0);
      return &barriers[i];
    }
  emu_hazard("%s on a barrier at 0x%x, where none was initialized", emu.stand[thread].what, offset);
}

static int64_t bytes_flying(unsigned barrier) {
  int64_t bytes = 0;
  for (unsigned i = 0; i < flying; i++)
    if (flights[i].barrier == barrier) bytes += flights[i].box.bytes;
  return bytes;
}

/* What lies outside of the tensor arrives as zeros. */
static void land(const struct emu_box *box) {
  const unsigned width = box->bytes / emu_box_rows(box);
  unsigned char bytes[256 * 4];
  for (unsigned r = 0; r < emu_box_rows(box); r++) {
    const struct emu_row row = emu_box_row(box, r);
    memset(bytes, 0, width);
    if (row.bytes) emu_region_read(row.global, bytes + row.skip, row.bytes, "map_load");
    EMU_EACH_PIECE(piece, box, r, 0, width)
    emu_shared_load_end(piece.at, bytes + piece.from, piece.bytes);
  }
}

static void land_all(unsigned barrier) {
  const unsigned first = flying ? emu_random() % flying : 0;
  unsigned kept = 0;
  for (unsigned i = 0; i < flying; i++) {
    const struct flight *flight = &flights[(first + i) % flying];
    if (flight->barrier == barrier) land(&flight->box);
  }
  for (unsigned i = 0; i < flying; i++)
    if (flights[i].barrier != barrier) flights[kept++] = flights[i];
  flying = kept;
}

/* The phase completes once all have arrived and the loads on their way bring what they expect. */
static void try_complete(struct barrier *barrier) {
  const unsigned index = (unsigned)(barrier - barriers);
  const int64_t bytes = bytes_flying(index);
  if (barrier->pending) return;
  if (bytes > barrier->expected)
    emu_hazard(
        "the barrier at 0x%x expects %" PRId64 " bytes (%s:%d), but its loads bring %" PRId64,
        barrier->offset, barrier->expected, barrier->expect.file, barrier->expect.line, bytes);
  if (bytes < barrier->expected) return;
  land_all(index);
  barrier->phase++;
  barrier->pending = barrier->arrivals;
  barrier->expected = 0;
  if (!EMU_THREADS) {
    barrier->arriving.count[emu_clock_engine(index)] = barrier->phase;
    emu_clock_drop(barrier->completed);
    barrier->completed = emu_clock_keep(&barrier->arriving);
  }
  emu_team_wake();
}

struct waiting {
  struct barrier *barrier;
  unsigned parity;
};

static int ready(void *context) {
  const struct waiting *waiting = context;
  if (waiting->barrier->phase % 2 == waiting->parity) try_complete(waiting->barrier);
  return waiting->barrier->phase % 2 != waiting->parity;
}

void emu_barrier_init(unsigned offset, unsigned arrivals, int line, const char *file) {
  const unsigned thread = emu_enter("barrier_init", line, file);
  emu_shared_check(offset, 8, 8, "barrier_init");
  emu_team_lock();
  for (unsigned i = 0; i < used; i++)
    if (barriers[i].offset == offset)
      emu_hazard("barrier_init of the barrier at 0x%x a second time", offset);
  if (used == EMU_BARRIERS_MAX)
    emu_hazard("more than the %d barriers that the emulator knows", EMU_BARRIERS_MAX);
  if (arrivals == 0 || arrivals > tx_max)
    emu_hazard("barrier_init with %u arrivals: not from 1 to %d", arrivals, tx_max);
  emu_shared_barrier_init(thread, offset);
  struct barrier *barrier = &barriers[used++];
  memset(barrier, 0, sizeof *barrier);
  barrier->offset = offset;
  barrier->arrivals = barrier->pending = arrivals;
  emu_team_unlock();
}

void emu_barrier_expect(unsigned offset, unsigned bytes, int line, const char *file) {
  const unsigned thread = emu_enter("barrier_expect", line, file);
  emu_team_lock();
  struct barrier *barrier = find(thread, offset);
  if (!barrier->pending)
    emu_hazard(
        "arrival on the barrier at 0x%x, whose phase %u has all its arrivals and was not "
        "waited for",
        offset, barrier->phase);
  barrier->expected += bytes;
  barrier->expect = emu.stand[thread];
  if (barrier->expected > tx_max)
    emu_hazard("the barrier at 0x%x expects %" PRId64 " bytes: more than %d", offset,
               barrier->expected, tx_max);
  barrier->pending--;
  if (!EMU_THREADS) emu_clock_release(thread, &barrier->arriving);
  if (bytes_flying((unsigned)(barrier - barriers)) == 0) try_complete(barrier);
  emu_team_wake();
  emu_team_unlock();
}

void emu_barrier_wait(unsigned offset, unsigned parity, int line, const char *file) {
  const unsigned thread = emu_enter("barrier_wait", line, file);
  emu_team_lock();
  struct waiting waiting = {find(thread, offset), parity & 1};
  emu_team_wait(ready, &waiting);
  if (!EMU_THREADS && waiting.barrier->completed)
    emu_clock_acquire(thread, waiting.barrier->completed);
  emu_team_unlock();
}

void emu_fence_async_shared(int line, const char *file) {
  const unsigned thread = emu_enter("fence_async_shared", line, file);
  if (!EMU_THREADS) emu_clock_fence(thread);
}

void emu_barrier_load(unsigned thread, unsigned offset, const struct emu_box *box) {
  const struct barrier *barrier = find(thread, offset);
  const unsigned index = (unsigned)(barrier - barriers);
  const unsigned width = box->bytes / emu_box_rows(box);
  const struct emu_arrival arrival = {
      emu_clock_engine(index), barrier->phase + 1,
      EMU_THREADS ? (uint16_t)0 : emu_place_of(box->stand.file, box->stand.line),
      (unsigned char)emu_random()};
  emu_shared_barrier_use(thread, offset, 1);
  for (unsigned r = 0; r < emu_box_rows(box); r++) EMU_EACH_PIECE(piece, box, r, 0, width)
  emu_shared_load_begin(thread, piece.at, piece.bytes, &arrival);
  if (flying == room) {
    room = room ? 2 * room : 16;
    flights = realloc(flights, room * sizeof *flights);
    if (!flights) abort();
  }
  flights[flying++] = (struct flight){*box, index};
  emu_team_wake();
}

void emu_barrier_describe(char *text, size_t size) {
  size_t length = 0;
  text[0] = 0;
  for (unsigned i = 0; i < used && length < size; i++) {
    const struct barrier *barrier = &barriers[i];
    const struct emu_stand *stand = &barrier->expect;
    length +=
        (size_t)snprintf(text + length, size - length,
                         "; the barrier at 0x%x in its phase %u lacks %u arrivals, expects %" PRId64
                         " bytes (%s:%d), and loads on their way bring %" PRId64,
                         barrier->offset, barrier->phase, barrier->pending, barrier->expected,
                         stand->file ? stand->file : "nobody", stand->line, bytes_flying(i));
  }
}

int emu_barrier_complete(void) {
  if (!flying) return 1;
  emu_hazard_at(&flights[0].box.stand, 0,
                "the block ended while this load was on its way: nobody waited for it");
  return 0;
}
