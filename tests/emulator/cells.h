/* SPDX-License-Identifier: MIT
 *
 * What is known of each byte of shared memory. Most accesses are of whole words, so the four bytes
 * of a word share one cell until something treats them differently.
 */
#ifndef EMU_CELLS_H
#define EMU_CELLS_H

#include <stdint.h>

enum emu_cell_kind { EMU_EMPTY, EMU_DATA, EMU_LANDING, EMU_BARRIER, EMU_SPLIT };

struct emu_cell {
  uint32_t count; /* of the writer, when it wrote */
  uint32_t reads; /* the newest of the reads since, an index (reads.h); 0: none */
  uint32_t syncs; /* of the block when that list was begun: older ones are empty */
  uint16_t writer;
  uint16_t place;
  uint8_t kind;
  uint8_t sources; /* stores of the copy engine that will read it */
};

/* Begins a block with `bytes` of shared memory, all cells zero. */
void emu_cells_begin(unsigned bytes);

/* For each cell of the bytes from `at` to `end`, which are inside: `byte` is its first one. */
#define EMU_EACH_CELL(cell, byte, at, end)                                    \
  for (unsigned byte = (at), cells_next = 0; byte < (end); byte = cells_next) \
    for (struct emu_cell *cell = emu_cell_at(byte, end, &cells_next); cell; cell = (void *)0)

enum { EMU_WORD = 4 };
extern struct emu_cell *emu_cell_words; /* EMU_SPLIT: the bytes of the word have cells */
struct emu_cell *emu_cell_byte(unsigned at);

/* The cell of byte `at`, and the first byte behind those that it stands for. A word that reaches
 * over either end gets cells for its bytes. */
static inline struct emu_cell *emu_cell_at(unsigned at, unsigned end, unsigned *next) {
  struct emu_cell *word = &emu_cell_words[at / EMU_WORD];
  *next = at + EMU_WORD;
  if (word->kind != EMU_SPLIT && at % EMU_WORD == 0 && *next <= end) return word;
  *next = at + 1;
  return emu_cell_byte(at);
}

/* The cell as it is now, for a look at one byte. */
const struct emu_cell *emu_cell_of(unsigned at);

/* Makes all bytes from `at` to `end` alike. */
void emu_cells_put(unsigned at, unsigned end, const struct emu_cell *cell);

/* All cells that differ may be changed by `change`. */
void emu_cells_each(void (*change)(struct emu_cell *cell));

#endif
