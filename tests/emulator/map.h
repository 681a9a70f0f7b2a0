/* SPDX-License-Identifier: MIT
 *
 * Tensor maps as the copy engine reads them, and the boxes that it copies.
 */
#ifndef EMU_MAP_H
#define EMU_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "args.h"
#include "machine.h"
#include "tensor_plan.h"

/* Encodes a map for the engine here. 0 and the documented limit of cuTensorMapEncodeTiled that it
 * breaks, with the value given, if it does. */
int emu_map_encode(const struct mxq_map_plan *plan, const void *base, struct mxq_tensor_map *map,
                   char text[EMU_TEXT]);

enum { EMU_RANK_MAX = 5 };

/* What an encoded map holds. */
struct emu_map {
  uint64_t magic;
  unsigned char *base;
  uint64_t dims[3];
  uint64_t strides[2];
  uint16_t box[3];
  uint8_t element_bytes;
  uint8_t span; /* of the swizzle, bytes; 0: none */
};

/* One copy of a box between shared and global memory. */
struct emu_box {
  struct emu_map map;
  int32_t at[3];   /* element coordinates */
  unsigned offset; /* of shared memory */
  unsigned bytes;  /* of the whole box: what counts on a barrier */
  struct emu_stand stand;
};

/* Checks the map and the shared address of a copy that `thread` issues. */
struct emu_box emu_box_of(unsigned thread, const void *map, unsigned x, unsigned y, unsigned z,
                          unsigned offset);

/* A row of a box: `bytes` of it from `skip` on are inside the tensor, at `global`. */
struct emu_row {
  unsigned index;
  unsigned skip, bytes;
  unsigned char *global;
};
unsigned emu_box_rows(const struct emu_box *box);
struct emu_row emu_box_row(const struct emu_box *box, unsigned index);

/* Bytes of a row that are neighbours in shared memory too: `bytes` of it from `from` on, at `at`.
 */
struct emu_piece {
  unsigned from, bytes;
  unsigned at;
};
/* The piece that begins with byte `from` of a row, up to `end` at most. */
struct emu_piece emu_box_piece(const struct emu_box *box, unsigned row, unsigned from,
                               unsigned end);
/* For each piece of the bytes from `first` to `last` of a row. */
#define EMU_EACH_PIECE(piece, box, row, first, last)                               \
  for (struct emu_piece piece = emu_box_piece(box, row, first, last); piece.bytes; \
       piece = emu_box_piece(box, row, piece.from + piece.bytes, last))

#endif
