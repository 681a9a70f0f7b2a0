/* SPDX-License-Identifier: MIT
 *
 * The machine that runs one launch: blocks one after the other, the threads of a block as fibers
 * under a seeded scheduler. The first hazard ends the launch.
 *
 * Under the thread sanitizer (EMU_THREADS) the threads are threads of the system (team_threads.c);
 * it then watches shared memory in place of the clocks here.
 */
#ifndef EMU_MACHINE_H
#define EMU_MACHINE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "region.h"
#include "sanitizers.h"

enum { EMU_THREADS_MAX = 1024, EMU_BARRIERS_MAX = 64, EMU_GRID_MAX = 1 << 20, EMU_TEXT = 2048 };

struct emu_launch {
  void (*kernel)(const void *args);
  const void *args;
  unsigned threads; /* of a block */
  unsigned grid;
  unsigned shared_bytes;
  uint64_t seed;
  uint64_t steps;             /* primitives after which a block counts as endless; 0: very many */
  struct emu_region *regions; /* the global memory that the kernel may touch */
  size_t region_count;
};

/* 1 if the launch ended without a hazard; otherwise 0 and what was found, with its template's file
 * and line, block and thread. */
int emu_launch_run(const struct emu_launch *launch, char text[EMU_TEXT]);

/* ---- For the parts of the machine ---------------------------------------------------------- */

/* What one thread does right now, for messages. */
struct emu_stand {
  const char *what;
  const char *file;
  int line;
};

struct emu_machine {
  const struct emu_launch *launch;
  unsigned block;
  unsigned char *shared; /* of the block */
  struct emu_stand stand[EMU_THREADS_MAX];
  unsigned char done[EMU_THREADS_MAX];
  unsigned arrived;   /* threads in block_sync */
  unsigned finished;  /* threads that returned */
  uint32_t syncs;     /* block_syncs that completed */
  uint64_t steps_end; /* what emu_primitives may reach in this block */
  uint64_t steps_max; /* of a block */
  uint64_t launch_end;
  uint64_t random;
  unsigned left; /* primitives until another thread goes on */
  int failed;
  char *text;
};
extern struct emu_machine emu;

/* For whoever watches from outside: odd while a launch runs; the primitives of all launches. With
 * threads of the system some are not counted. */
extern atomic_uint emu_launches;
extern _Atomic uint64_t emu_primitives;

uint32_t emu_random(void);

/* Every primitive that touches memory or synchronizes begins here. Gives the thread's number. */
unsigned emu_enter(const char *what, int line, const char *file);

/* Ends the launch with the text "file:line: block b, thread t: ..." of the thread's stand. */
_Noreturn void emu_hazard(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Only records; for what is found after a block's threads ended. */
void emu_hazard_at(const struct emu_stand *stand, unsigned thread, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Records that no thread can go on. */
void emu_hazard_stuck(void);

#endif
