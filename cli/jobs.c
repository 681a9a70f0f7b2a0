/* SPDX-License-Identifier: MIT */
#include "jobs.h"

#include <sched.h>
#include <stdio.h>

#include "names.h"
#include "report.h"

enum { JOBS_MOST = 512, CORES_MOST = 64 };

/* A container may be given less time than the cores that it sees (Linux, cgroup v2, cpu.max: a
 * quota and its period). */
static unsigned cores_of_container(unsigned seen) {
  FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
  unsigned long long quota = 0, period = 0;
  const int read = file ? fscanf(file, "%llu %llu", &quota, &period) : 0;
  if (file) fclose(file);
  if (read != 2 || !period || quota / period >= seen) return seen;
  return quota < period ? 1 : (unsigned)(quota / period);
}

static unsigned cores(void) {
  cpu_set_t set;
  const int known = sched_getaffinity(0, sizeof set, &set) == 0;
  const unsigned seen = cores_of_container(known ? (unsigned)CPU_COUNT(&set) : 1);
  return seen < CORES_MOST ? seen : CORES_MOST;
}

int jobs_read(const struct arguments *arguments, size_t option, unsigned *jobs) {
  const char *text = args_value(arguments, option);
  int64_t number = 0;
  if (text && (!names_number(text, &number) || number < 1 || number > JOBS_MOST))
    return report_usage(arguments->command, "--%s: \"%s\" is not a number from 1 to %d",
                        arguments->command->options[option].name, text, JOBS_MOST);
  *jobs = text ? (unsigned)number : cores();
  return EXIT_DONE;
}
