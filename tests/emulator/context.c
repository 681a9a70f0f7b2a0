/* SPDX-License-Identifier: MIT */
#include "context.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)

/* System V ABI: rbx, rbp and r12 to r15 are the callee's to keep. */
__asm__(
    ".text\n"
    ".globl emu_context_switch\n"
    ".hidden emu_context_switch\n"
    ".type emu_context_switch, @function\n"
    "emu_context_switch:\n"
    "  pushq %rbp\n"
    "  pushq %rbx\n"
    "  pushq %r12\n"
    "  pushq %r13\n"
    "  pushq %r14\n"
    "  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq (%rsi), %rsp\n"
    "  popq %r15\n"
    "  popq %r14\n"
    "  popq %r13\n"
    "  popq %r12\n"
    "  popq %rbx\n"
    "  popq %rbp\n"
    "  ret\n"
    ".size emu_context_switch, . - emu_context_switch\n");

/* What the first switch takes off the stack: six registers, and where to go. */
void emu_context_make(struct emu_context *context, char *stack, size_t size, void (*start)(void)) {
  uintptr_t frame[8] = {0};
  memcpy(&frame[6], &start, sizeof start); /* after it the stack is as behind a call */
  context->stack = (char *)((uintptr_t)(stack + size) & ~(uintptr_t)15) - sizeof frame;
  memcpy(context->stack, frame, sizeof frame);
}

#else

void emu_context_make(struct emu_context *context, char *stack, size_t size, void (*start)(void)) {
  if (getcontext(&context->context) != 0) abort();
  context->context.uc_stack.ss_sp = stack;
  context->context.uc_stack.ss_size = size;
  context->context.uc_link = NULL;
  makecontext(&context->context, start, 0);
}

#endif
