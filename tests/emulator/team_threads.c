/* SPDX-License-Identifier: MIT
 *
 * The threads of a block as threads of the system, for the thread sanitizer, which knows no fibers
 * that it did not make. They are made once and used again. Their order is the system's.
 */
#include "machine.h"
#include "team.h"

#if EMU_THREADS

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t mutex; /* recursive */
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void (*body_of)(unsigned);
static unsigned made, count_of, asleep, left;
static unsigned long job, wakes;
static unsigned char sleeps[EMU_THREADS_MAX];
static atomic_int aborted;

static _Thread_local unsigned self, depth;
static _Thread_local jmp_buf way_out;

static void make_mutex(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

void emu_team_lock(void) {
  pthread_once(&once, make_mutex);
  pthread_mutex_lock(&mutex);
  depth++;
}

void emu_team_unlock(void) {
  depth--;
  pthread_mutex_unlock(&mutex);
}

static _Noreturn void leave(void) {
  while (depth) emu_team_unlock();
  longjmp(way_out, 1);
}

void emu_team_abort(void) {
  atomic_store(&aborted, 1);
  emu_team_wake();
  leave();
}

void emu_team_pause(void) {
  if (atomic_load_explicit(&aborted, memory_order_relaxed)) leave();
  sched_yield();
}

void emu_team_wait(int (*ready)(void *context), void *context) {
  while (!ready(context)) {
    const unsigned long seen = wakes;
    if (atomic_load(&aborted)) leave();
    if (++asleep + emu.finished == count_of) {
      emu_hazard_stuck();
      emu_team_abort();
    }
    sleeps[self] = 1;
    while (wakes == seen) pthread_cond_wait(&woken, &mutex);
    sleeps[self] = 0;
  }
}

void emu_team_wake(void) {
  wakes++;
  asleep = 0;
  pthread_cond_broadcast(&woken);
}

void emu_team_wake_some(unsigned first, unsigned count) {
  (void)first, (void)count;
  emu_team_wake();
}

static void run_body(void) {
  if (!setjmp(way_out)) body_of(self);
}

static void *work(void *number) {
  unsigned long done = 0;
  self = (unsigned)(uintptr_t)number;
  for (;;) {
    emu_team_lock();
    while (job == done || self >= count_of) {
      done = job;
      pthread_cond_wait(&begun, &mutex);
    }
    done = job;
    emu_team_unlock();
    run_body();
    emu_team_lock();
    if (--left == 0) pthread_cond_signal(&ended);
    emu_team_unlock();
  }
  return NULL;
}

static void make_thread(unsigned number) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  if (pthread_create(&thread, &attributes, work, (void *)(uintptr_t)number) != 0) abort();
  pthread_attr_destroy(&attributes);
}

int emu_team_run(unsigned count, void (*body)(unsigned thread)) {
  emu_team_lock();
  count_of = 0; /* new threads wait */
  while (made < count) make_thread(made++);
  body_of = body;
  count_of = left = count;
  asleep = 0;
  atomic_store(&aborted, 0);
  job++;
  pthread_cond_broadcast(&begun);
  while (left) pthread_cond_wait(&ended, &mutex);
  emu_team_unlock();
  return !emu.failed;
}

unsigned emu_team_self(void) { return self; }

unsigned emu_team_running(void) {
  unsigned thread = 0;
  emu_team_lock();
  while (thread + 1 < count_of && (sleeps[thread] || emu.done[thread])) thread++;
  emu_team_unlock();
  return thread;
}

#else
typedef int emu_no_threads;
#endif
