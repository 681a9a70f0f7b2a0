/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "barrier.h"
#include "machine.h"
#include "shuffle.h"
#include "team.h"

/* Appends to the launch's text. */
static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...) {
  const size_t used = strlen(emu.text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(emu.text + used, EMU_TEXT - used, format, arguments);
  va_end(arguments);
}

/* Only the first hazard is kept. */
static int begin(const struct emu_stand *stand, unsigned thread) {
  if (emu.failed) return 0;
  emu.failed = 1;
  emu.text[0] = 0;
  if (stand && stand->file)
    say("%s:%d: block %u, thread %u: ", stand->file, stand->line, emu.block, thread);
  return 1;
}

void emu_hazard(const char *format, ...) {
  const unsigned thread = emu_team_self();
  char text[EMU_TEXT];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  emu_team_lock();
  if (begin(&emu.stand[thread], thread)) say("%s", text);
  emu_team_abort();
}

void emu_hazard_at(const struct emu_stand *stand, unsigned thread, const char *format, ...) {
  char text[EMU_TEXT];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (begin(stand, thread)) say("%s", text);
}

enum { groups_max = 8 }; /* that a text lists */

static int same(unsigned a, unsigned b) {
  const struct emu_stand *x = &emu.stand[a], *y = &emu.stand[b];
  return emu.done[a] == emu.done[b] &&
         (emu.done[a] || (x->line == y->line && !strcmp(x->what, y->what)));
}

void emu_hazard_stuck(void) {
  const unsigned threads = emu.launch->threads;
  const struct emu_stand *stand = NULL;
  unsigned first = 0;
  char barriers[EMU_TEXT / 2];
  for (unsigned t = 0; t < threads && !stand; t++)
    if (!emu.done[t]) stand = &emu.stand[first = t];
  if (!begin(stand, first)) return;
  say("%s", emu_shuffle_waits() ? "shuffle_xor is not reached by the whole warp:"
            : emu.arrived       ? "block_sync is not reached by all threads:"
                                : "no thread can go on: a phase of a barrier never completes:");
  unsigned groups = 0;
  for (unsigned t = 0; t < threads; t = first) {
    if (++groups > groups_max) {
      say(", and so on");
      break;
    }
    for (first = t + 1; first < threads && same(t, first);) first++;
    say("%s threads %u to %u ", t ? "," : "", t, first - 1);
    if (emu.done[t])
      say("have returned");
    else
      say("stand in %s at %s:%d", emu.stand[t].what, emu.stand[t].file, emu.stand[t].line);
  }
  emu_barrier_describe(barriers, sizeof barriers);
  say("%s", barriers);
}
