/* SPDX-License-Identifier: MIT */
#include "bulk.h"

#include <stdlib.h>
#include <string.h>

#include "barrier.h"
#include "primitives.h"
#include "shared.h"
#include "team.h"

/* A store that has not read its shared memory yet. */
struct store {
  struct emu_box box;
  unsigned thread;
  int committed;
};

static struct store *stores;
static unsigned used, room;
static unsigned char issued[EMU_THREADS_MAX];
static struct emu_stand waited[EMU_THREADS_MAX]; /* the last wait of each thread */

void emu_bulk_begin(void) {
  used = 0;
  memset(issued, 0, sizeof issued);
  memset(waited, 0, sizeof waited);
}

void emu_map_load(unsigned offset, const void *map, unsigned x, unsigned y, unsigned z,
                  unsigned barrier, int line, const char *file) {
  const unsigned thread = emu_enter("map_load", line, file);
  emu_team_lock();
  const struct emu_box box = emu_box_of(thread, map, x, y, z, offset);
  emu_barrier_load(thread, barrier, &box);
  emu_team_unlock();
}

static void begin_sources(unsigned thread, const struct emu_box *box) {
  for (unsigned r = 0; r < emu_box_rows(box); r++) {
    const struct emu_row row = emu_box_row(box, r);
    EMU_EACH_PIECE(piece, box, r, row.skip, row.skip + row.bytes)
    emu_shared_source_begin(thread, piece.at, piece.bytes);
  }
}

void emu_map_store(const void *map, unsigned x, unsigned y, unsigned z, unsigned offset, int line,
                   const char *file) {
  const unsigned thread = emu_enter("map_store", line, file);
  emu_team_lock();
  const struct emu_box box = emu_box_of(thread, map, x, y, z, offset);
  begin_sources(thread, &box);
  if (used == room) {
    room = room ? 2 * room : 16;
    stores = realloc(stores, room * sizeof *stores);
    if (!stores) abort();
  }
  stores[used++] = (struct store){box, thread, 0};
  issued[thread] = 1;
  emu_team_unlock();
}

void emu_bulk_commit(int line, const char *file) {
  const unsigned thread = emu_enter("bulk_commit", line, file);
  emu_team_lock();
  for (unsigned i = 0; i < used; i++)
    if (stores[i].thread == thread) stores[i].committed = 1;
  emu_team_unlock();
}

static void read_sources(const struct store *store) {
  const struct emu_box *box = &store->box;
  unsigned char bytes[256 * 4];
  for (unsigned r = 0; r < emu_box_rows(box); r++) {
    const struct emu_row row = emu_box_row(box, r);
    EMU_EACH_PIECE(piece, box, r, row.skip, row.skip + row.bytes)
    emu_shared_source_end(store->thread, piece.at, bytes + piece.from, piece.bytes);
    if (row.bytes)
      emu_region_write(row.global, bytes + row.skip, row.bytes, &box->stand, store->thread);
  }
}

void emu_bulk_wait_read(int line, const char *file) {
  const unsigned thread = emu_enter("bulk_wait_read", line, file);
  unsigned kept = 0;
  emu_team_lock();
  waited[thread] = emu.stand[thread];
  for (unsigned i = 0; i < used; i++) {
    if (stores[i].thread == thread && stores[i].committed)
      read_sources(&stores[i]);
    else
      stores[kept++] = stores[i];
  }
  used = kept;
  emu_team_unlock();
}

int emu_bulk_complete(void) {
  for (unsigned i = 0; i < used; i++) {
    emu_hazard_at(&stores[i].box.stand, stores[i].thread,
                  "the block ended before this bulk store had read its shared memory: %s",
                  stores[i].committed ? "its thread did not wait for reading after the commit"
                                      : "its group was never committed");
    return 0;
  }
  const int any = memchr(issued, 1, emu.launch->threads) != NULL;
  for (unsigned t = 0; any && t < emu.launch->threads; t++) {
    if (!waited[t].what || issued[t]) continue;
    emu_hazard_at(&waited[t], t,
                  "waits for the bulk stores of its own thread, which issues none: other threads' "
                  "stores are not waited for");
    return 0;
  }
  return 1;
}
