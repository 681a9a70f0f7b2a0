/* SPDX-License-Identifier: MIT */
#include "info.h"

#include <stdlib.h>
#include <unistd.h>

#include <mxq/mxq.h>

#include "text.h"

static cJSON *nvrtc_json(const struct info *info) {
  cJSON *nvrtc = json_object();
  char *version = text_format("%d.%d", info->nvrtc.major, info->nvrtc.minor);
  const int there = info->nvrtc.handle != NULL;
  json_add_bool(nvrtc, "found", there);
  json_add_string(nvrtc, "version", there ? version : NULL);
  json_add_string(nvrtc, "path", there ? info->nvrtc.path : NULL);
  json_add_string(nvrtc, "reason", info->nvrtc_error);
  free(version);
  return nvrtc;
}

static cJSON *driver_json(const struct info *info) {
  cJSON *driver = json_object(), *devices = json_array();
  json_add_bool(driver, "found", !info->driver_error);
  json_add_string(driver, "reason", info->driver_error);
  if (info->device_count) json_add_integer(driver, "version", info->devices[0].driver_version);
  for (int i = 0; i < info->device_count; i++) {
    const struct mxq_device_info *device = &info->devices[i];
    cJSON *row = json_object();
    json_add_integer(row, "ordinal", device->ordinal);
    json_add_string(row, "name", device->name);
    json_add_integer(row, "major", device->major);
    json_add_integer(row, "minor", device->minor);
    json_add_integer(row, "multiprocessors", device->multiprocessors);
    json_add_integer(row, "memory_bytes", (int64_t)device->memory_bytes);
    json_add(devices, NULL, row);
  }
  json_add(driver, "devices", devices);
  return driver;
}

static cJSON *cache_json(const struct info *info) {
  cJSON *folders = json_array();
  for (unsigned i = 0; info->context && i < info->context->store.dir_count; i++) {
    const char *folder = info->context->store.dirs[i];
    cJSON *row = json_object();
    json_add_string(row, "path", folder);
    json_add_bool(row, "exists", access(folder, F_OK) == 0);
    char *problem = info_folder_problem(folder);
    json_add_bool(row, "writable", !problem);
    json_add_string(row, "reason", problem);
    free(problem);
    json_add(folders, NULL, row);
  }
  return folders;
}

void info_print_json(const struct info *info) {
  cJSON *object = json_object(), *values = json_object(), *advice = json_array();
  info_advise(info, advice);
  for (size_t i = 0; i < INFO_VARIABLES; i++)
    json_add_string(values, info_variables[i].name, info->values[i]);
  json_add_string(object, "version", mxq_version());
  json_add_string(object, "settings_error", info->context_error);
  json_add_string(object, "record_error", info->record_error);
  json_add(object, "nvrtc", nvrtc_json(info));
  json_add(object, "driver", driver_json(info));
  json_add(object, "cache", cache_json(info));
  json_add(object, "variables", values);
  json_add(object, "missing", advice);
  json_print(object);
}
