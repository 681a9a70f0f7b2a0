/* SPDX-License-Identifier: MIT */
#ifndef MXQ_BENCH_CPU_JSON_H
#define MXQ_BENCH_CPU_JSON_H

#include "bench.h"

enum { CPU_VECTORS, CPU_PLAIN, CPU_BUILDS };

struct cpu_row {
  const char *name;        /* of the variant */
  double rate[CPU_BUILDS]; /* millions of elements a second */
  double target;           /* of the vectorized build, at least; 0: none */
};

int cpu_print_json(const struct bench_options *options, const struct cpu_row *rows, size_t count,
                   int n, int k);

#endif
