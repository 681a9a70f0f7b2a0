/* SPDX-License-Identifier: MIT */
#include "crash.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"
#include "team.h"

enum { exit_mismatch = 4, stack_bytes = 64 << 10 };

static const char *kernel = "", *again = "";

void emu_crash_report(const char *what) {
  char text[2 * EMU_TEXT];
  const int length =
      snprintf(text, sizeof text, "%s: hazard\n  %s\n  again: %s\n", kernel, what, again);
  if (write(STDOUT_FILENO, text, (size_t)length) < 0) _exit(exit_mismatch);
  _exit(exit_mismatch);
}

static void on_signal(int number) {
  const struct emu_stand *stand = &emu.stand[emu_team_self()];
  char text[EMU_TEXT];
  snprintf(text, sizeof text, "signal %d in block %u, thread %u, after %s at %s:%d", number,
           emu.block, emu_team_self(), stand->what ? stand->what : "its start",
           stand->file ? stand->file : "?", stand->line);
  emu_crash_report(text);
}

void emu_crash_watch(void) {
  static char stack[stack_bytes];
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action;
  if (SANITIZED || sigaltstack(&own, NULL) != 0) return;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    sigaction(numbers[i], &action, NULL);
}

void emu_crash_context(const char *name, const char *command) {
  kernel = name;
  again = command;
}
