/* SPDX-License-Identifier: MIT */
#include "cells.h"

#include <stdlib.h>
#include <string.h>

struct emu_cell *emu_cell_words;

static struct emu_cell (*bytes)[EMU_WORD];
static unsigned count, room;

void emu_cells_begin(unsigned size) {
  count = (size + EMU_WORD - 1) / EMU_WORD;
  if (count > room) {
    room = count;
    emu_cell_words = realloc(emu_cell_words, room * sizeof *emu_cell_words);
    bytes = realloc(bytes, room * sizeof *bytes);
    if (!emu_cell_words || !bytes) abort();
  }
  if (count) memset(emu_cell_words, 0, count * sizeof *emu_cell_words);
}

struct emu_cell *emu_cell_byte(unsigned at) {
  struct emu_cell *word = &emu_cell_words[at / EMU_WORD], *of = bytes[at / EMU_WORD];
  if (word->kind != EMU_SPLIT) {
    for (unsigned i = 0; i < EMU_WORD; i++) of[i] = *word;
    word->kind = EMU_SPLIT;
  }
  return &of[at % EMU_WORD];
}

const struct emu_cell *emu_cell_of(unsigned at) {
  const struct emu_cell *word = &emu_cell_words[at / EMU_WORD];
  return word->kind == EMU_SPLIT ? &bytes[at / EMU_WORD][at % EMU_WORD] : word;
}

void emu_cells_put(unsigned at, unsigned end, const struct emu_cell *cell) {
  while (at < end) {
    if (at % EMU_WORD == 0 && end - at >= EMU_WORD) {
      emu_cell_words[at / EMU_WORD] = *cell;
      at += EMU_WORD;
    } else {
      *emu_cell_byte(at++) = *cell;
    }
  }
}

void emu_cells_each(void (*change)(struct emu_cell *cell)) {
  for (unsigned w = 0; w < count; w++) {
    const int split = emu_cell_words[w].kind == EMU_SPLIT;
    if (!split) change(&emu_cell_words[w]);
    for (unsigned i = 0; split && i < EMU_WORD; i++) change(&bytes[w][i]);
  }
}
