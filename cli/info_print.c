/* SPDX-License-Identifier: MIT */
#include "info.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <mxq/mxq.h>

#include "text.h"

/* A line of a section; a text of several lines is set under the first. */
static void print_line(const char *section, const char *text) {
  printf("%-10s ", section);
  for (; *text; text++) {
    putchar(*text);
    if (*text == '\n') printf("%-10s ", "");
  }
  putchar('\n');
}

static void print_nvrtc(const struct info *info) {
  if (info->record_error) printf("%-10s MXQ_RECORD: %s\n", "settings", info->record_error);
  if (info->context_error) print_line("settings", info->context_error);
  if (info->nvrtc_error) print_line("NVRTC", info->nvrtc_error);
  if (!info->nvrtc.handle) return;
  char *text = text_format("%d.%d, %s", info->nvrtc.major, info->nvrtc.minor, info->nvrtc.path);
  print_line("NVRTC", text);
  free(text);
}

static void print_devices(const struct info *info) {
  if (info->driver_error) print_line("driver", info->driver_error);
  if (!info->device_count && !info->driver_error) print_line("driver", "found, without a device");
  for (int i = 0; i < info->device_count; i++) {
    const struct mxq_device_info *device = &info->devices[i];
    const int version = device->driver_version;
    if (!i) printf("%-10s CUDA %d.%d\n", "driver", version / 1000, version % 1000 / 10);
    printf("%-10s cuda:%d %s, compute capability %d.%d, %u multiprocessors, %.1f GiB\n", "device",
           device->ordinal, device->name, device->major, device->minor, device->multiprocessors,
           (double)device->memory_bytes / (1 << 30));
  }
}

static void print_cache(const struct info *info) {
  if (!info->context) return;
  const struct mxq_store *store = &info->context->store;
  if (!store->dir_count) print_line("cache", "none: kernels are kept in memory only");
  for (unsigned i = 0; i < store->dir_count; i++) {
    const char *folder = store->dirs[i];
    char *problem = info_folder_problem(folder);
    const char *state = access(folder, F_OK) ? "not there yet, can be made" : "writable";
    printf("%-10s %s (%s; from %s)\n", "cache", folder, problem ? problem : state,
           store->source ? store->source : "the configuration");
    free(problem);
  }
}

void info_print(const struct info *info) {
  cJSON *advice = json_array();
  const cJSON *item = NULL;
  info_advise(info, advice);
  printf("%-10s %s\n", "mxq", mxq_version());
  print_nvrtc(info);
  print_devices(info);
  print_cache(info);
  for (size_t i = 0; i < INFO_VARIABLES; i++) {
    const char *value = info->values[i];
    printf("%-10s %s %s%s (%s)\n", "variable", info_variables[i].name, value ? "= " : "is not set",
           value ? value : "", info_variables[i].meaning);
  }
  if (!advice->child) print_line("missing", "nothing");
  cJSON_ArrayForEach(item, advice) print_line("missing", item->valuestring);
  cJSON_Delete(advice);
}
