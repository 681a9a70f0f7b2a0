/* SPDX-License-Identifier: MIT */
#include "host.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "status.h"

static const char variant[] = "quantize_bf16_e4m3_b32_rceil_colt_lin";

double host_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int ascending(const void *a, const void *b) {
  const double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

double host_median(double *values, size_t count) {
  qsort(values, count, sizeof *values, ascending);
  return values[count / 2];
}

struct host_row *host_add(struct host *host, const char *name, const char *unit, const char *what,
                          double value, double target) {
  struct host_row *row = &host->rows[host->count++];
  *row =
      (struct host_row){.name = name, .unit = unit, .what = what, .value = value, .target = target};
  return row;
}

void host_skip(struct host *host, const char *name, const char *what, const char *why) {
  struct host_row *row = host_add(host, name, "", what, 0, -1);
  row->skipped = 1;
  snprintf(row->note, sizeof row->note, "%s", why);
}

enum mxq_status host_context(const char *dirs, const struct mxq_allocator *allocator,
                             struct mxq_context **context) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  config.cache_dirs = dirs;
  if (allocator) config.resize = allocator->resize;
  if (allocator) config.resize_user = allocator->user;
  return mxq_context_create(&config, context);
}

const char *host_new_folder(const struct host *host, char *text) {
  static unsigned number;
  snprintf(text, 128, "%s/%u", host->folder, number++);
  return text;
}

/* ---- Printing ------------------------------------------------------------------------------ */

static void print_row(const struct host_row *row) {
  if (row->skipped) {
    printf("%-26s %12s %-6s %10s  %s\n", row->name, "-", "", "skipped", row->note);
    return;
  }
  char target[32] = "";
  if (row->target >= 0) snprintf(target, sizeof target, "<= %g", row->target);
  printf("%-26s %12.3f %-6s %10s  %-6s %s%s%s\n", row->name, row->value, row->unit, target,
         row->target < 0             ? ""
         : row->value <= row->target ? "met"
                                     : "MISSED",
         row->what, row->note[0] ? "; " : "", row->note);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status, (void)type, (void)walk;
  return remove(path);
}

/* ---- All of it ----------------------------------------------------------------------------- */

static enum mxq_status begin(struct host *host, int device) {
  struct mxq_device_info info;
  const char *folder = getenv("TMPDIR");
  MXQ_TRY(mxq_kernel_id_parse(variant, &host->id));
  MXQ_TRY(mxq_arch_parse("90a", &host->arch));
  if (mxq_device_describe(device, &info) == MXQ_OK)
    MXQ_TRY(mxq_arch_of_device(info.major, info.minor, &host->arch));
  snprintf(host->folder, sizeof host->folder, "%.60s/mxq-bench-XXXXXX",
           folder && *folder ? folder : "/tmp");
  MXQ_FAIL_IF(!mkdtemp(host->folder), MXQ_IO_ERROR, "no folder %s can be made", host->folder);
  return MXQ_OK;
}

/* Children before this process opens a driver or a compiler. */
static enum mxq_status measure(struct host *host, int device) {
  MXQ_TRY(host_measure_processes(host));
  MXQ_TRY(host_measure_lookups(host));
  MXQ_TRY(host_measure_growth(host));
  return host_measure_launches(host, device);
}

int bench_host(const struct bench_options *options) {
  struct host host = {.count = 0};
  enum mxq_status status = begin(&host, options->device);
  if (status == MXQ_OK) status = measure(&host, options->device);
  if (host.folder[0]) nftw(host.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  if (status != MXQ_OK) return bench_exit(status);
  if (options->json) return host_print_json(&host);
  printf("%-26s %12s %-6s %10s  %-6s %s\n", "what", "measured", "", "target", "met", "");
  for (size_t i = 0; i < host.count; i++) print_row(&host.rows[i]);
  return BENCH_DONE;
}
