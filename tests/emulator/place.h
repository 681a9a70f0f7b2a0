/* SPDX-License-Identifier: MIT
 *
 * Small numbers for lines of the templates.
 */
#ifndef EMU_PLACE_H
#define EMU_PLACE_H

#include <stdint.h>

/* The same number for the same line. `file` must stay readable until the end of the program's
 * launches, or until emu_place_reset. */
uint16_t emu_place_find(const char *file, int line);

/* The last one asked for: loops stay at a line. */
extern struct emu_place_last {
  const char *file;
  int line;
  uint16_t place;
} emu_place_last;

static inline uint16_t emu_place_of(const char *file, int line) {
  if (file != emu_place_last.file || line != emu_place_last.line)
    emu_place_last = (struct emu_place_last){file, line, emu_place_find(file, line)};
  return emu_place_last.place;
}
void emu_place_reset(void);

struct emu_place_text {
  char text[96];
};
struct emu_place_text emu_place_text(uint16_t place); /* "file:line" */

#endif
