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
  char folder[1024]; /* empty: gone already */
  size_t count;      /* of its sources */
};

/* Compiles all sources into one library, in a private folder, and loads it. The folder is gone
 * afterwards; under a sanitizer, whose reports read it, when the library is closed or the program
 * ends. 0 if that fails; what the compiler said is on stderr. One library at a time. With
 * `optimize` that takes half as long again, and kernels run faster. */
int emu_build(struct emu_source *sources, size_t count, int optimize, struct emu_library *library);
void emu_build_close(struct emu_library *library);

#endif
