/* SPDX-License-Identifier: MIT */
#ifndef MXQ_CLI_SECONDS_H
#define MXQ_CLI_SECONDS_H

#include <time.h>

/* Seconds on a clock that is never set. */
static inline double seconds_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

#endif
