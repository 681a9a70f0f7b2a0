/* SPDX-License-Identifier: MIT */
#include "cells.h"

#include <stdlib.h>
#include <string.h>

enum { word = 4 };

static struct emu_cell *words;         /* one a word */
static struct emu_cell (*bytes)[word]; /* one a byte, of words that are split */
static unsigned char *split;
static unsigned word_count, room;

void emu_cells_begin(unsigned size) {
  word_count = (size + word - 1) / word;
  if (word_count > room) {
    room = word_count;
    words = realloc(words, room * sizeof *words);
    bytes = realloc(bytes, room * sizeof *bytes);
    split = realloc(split, room);
    if (!words || !bytes || !split) abort();
  }
  if (!word_count) return;
  memset(words, 0, word_count * sizeof *words);
  memset(split, 0, word_count);
}

struct emu_cell *emu_cell_at(unsigned at, unsigned end, unsigned *next) {
  const unsigned w = at / word;
  if (!split[w]) {
    *next = at + word;
    if (at % word == 0 && *next <= end) return &words[w];
    for (unsigned i = 0; i < word; i++) bytes[w][i] = words[w];
    split[w] = 1;
  }
  *next = at + 1;
  return &bytes[w][at % word];
}

const struct emu_cell *emu_cell_of(unsigned at) {
  const unsigned w = at / word;
  return split[w] ? &bytes[w][at % word] : &words[w];
}

void emu_cells_put(unsigned at, unsigned end, const struct emu_cell *cell) {
  while (at < end) {
    if (at % word == 0 && end - at >= word) {
      split[at / word] = 0;
      words[at / word] = *cell;
      at += word;
    } else {
      *emu_cell_at(at, at + 1, &at) = *cell;
    }
  }
}

void emu_cells_each(void (*change)(struct emu_cell *cell)) {
  for (unsigned w = 0; w < word_count; w++) {
    if (!split[w]) change(&words[w]);
    for (unsigned i = 0; split[w] && i < word; i++) change(&bytes[w][i]);
  }
}
