/* SPDX-License-Identifier: MIT
 *
 * Global memory: the tensors of a launch, byte by byte.
 */
#ifndef EMU_REGION_H
#define EMU_REGION_H

#include <stddef.h>
#include <stdint.h>

struct emu_stand;

/* Of each byte: whether it belongs to an element of what is read, or to none of what is written;
 * who wrote it. */
struct emu_mark {
  uint32_t block;
  uint16_t thread;
  uint16_t place;
  unsigned char real;
  unsigned char gap;
  unsigned char written;
};

struct emu_region {
  const char *name; /* such as "out[0]" */
  unsigned char *base;
  uint64_t size;
  int writable;           /* every byte of it but gaps must be written, exactly once */
  struct emu_mark *marks; /* one for each byte */
};

/* Ends the launch with a hazard where the bytes are not those of one writable tensor, or were
 * written before, or belong to no element. `stand` is where the thread wrote them. */
void emu_region_write(void *to, const void *from, uint64_t bytes, const struct emu_stand *stand,
                      unsigned thread);
/* The same for bytes that belong to elements of a tensor that is read. */
void emu_region_read(const void *from, void *to, uint64_t bytes, const char *how);
/* After the launch: records a byte that was not written. */
int emu_region_complete(const struct emu_region *region);
/* "byte i of NAME: written by thread t of block b at file:line" */
void emu_region_describe(const struct emu_region *region, uint64_t byte, char *text, size_t size);

#endif
