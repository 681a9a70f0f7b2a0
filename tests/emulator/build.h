/* SPDX-License-Identifier: MIT
 *
 * From expansions to functions of this process, through the host's C++ compiler.
 */
#ifndef EMU_BUILD_H
#define EMU_BUILD_H

#include <stddef.h>

/* One expansion: given are the source and the symbol, found are the kernel and its launch bound. */
struct emu_source {
  const char *text;
  size_t length;
  const char *symbol;
  void (*kernel)(const void *args);
  unsigned threads;
};

struct emu_library {
  void *handle;
};

/* Compiles all sources into one library, in a private folder that is gone afterwards, and loads it.
 * 0 if that fails; what the compiler said is on stderr. */
int emu_build(struct emu_source *sources, size_t count, struct emu_library *library);
void emu_build_close(struct emu_library *library);

#endif
