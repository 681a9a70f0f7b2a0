/* SPDX-License-Identifier: MIT
 *
 * What the lanes of a warp tell each other. All 32 must come to the same shuffle: on a device a
 * lane that is missing leaves the others without a defined value. A shuffle orders no memory.
 */
#include "shuffle.h"

#include <string.h>

#include "machine.h"
#include "primitives.h"
#include "team.h"

enum { lanes = 32, warps_max = EMU_THREADS_MAX / lanes };

struct warp {
  unsigned arrived;
  uint32_t done;             /* shuffles that all lanes came to */
  unsigned values[2][lanes]; /* of this one and of the one before, which somebody may still read */
  unsigned masks[lanes];
};

static struct warp warps[warps_max];

void emu_shuffle_begin(void) { memset(warps, 0, sizeof warps); }

int emu_shuffle_waits(void) {
  for (unsigned w = 0; w < warps_max; w++)
    if (warps[w].arrived) return 1;
  return 0;
}

struct turn {
  const struct warp *warp;
  uint32_t done;
};

static int all_came(void *context) {
  const struct turn *turn = context;
  return turn->warp->done != turn->done;
}

static void check_lanes(const struct warp *warp, unsigned thread) {
  const unsigned first = thread - thread % lanes;
  const struct emu_stand *mine = &emu.stand[thread];
  for (unsigned lane = 0; lane < lanes; lane++) {
    const struct emu_stand *other = &emu.stand[first + lane];
    if (other->line != mine->line || strcmp(other->file, mine->file) != 0)
      emu_hazard("shuffle_xor, while thread %u of the warp is in the one at %s:%d", first + lane,
                 other->file, other->line);
    if (warp->masks[lane] != warp->masks[thread % lanes])
      emu_hazard("shuffle_xor with mask %u, while thread %u of the warp has mask %u",
                 warp->masks[thread % lanes], first + lane, warp->masks[lane]);
  }
}

unsigned emu_shuffle_xor(unsigned value, unsigned mask, int line, const char *file) {
  const unsigned thread = emu_enter("shuffle_xor", line, file), lane = thread % lanes;
  const unsigned whole = emu.launch->threads / lanes * lanes;
  struct warp *warp = &warps[thread / lanes];
  if (mask >= lanes) emu_hazard("shuffle_xor with mask %u: a warp has %d lanes", mask, lanes);
  if (thread >= whole)
    emu_hazard("shuffle_xor in a warp of %u threads: all %d lanes take part",
               emu.launch->threads - whole, lanes);
  emu_team_lock();
  struct turn turn = {warp, warp->done};
  const unsigned *values = warp->values[warp->done % 2];
  warp->values[warp->done % 2][lane] = value;
  warp->masks[lane] = mask;
  if (++warp->arrived == lanes) {
    check_lanes(warp, thread);
    warp->arrived = 0;
    warp->done++;
    emu_team_wake_some(thread - lane, lanes);
  }
  emu_team_wait(all_came, &turn);
  const unsigned theirs = values[lane ^ mask];
  emu_team_unlock();
  return theirs;
}
