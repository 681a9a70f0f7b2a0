/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "async.h"
#include "barrier.h"
#include "bulk.h"
#include "clock.h"
#include "place.h"
#include "primitives.h"
#include "shared.h"
#include "shuffle.h"
#include "team.h"

enum { often = 64 }; /* one primitive in so many gives way though it need not, on average */
static const uint64_t very_many = 400000000, launch_max = 2000000000;

struct emu_machine emu;
atomic_uint emu_launches;
_Atomic uint64_t emu_primitives;

#if EMU_THREADS
static _Thread_local uint64_t random_state;
static _Thread_local unsigned primitives_left;
#define RANDOM random_state
#define LEFT   primitives_left
#else
#define RANDOM emu.random
#define LEFT   emu.left /* until somebody else goes on */
#endif

uint32_t emu_random(void) {
  /* Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014. */
  uint64_t x = RANDOM += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return (uint32_t)((x ^ (x >> 31)) >> 32);
}

static _Noreturn void too_many(uint64_t steps) {
  if (steps > emu.launch_end)
    emu_hazard("the launch does not end: %" PRIu64 " primitives are allowed", launch_max);
  emu_hazard("the block does not end: %" PRIu64 " primitives are allowed", emu.steps_max);
}

unsigned emu_enter(const char *what, int line, const char *file) {
  const unsigned thread = emu_team_self();
  emu.stand[thread] = (struct emu_stand){what, file, line};
  const uint64_t steps = atomic_load_explicit(&emu_primitives, memory_order_relaxed) + 1;
  atomic_store_explicit(&emu_primitives, steps, memory_order_relaxed);
  if (steps > emu.steps_end) too_many(steps);
  if (LEFT-- == 0) {
    LEFT = emu_random() % (2 * often);
    emu_team_pause();
  }
  return thread;
}

unsigned emu_thread_id(void) { return emu_team_self(); }
unsigned emu_block_id(void) { return emu.block; }
unsigned emu_grid_size(void) { return emu.launch->grid; }

static int met(void *syncs) { return emu.syncs != *(uint32_t *)syncs; }

/* All threads must stand at the same place: elsewhere the hardware mixes the two up. */
static void meet(unsigned thread) {
  const struct emu_stand *mine = &emu.stand[thread];
  for (unsigned t = 0; t < emu.launch->threads; t++)
    if (emu.stand[t].line != mine->line || strcmp(emu.stand[t].file, mine->file) != 0)
      emu_hazard("block_sync, while thread %u is in the one at %s:%d", t, emu.stand[t].file,
                 emu.stand[t].line);
  emu.arrived = 0;
  emu.syncs++;
  if (!EMU_THREADS) {
    emu_clock_meet();
    emu_shared_meet();
  }
  emu_team_wake();
}

void emu_block_sync(int line, const char *file) {
  const unsigned thread = emu_enter("block_sync", line, file);
  emu_team_lock();
  uint32_t syncs = emu.syncs;
  if (++emu.arrived == emu.launch->threads) meet(thread);
  emu_team_wait(met, &syncs);
  emu_team_unlock();
  emu_team_pause(); /* whoever came last need not be the first to go on */
}

static void check_global(const void *address, unsigned bytes, const char *what) {
  if (bytes > 16 || (bytes & (bytes - 1)) != 0)
    emu_hazard("%s of %u bytes: there are accesses of 1, 2, 4, 8 and 16", what, bytes);
  if ((uintptr_t)address % bytes != 0)
    emu_hazard("%s of %u bytes at an address that is no multiple of %u", what, bytes, bytes);
}

void emu_global_load(const void *from, void *to, unsigned bytes, int line, const char *file) {
  emu_enter("global_load", line, file);
  check_global(from, bytes, "global_load");
  emu_region_read(from, to, bytes, "global_load");
}

void emu_global_store(void *to, const void *from, unsigned bytes, int line, const char *file) {
  const unsigned thread = emu_enter("global_store", line, file);
  check_global(to, bytes, "global_store");
  emu_team_lock();
  emu_region_write(to, from, bytes, &emu.stand[thread], thread);
  emu_team_unlock();
}

static void body(unsigned thread) {
#if EMU_THREADS
  RANDOM = emu.launch->seed * 1000003 + emu.block * 1021 + thread;
#endif
  emu.launch->kernel(emu.launch->args);
  emu_team_lock();
  emu.done[thread] = 1;
  emu.finished++;
  emu_team_wake();
  emu_team_unlock();
}

static int run_block(unsigned block) {
  const struct emu_launch *launch = emu.launch;
  emu.block = block;
  emu.arrived = emu.finished = 0;
  emu.steps_end = emu_primitives + emu.steps_max;
  if (emu.steps_end > emu.launch_end) emu.steps_end = emu.launch_end;
  memset(emu.done, 0, sizeof emu.done);
  memset(emu.stand, 0, sizeof emu.stand);
  memset(emu.shared, (int)(emu_random() | 1),
         launch->shared_bytes); /* it holds anything at first */
  if (!EMU_THREADS) emu_clock_begin(launch->threads);
  emu_shared_begin(launch->shared_bytes);
  emu_barrier_begin();
  emu_shuffle_begin();
  emu_bulk_begin();
  emu_async_begin();
  return emu_team_run(launch->threads, body) && emu_bulk_complete() && emu_async_complete() &&
         emu_barrier_complete();
}

/* Fisher and Yates. */
static void shuffle(unsigned *blocks, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    const unsigned j = emu_random() % (i + 1);
    blocks[i] = blocks[j];
    blocks[j] = i;
  }
}

static int run_blocks(const struct emu_launch *launch) {
  unsigned *blocks = malloc((size_t)launch->grid * sizeof *blocks + 1);
  if (!blocks) abort();
  shuffle(blocks, launch->grid);
  for (unsigned i = 0; i < launch->grid && !emu.failed; i++) run_block(blocks[i]);
  free(blocks);
  for (size_t i = 0; i < launch->region_count && !emu.failed; i++)
    emu_region_complete(&launch->regions[i]);
  return !emu.failed;
}

int emu_launch_run(const struct emu_launch *launch, char text[EMU_TEXT]) {
  memset(&emu, 0, sizeof emu);
  emu.launch = launch;
  emu.text = text;
  emu.steps_max = launch->steps ? launch->steps : very_many;
  emu_place_reset();
  RANDOM = launch->seed;
  text[0] = 0;
  if (launch->threads == 0 || launch->threads > EMU_THREADS_MAX) {
    emu_hazard_at(NULL, 0, "%u threads in a block: not from 1 to %d", launch->threads,
                  EMU_THREADS_MAX);
    return 0;
  }
  if (launch->grid > EMU_GRID_MAX) {
    emu_hazard_at(NULL, 0, "%u blocks: the emulator runs at most %d", launch->grid, EMU_GRID_MAX);
    return 0;
  }
  emu.shared = malloc(launch->shared_bytes + 1);
  if (!emu.shared) abort();
  emu.launch_end = emu_primitives + launch_max;
  emu_launches++;
  const int clean = run_blocks(launch);
  emu_launches++;
  free(emu.shared);
  return clean;
}
