/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "host.h"
#include "status.h"

static int measure(const struct bench *bench, const struct bench_item *items, size_t count,
                   FILE *save, struct bench_row *rows) {
  size_t taken = 0;
  int status = BENCH_DONE;
  const double begin = host_now();
  if (!bench->options->json) bench_table_header(bench);
  for (size_t i = 0; status == BENCH_DONE && i < count; i++) {
    bench_progress("%zu of %zu, %.0f s", i + 1, count, host_now() - begin);
    const enum mxq_status measured =
        bench_measure_row(bench, &items[i].id, &items[i].shape, &rows[i]);
    rows[i].set = items[i].set;
    rows[i].reason = bench_reason_of(bench->reasons, &rows[i]);
    bench_progress("%s", "");
    if (measured != MXQ_OK)
      status = bench_exit(measured);
    else if (!bench->options->json)
      bench_table_row(bench, &rows[i]);
    taken += rows[i].status == MXQ_OK;
  }
  if (status != BENCH_DONE) return status;
  if (!bench->options->json) bench_table_end(bench, rows, count);
  if (bench->options->json) status = bench_json_print(stdout, bench, rows, count);
  if (save && bench_json_print(save, bench, rows, count) != BENCH_DONE) status = BENCH_FAILED;
  if (taken) return status;
  fprintf(stderr, "mxq-bench: no kernel takes any of the shapes: %s\n", mxq_last_error());
  return BENCH_FAILED;
}

static int with_rows(const struct bench *bench, const struct bench_item *items, size_t count,
                     FILE *save) {
  struct bench_row *rows = calloc(count, sizeof *rows);
  const enum mxq_status prepared = rows ? bench_prepare(bench, items, count) : MXQ_OK;
  int status = rows ? BENCH_DONE : BENCH_FAILED;
  if (prepared != MXQ_OK)
    status = bench_exit(prepared);
  else if (rows)
    status = measure(bench, items, count, save, rows);
  free(rows);
  return status;
}

/* The file is opened first: whoever has measured for minutes wants to keep it. */
int bench_measure_items(const struct bench *bench, const struct bench_item *items, size_t count) {
  const char *path = bench->options->save;
  FILE *save = path ? fopen(path, "we") : NULL;
  const int opened = !path || save;
  int status = opened ? with_rows(bench, items, count, save) : BENCH_FAILED;
  const int closed = !save || fclose(save) == 0;
  if (opened && closed) return status;
  fprintf(stderr, "mxq-bench: %s: %s\n", path, strerror(errno));
  return BENCH_FAILED;
}
