/* SPDX-License-Identifier: MIT
 *
 * A thread beside the launch, in both builds: the thread sanitizer holds signals back until the
 * kernel's next call. Processor time, because a busy machine is no fault of a kernel's.
 */
#include "watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "crash.h"
#include "machine.h"
#include "team.h"

enum { quiet_max = 10, period_ms = 100, stack_bytes = 256 << 10 };

static unsigned seconds_max;

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static unsigned quiet_seconds(void) { return seconds_max < quiet_max ? seconds_max : quiet_max; }

/* The launch goes on meanwhile, but not to any end; this process does not outlive the report. */
EMU_NO_THREAD_SANITIZER static _Noreturn void report(int is_quiet) {
  const unsigned thread = emu_team_running();
  const struct emu_stand stand = emu.stand[thread];
  char place[256] = "", text[EMU_TEXT];
  if (emu.failed) emu_crash_report(emu.text); /* that thread never noticed */
  if (stand.file) snprintf(place, sizeof place, "%s:%d: ", stand.file, stand.line);
  if (is_quiet)
    snprintf(text, sizeof text,
             "%sblock %u, thread %u: does not end: no primitive since %s, in %u seconds of "
             "processor time, which is as many as are allowed",
             place, emu.block, thread, stand.what ? stand.what : "its start", quiet_seconds());
  else
    snprintf(
        text, sizeof text,
        "%sblock %u, thread %u: the launch does not end in %u seconds of processor time, which "
        "is as many as are allowed",
        place, emu.block, thread, seconds_max);
  emu_crash_report(text);
}

static void *watch(void *unused) {
  const struct timespec period = {0, period_ms * 1000000L};
  unsigned launch = 0;
  uint64_t primitives = 0;
  double begun = 0, moved = 0;
  (void)unused;
  for (;;) {
    nanosleep(&period, NULL);
    const double now = processor_seconds();
    const unsigned current = atomic_load_explicit(&emu_launches, memory_order_relaxed);
    const uint64_t count = atomic_load_explicit(&emu_primitives, memory_order_relaxed);
    if (current % 2 == 0 || current != launch) begun = moved = now;
    if (count != primitives) moved = now;
    launch = current;
    primitives = count;
    if (now - moved > quiet_seconds()) report(1);
    if (now - begun > seconds_max) report(0);
  }
  return NULL;
}

void emu_watch(unsigned seconds) {
  static pid_t watched; /* threads do not survive a fork */
  pthread_t thread;
  pthread_attr_t attributes;
  if (watched == getpid()) return;
  watched = getpid();
  seconds_max = seconds;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  if (pthread_create(&thread, &attributes, watch, NULL) != 0) abort();
  pthread_attr_destroy(&attributes);
}
