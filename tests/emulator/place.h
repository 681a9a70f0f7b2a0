/* SPDX-License-Identifier: MIT
 *
 * Small numbers for lines of the templates.
 */
#ifndef EMU_PLACE_H
#define EMU_PLACE_H

#include <stdint.h>

/* The same number for the same line. `file` must stay readable until the end of the program's
 * launches, or until emu_place_reset. */
uint16_t emu_place_of(const char *file, int line);
void emu_place_reset(void);

struct emu_place_text {
  char text[96];
};
struct emu_place_text emu_place_text(uint16_t place); /* "file:line" */

#endif
