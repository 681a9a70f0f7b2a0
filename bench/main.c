/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "status.h"

static enum mxq_status open_bench(struct bench *bench) {
  MXQ_TRY(mxq_device_describe(bench->options->device, &bench->info));
  MXQ_TRY(mxq_arch_of_device(bench->info.major, bench->info.minor, &bench->arch));
  MXQ_TRY(mxq_context_create(NULL, &bench->context));
  return bench_straights_create(&bench->info, &bench->straights);
}

/* All kernels at one shape before the next, so that their buffers stay alike. */
static int measure_all(const struct bench *bench, const struct mxq_kernel_id *ids, size_t count) {
  const struct bench_options *options = bench->options;
  const size_t total = count * options->shape_count;
  struct bench_row *rows = calloc(total, sizeof *rows);
  size_t done = 0, taken = 0;
  int status = rows ? BENCH_DONE : BENCH_FAILED;
  if (rows && !options->json) bench_table_header(bench);
  for (size_t s = 0; s < options->shape_count; s++)
    for (size_t i = 0; status == BENCH_DONE && i < count; i++) {
      struct bench_row *row = &rows[done++];
      bench_progress("%zu of %zu", done, total);
      const enum mxq_status measured = bench_measure_row(bench, &ids[i], &options->shapes[s], row);
      bench_progress("%s", "");
      if (measured != MXQ_OK)
        status = bench_exit(measured);
      else if (!options->json)
        bench_table_row(row);
      taken += row->status == MXQ_OK;
    }
  if (status == BENCH_DONE && options->json) status = bench_json_print(bench, rows, done);
  if (status == BENCH_DONE && taken == 0) {
    fprintf(stderr, "mxq-bench: no kernel takes any of the shapes: %s\n", mxq_last_error());
    status = BENCH_FAILED;
  }
  free(rows);
  return status;
}

static int run(const struct bench_options *options) {
  struct bench bench = {.options = options};
  struct mxq_kernel_id *ids = NULL;
  const struct mxq_arch *any = NULL;
  size_t count = 0;
  /* Names are checked before a device is looked for. */
  int status = mxq_arch_parse("90a", &any) == MXQ_OK ? bench_select(options, any, &ids, &count)
                                                     : BENCH_FAILED;
  free(ids);
  ids = NULL;
  if (status != BENCH_DONE) return status;
  const enum mxq_status opened = open_bench(&bench);
  if (opened != MXQ_OK) status = bench_exit(opened);
  if (status == BENCH_DONE) status = bench_select(options, bench.arch, &ids, &count);
  if (status == BENCH_DONE) status = measure_all(&bench, ids, count);
  free(ids);
  bench_straights_destroy(bench.straights);
  mxq_context_destroy(bench.context);
  return status;
}

int main(int argc, char **argv) {
  struct bench_options options;
  if (argc == 3 && !strcmp(argv[1], "--host-child")) return bench_host_child(argv[2]);
  int status = bench_options_read(argc, argv, &options);
  if (status == BENCH_DONE && options.help)
    bench_help();
  else if (status == BENCH_DONE && options.host)
    status = bench_host(&options);
  else if (status == BENCH_DONE)
    status = run(&options);
  free(options.patterns);
  return status;
}
