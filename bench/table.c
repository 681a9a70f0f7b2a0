/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "bench.h"

void bench_table_header(const struct bench *bench) {
  printf("%s, %u SMs, %.0f MB of L2; driver CUDA %d.%d, NVRTC %d.%d; medians of %u\n",
         bench->info.name, bench->info.multiprocessors, (double)bench->info.l2_bytes / 1e6,
         bench->info.driver_version / 1000, bench->info.driver_version % 1000 / 10,
         bench->nvrtc_version / 1000, bench->nvrtc_version % 1000 / 10, bench->options->reps);
  if (bench->options->main)
    printf("the main set, and a pairwise sample of all variants by seed %d\n", BENCH_SEED);
  printf("%-56s %11s %9s %6s %9s %7s %9s %7s  %-8s %s\n", "kernel", "E,N,K", "us", "TB/s",
         "straight", "percent", "memcpy", "spread", "target", "met");
}

static void print_target(const struct bench_target *target, const char *reason) {
  char text[32] = "";
  if (target->percent > 0) snprintf(text, sizeof text, ">= %.0f%%", target->percent);
  if (target->over_us > 0) snprintf(text, sizeof text, "<= +%.1f us", target->over_us);
  if (target->exists) printf("  %-8s %s", text, target->met ? "met" : "MISSED");
  if (target->exists && !target->met && reason) printf(": %s", reason);
  putchar('\n');
}

void bench_table_row(const struct bench *bench, const struct bench_row *row) {
  struct bench_target target;
  char shape[64];
  snprintf(shape, sizeof shape, "%" PRId64 ",%" PRId64 ",%" PRId64, row->shape.e, row->shape.n,
           row->shape.k);
  if (row->status != MXQ_OK) {
    printf("%-56s %11s  not taken: %s\n", row->name, shape, row->why);
  } else {
    const double us = bench_median(&row->kernel_us), straight = bench_median(&row->straight_us);
    bench_target_of(row, bench->arch, &target);
    printf("%-56s %11s %9.2f %6.2f %9.2f %7.1f %9.2f %6.1f%%", row->name, shape, us,
           (double)(row->read + row->written) / us / 1e6, straight, 100 * straight / us,
           bench_median(&row->memcpy_us), 100 * bench_spread(&row->kernel_us));
    print_target(&target, row->reason);
  }
  fflush(stdout);
}

void bench_table_end(const struct bench *bench, const struct bench_row *rows, size_t count) {
  size_t targets = 0, met = 0;
  for (size_t i = 0; i < count; i++) {
    struct bench_target target;
    if (rows[i].status != MXQ_OK) continue;
    bench_target_of(&rows[i], bench->arch, &target);
    targets += (size_t)target.exists;
    met += (size_t)(target.exists && target.met);
  }
  if (targets) printf("%zu of %zu targets met (docs/performance.md)\n", met, targets);
}

void bench_list(const struct bench_item *items, size_t count) {
  char name[MXQ_KERNEL_NAME_SIZE];
  for (size_t i = 0; i < count; i++) {
    const struct bench_shape *shape = &items[i].shape;
    if (mxq_kernel_id_name(&items[i].id, name, sizeof name) != MXQ_OK) continue;
    printf("%-56s %" PRId64 ",%" PRId64 ",%" PRId64 "  %s\n", name, shape->e, shape->n, shape->k,
           items[i].set ? items[i].set : "given");
  }
}
