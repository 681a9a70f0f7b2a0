/* SPDX-License-Identifier: MIT */
#include "place.h"

#include <stdio.h>
#include <string.h>

enum { slots = 4096 };

static struct {
  const char *file;
  int line;
} places[slots];

/* Open addressing; number 0 stays empty. When the table is full, all further lines are number 0. */
struct emu_place_last emu_place_last;

uint16_t emu_place_find(const char *file, int line) {
  const uint32_t hash = ((uint32_t)line * 2654435761u ^ (uint32_t)((uintptr_t)file >> 3)) % slots;
  for (uint32_t i = 0; i < slots; i++) {
    const uint32_t slot = (hash + i) % slots;
    if (slot == 0) continue;
    if (!places[slot].file) {
      places[slot].file = file;
      places[slot].line = line;
    }
    if (places[slot].file == file && places[slot].line == line) return (uint16_t)slot;
  }
  return 0;
}

void emu_place_reset(void) {
  memset(places, 0, sizeof places);
  memset(&emu_place_last, 0, sizeof emu_place_last);
}

struct emu_place_text emu_place_text(uint16_t place) {
  struct emu_place_text made;
  if (places[place].file)
    snprintf(made.text, sizeof made.text, "%s:%d", places[place].file, places[place].line);
  else
    snprintf(made.text, sizeof made.text, "a line unknown");
  return made;
}
