/* SPDX-License-Identifier: MIT */
#include "async.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "primitives.h"
#include "shared.h"
#include "team.h"

enum { size_most = 16 };

/* A copy on its way: its data was read, as early as that may happen, and arrives as late. */
struct copy {
  struct emu_stand stand;
  unsigned offset;
  unsigned size;
  unsigned char data[size_most];
};

static struct list {
  struct copy *copies;
  unsigned used, room;
} lists[EMU_THREADS_MAX];

void emu_async_begin(void) {
  for (unsigned t = 0; t < EMU_THREADS_MAX; t++) lists[t].used = 0;
}

static struct copy *add(struct list *list) {
  if (list->used == list->room) {
    list->room = list->room ? 2 * list->room : 16;
    list->copies = realloc(list->copies, list->room * sizeof *list->copies);
    if (!list->copies) abort();
  }
  return &list->copies[list->used++];
}

void emu_copy_async(unsigned offset, const void *from, unsigned size, int line, const char *file) {
  const unsigned thread = emu_enter("copy_async", line, file);
  if (size != 4 && size != 16)
    emu_hazard("copy_async of %u bytes: there are copies of 4 and 16", size);
  if ((uintptr_t)from % size != 0)
    emu_hazard("copy_async of %u bytes from an address that is no multiple of it", size);
  emu_shared_check(offset, size, size, "copy_async");
  struct copy *const copy = add(&lists[thread]);
  *copy = (struct copy){.stand = emu.stand[thread], .offset = offset, .size = size};
  emu_region_read(from, copy->data, size, "copy_async");
  emu_shared_copy_begin(thread, offset, size);
}

void emu_copies_wait(int line, const char *file) {
  const unsigned thread = emu_enter("copies_wait", line, file);
  struct list *const list = &lists[thread];
  for (unsigned i = 0; i < list->used; i++)
    emu_shared_copy_end(thread, list->copies[i].offset, list->copies[i].data, list->copies[i].size);
  list->used = 0;
}

int emu_async_complete(void) {
  for (unsigned t = 0; t < emu.launch->threads; t++) {
    if (!lists[t].used) continue;
    emu_hazard_at(&lists[t].copies[0].stand, t,
                  "the block ended while this copy was on its way: its thread did not wait for it");
    return 0;
  }
  return 1;
}
