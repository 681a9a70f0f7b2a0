/* SPDX-License-Identifier: MIT
 *
 * Global memory: the tensors of a launch, byte by byte.
 */
#ifndef EMU_REGION_H
#define EMU_REGION_H

#include <stdint.h>

enum { EMU_REAL = 1, EMU_WRITTEN = 2 };

struct emu_region {
  const char *name; /* such as "out[0]" */
  unsigned char *base;
  uint64_t size;
  int writable;         /* every byte of it must be written, exactly once */
  unsigned char *marks; /* a byte for each: EMU_REAL: it belongs to an element; EMU_WRITTEN */
};

/* Ends the launch with a hazard where the bytes are not those of one writable tensor, or were
 * written before. `how` begins the message, such as "global_store". */
void emu_region_write(void *to, const void *from, uint64_t bytes, const char *how);
/* The same for bytes that belong to elements of a tensor that is read. */
void emu_region_read(const void *from, void *to, uint64_t bytes, const char *how);
/* After the launch: records a byte that was not written. */
int emu_region_complete(const struct emu_region *region);

#endif
