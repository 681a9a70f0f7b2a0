/* SPDX-License-Identifier: MIT
 *
 * Leaving one stack for another. On x86-64 in a few instructions: swapcontext of the C library
 * makes a system call each time, and under the address sanitizer it forgets what a stack holds.
 */
#ifndef EMU_CONTEXT_H
#define EMU_CONTEXT_H

#include <stddef.h>

#if defined(__x86_64__)

struct emu_context {
  void *stack;
};

void emu_context_switch(struct emu_context *from, const struct emu_context *to);

#else

#include <ucontext.h>

struct emu_context {
  ucontext_t context;
};

static inline void emu_context_switch(struct emu_context *from, const struct emu_context *to) {
  swapcontext(&from->context, &to->context);
}

#endif

/* The first switch to the context calls `start`, which must not return. */
void emu_context_make(struct emu_context *context, char *stack, size_t size, void (*start)(void));

#endif
