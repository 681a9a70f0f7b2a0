/* SPDX-License-Identifier: MIT
 *
 * Shared memory: for every byte who wrote it, when, and who has read it since.
 */
#ifndef EMU_SHARED_H
#define EMU_SHARED_H

#include <stdint.h>

/* Begins a block with `bytes` of shared memory that nobody wrote. */
void emu_shared_begin(unsigned bytes);
/* All threads of the block met: what was read before is ordered before what comes. */
void emu_shared_meet(void);

/* Hazard unless `bytes` at `offset` are inside, and aligned to `alignment`. */
void emu_shared_check(unsigned offset, unsigned bytes, unsigned alignment, const char *what);

/* The eight bytes of a barrier become one, and are used by its thread or by the copy engine. */
void emu_shared_barrier_init(unsigned thread, unsigned offset);
void emu_shared_barrier_use(unsigned thread, unsigned offset, int by_engine);

/* A load of the copy engine that `thread` issues now: bytes are on their way, then there. Their
 * writer is the engine's party for the barrier, at the count that its phase will give. `poison` is
 * what they hold meanwhile. */
struct emu_arrival {
  unsigned party;
  uint32_t count;
  uint16_t place;
  unsigned char poison;
};
void emu_shared_load_begin(unsigned thread, unsigned at, unsigned bytes,
                           const struct emu_arrival *arrival);
void emu_shared_load_end(unsigned at, const unsigned char *from, unsigned bytes);

/* A copy by the thread itself that goes on beside it: its bytes are on their way, then there as if
 * the thread had stored them when it waited. */
void emu_shared_copy_begin(unsigned thread, unsigned at, unsigned bytes);
void emu_shared_copy_end(unsigned thread, unsigned at, const unsigned char *from, unsigned bytes);

/* A store of the copy engine that `thread` issues now: bytes will be read, then were read as if by
 * the thread, which waited for it. */
void emu_shared_source_begin(unsigned thread, unsigned at, unsigned bytes);
void emu_shared_source_end(unsigned thread, unsigned at, unsigned char *to, unsigned bytes);

#endif
