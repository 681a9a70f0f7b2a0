/* SPDX-License-Identifier: MIT
 *
 * The threads of a block as fibers of one thread of the system. Which one goes on is decided by the
 * seed: at random, or in the order of their numbers from either end, so that some run far ahead.
 */
#include "context.h"
#include "machine.h"
#include "team.h"

#if !EMU_THREADS

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if ADDRESS_SANITIZED
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
enum { stack_bytes = 256 << 10 };
#else
#define __asan_unpoison_memory_region(memory, bytes) ((void)(memory))
#define __sanitizer_start_switch_fiber(fake, bottom, size) \
  ((void)(fake), (void)(bottom), (void)(size))
#define __sanitizer_finish_switch_fiber(fake, bottom, size) set_nothing(bottom, size)
enum { stack_bytes = 64 << 10 };
#endif

#if !ADDRESS_SANITIZED
static void set_nothing(const void **bottom, size_t *size) {
  if (bottom) *bottom = NULL;
  if (size) *size = 0;
}
#endif

enum order { order_random, order_first, order_last, order_mixed, orders };

struct fiber {
  struct emu_context context;
  void *fake_stack; /* of the address sanitizer */
};

static struct fiber fibers[EMU_THREADS_MAX];
static struct fiber home; /* where emu_team_run was called */
static const void *home_bottom;
static size_t home_size;
static int from_home;
static char *stacks;
static size_t stack_pitch; /* with the page below */
static unsigned char waiting[EMU_THREADS_MAX];
static unsigned waiting_count;
static uint16_t ready[EMU_THREADS_MAX], place_of[EMU_THREADS_MAX]; /* a list, and who is where */
static uint64_t is_ready_of[EMU_THREADS_MAX / 64];                 /* the same as a set */
static unsigned ready_count;
static unsigned count_of;
unsigned emu_team_current;
static void (*body_of)(unsigned);
static enum order order;

static char *stack_of(unsigned thread) { return stacks + (size_t)thread * stack_pitch; }

/* Each stack stands above a page that cannot be written. */
static void make_stacks(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), each = stack_bytes + page;
  if (stacks) return;
  char *memory = mmap(NULL, each * EMU_THREADS_MAX, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) abort();
  for (unsigned t = 0; t < EMU_THREADS_MAX; t++)
    if (mprotect(memory + t * each, page, PROT_NONE) != 0) abort();
  stacks = memory + page;
  stack_pitch = each;
}

static void enter_home(struct fiber *from, int ends) {
  __sanitizer_start_switch_fiber(ends ? NULL : &from->fake_stack, home_bottom, home_size);
  emu_context_switch(&from->context, &home.context);
}

static void add_ready(unsigned thread) {
  place_of[thread] = (uint16_t)ready_count;
  ready[ready_count++] = (uint16_t)thread;
  is_ready_of[thread / 64] |= UINT64_C(1) << thread % 64;
}

static void remove_ready(unsigned thread) {
  const unsigned place = place_of[thread], moved = ready[--ready_count];
  ready[place] = (uint16_t)moved;
  place_of[moved] = (uint16_t)place;
  is_ready_of[thread / 64] &= ~(UINT64_C(1) << thread % 64);
}

static unsigned first_ready(void) {
  unsigned i = 0;
  while (!is_ready_of[i]) i++;
  return i * 64 + (unsigned)__builtin_ctzll(is_ready_of[i]);
}

static unsigned last_ready(void) {
  unsigned i = EMU_THREADS_MAX / 64 - 1;
  while (!is_ready_of[i]) i--;
  return i * 64 + 63 - (unsigned)__builtin_clzll(is_ready_of[i]);
}

/* A random one of the ready, or the one with the smallest or largest number. */
static unsigned pick(void) {
  enum order now = order;
  if (now == order_mixed || emu_random() % 16 == 0) now = (enum order)(emu_random() % order_mixed);
  const unsigned thread = now == order_first  ? first_ready()
                          : now == order_last ? last_ready()
                                              : ready[emu_random() % ready_count];
  remove_ready(thread);
  return thread;
}

/* The current fiber stays behind, and another one goes on; with none that can, the caller of
 * emu_team_run does. */
static void go_on(int ends) {
  struct fiber *from = &fibers[emu_team_current];
  if (!ready_count) {
    enter_home(from, ends);
  } else {
    const unsigned next = pick();
    if (next == emu_team_current) return;
    emu_team_current = next;
    __sanitizer_start_switch_fiber(ends ? NULL : &from->fake_stack, stack_of(next), stack_bytes);
    emu_context_switch(&from->context, &fibers[next].context);
  }
  __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
}

static void start(void) {
  const void *bottom;
  size_t size;
  __sanitizer_finish_switch_fiber(NULL, &bottom, &size);
  if (from_home) {
    home_bottom = bottom;
    home_size = size;
  }
  from_home = 0;
  body_of(emu_team_current);
  go_on(1);
  abort(); /* nobody goes back to a fiber that ended */
}

static void prepare(unsigned thread) {
  struct fiber *fiber = &fibers[thread];
  char *stack = stack_of(thread);
  __asan_unpoison_memory_region(stack, stack_bytes); /* it may have been left in the middle */
  /* Ends that lie apart: at one offset of a page they would all take the same lines of a cache. */
  emu_context_make(&fiber->context, stack, stack_bytes - thread % 32 * 128, start);
  waiting[thread] = 0;
  add_ready(thread);
}

int emu_team_run(unsigned count, void (*body)(unsigned thread)) {
  make_stacks();
  count_of = count;
  ready_count = waiting_count = 0;
  memset(is_ready_of, 0, sizeof is_ready_of);
  body_of = body;
  order = (enum order)(emu_random() % orders);
  for (unsigned t = 0; t < count; t++) prepare(t);
  emu_team_current = pick();
  from_home = 1;
  __sanitizer_start_switch_fiber(&home.fake_stack, stack_of(emu_team_current), stack_bytes);
  emu_context_switch(&home.context, &fibers[emu_team_current].context);
  __sanitizer_finish_switch_fiber(home.fake_stack, NULL, NULL);
  if (!emu.failed && emu.finished < count) emu_hazard_stuck();
  return !emu.failed;
}

unsigned emu_team_running(void) { return emu_team_current; }

void emu_team_pause(void) {
  add_ready(emu_team_current);
  go_on(0);
}

void emu_team_lock(void) {}
void emu_team_unlock(void) {}

void emu_team_wait(int (*is_ready)(void *context), void *context) {
  while (!is_ready(context)) {
    waiting[emu_team_current] = 1;
    waiting_count++;
    go_on(0);
  }
}

void emu_team_wake(void) { emu_team_wake_some(0, count_of); }

void emu_team_wake_some(unsigned first, unsigned count) {
  for (unsigned t = first; waiting_count && t < first + count; t++) {
    if (!waiting[t]) continue;
    waiting[t] = 0;
    waiting_count--;
    add_ready(t);
  }
}

void emu_team_abort(void) {
  enter_home(&fibers[emu_team_current], 1);
  abort();
}

#else
typedef int emu_no_fibers;
#endif
