/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "bench.h"

void bench_table_header(const struct bench *bench) {
  const struct mxq_nvrtc *nvrtc = bench_straights_nvrtc(bench->straights);
  printf("%s, %u SMs, %.0f MB of L2; driver CUDA %d.%d, NVRTC %d.%d; medians of %u\n",
         bench->info.name, bench->info.multiprocessors, (double)bench->info.l2_bytes / 1e6,
         bench->info.driver_version / 1000, bench->info.driver_version % 1000 / 10, nvrtc->major,
         nvrtc->minor, bench->options->reps);
  printf("%-52s %16s %9s %6s %9s %7s %9s %7s\n", "kernel", "E,N,K", "us", "TB/s", "straight",
         "percent", "memcpy", "spread");
}

void bench_table_row(const struct bench_row *row) {
  char shape[64];
  snprintf(shape, sizeof shape, "%" PRId64 ",%" PRId64 ",%" PRId64, row->shape.e, row->shape.n,
           row->shape.k);
  if (row->status != MXQ_OK) {
    printf("%-52s %16s  not taken: %s\n", row->name, shape, row->why);
  } else {
    const double us = bench_median(&row->kernel_us), straight = bench_median(&row->straight_us);
    printf("%-52s %16s %9.2f %6.2f %9.2f %7.1f %9.2f %6.1f%%\n", row->name, shape, us,
           (double)(row->read + row->written) / us / 1e6, straight, 100 * straight / us,
           bench_median(&row->memcpy_us), 100 * bench_spread(&row->kernel_us));
  }
  fflush(stdout);
}
