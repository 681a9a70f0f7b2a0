/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "host.h"
#include "plan_as.h"
#include "status.h"
#include "tuning.h"

static enum mxq_status open_bench(struct bench *bench) {
  MXQ_TRY(mxq_device_describe(bench->options->device, &bench->info));
  MXQ_TRY(mxq_arch_of_device(bench->info.major, bench->info.minor, &bench->arch));
  MXQ_TRY(mxq_context_create(NULL, &bench->context));
  MXQ_TRY(bench_straights_create(&bench->info, &bench->straights));
  const struct mxq_nvrtc *nvrtc = bench_straights_nvrtc(bench->straights);
  bench->nvrtc_version = 1000 * nvrtc->major + 10 * nvrtc->minor;
  return MXQ_OK;
}

/* A kernel that stands for its family gives way to the one that the shape's size gets. */
static struct bench_item item_of(const struct bench_options *options, const struct mxq_arch *arch,
                                 const struct mxq_kernel_id *id, const struct bench_shape *at) {
  const struct mxq_shape shape = mxq_shape_dense(at->e, at->n, at->k);
  const struct mxq_capacity capacity = mxq_capacity_of(arch);
  struct bench_item item = {.id = *id, .shape = *at};
  struct mxq_byte_counts bytes;
  if (!options->schedules && mxq_sizes(&id->variant, &shape, &bytes) == MXQ_OK)
    (void)mxq_tune_choose(&id->variant, (enum mxq_family)id->family, arch,
                          mxq_plan_size(&id->variant, &bytes, &capacity), &item.id);
  return item;
}

/* All kernels at one shape before the next, so that their buffers stay alike. */
static int list_items(const struct bench_options *options, const struct cJSON *from,
                      const struct mxq_arch *arch, struct bench_item **items, size_t *count) {
  struct mxq_kernel_id *ids = NULL;
  size_t id_count = 0;
  *count = 0;
  if (from) return bench_saved_items(options, from, items, count);
  if (options->main) return bench_main_set(options, arch, items, count);
  const int status = bench_select(options, arch, &ids, &id_count);
  if (status != BENCH_DONE) return status;
  *count = id_count * options->shape_count;
  *items = calloc(*count, sizeof **items);
  for (size_t i = 0; *items && i < *count; i++)
    (*items)[i] = item_of(options, arch, &ids[i % id_count], &options->shapes[i / id_count]);
  free(ids);
  return *items ? BENCH_DONE : BENCH_FAILED;
}

static int run(const struct bench_options *options, const struct cJSON *from,
               const struct cJSON *reasons) {
  struct bench bench = {.options = options, .reasons = reasons};
  struct bench_item *items = NULL;
  const struct mxq_arch *any = NULL;
  size_t count = 0;
  /* Names are checked before a device is looked for. */
  int status = mxq_arch_parse("90a", &any) == MXQ_OK
                   ? list_items(options, from, any, &items, &count)
                   : BENCH_FAILED;
  if (status == BENCH_DONE && !count) fprintf(stderr, "mxq-bench: nothing of it to measure\n");
  if (status == BENCH_DONE && options->list) bench_list(items, count);
  free(items);
  items = NULL;
  if (status != BENCH_DONE || options->list || !count) return status;
  const enum mxq_status opened = open_bench(&bench);
  if (opened != MXQ_OK) status = bench_exit(opened);
  if (status == BENCH_DONE) status = list_items(options, from, bench.arch, &items, &count);
  if (status == BENCH_DONE)
    status = options->once ? bench_once(&bench, items, count)
                           : bench_measure_items(&bench, items, count);
  free(items);
  bench_straights_destroy(bench.straights);
  mxq_context_destroy(bench.context);
  return status;
}

static int run_with_files(const struct bench_options *options) {
  struct cJSON *from = NULL, *reasons = NULL;
  int status = BENCH_DONE;
  if (options->from) status = bench_saved_read(options->from, "mxq_bench", &from);
  if (status == BENCH_DONE && options->reasons)
    status = bench_saved_read(options->reasons, "mxq_reasons", &reasons);
  if (status == BENCH_DONE)
    status = options->show ? bench_saved_show(options, from, reasons) : run(options, from, reasons);
  cJSON_Delete(from);
  cJSON_Delete(reasons);
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
  else if (status == BENCH_DONE && options.tune)
    status = bench_tune(&options);
  else if (status == BENCH_DONE && options.cpu)
    status = bench_cpu(&options);
  else if (status == BENCH_DONE)
    status = run_with_files(&options);
  free(options.patterns);
  return status;
}
