/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "context.h"
#include "device.h"
#include "json.h"
#include "report.h"
#include "target.h"
#include "text.h"

static const struct {
  const char *name, *meaning;
} variables[] = {
    {"MXQ_NVRTC", "the libnvrtc.so to use"},
    {"MXQ_CACHE_DIR", "folders of the disk cache, a colon list"},
    {"MXQ_CACHE_SIZE", "bytes that the cache may grow to"},
    {"MXQ_JIT", "on, cache or off"},
    {"MXQ_RECORD", "a file that gets the name of each variant used"},
    {"MXQ_LOG", "none, warning or info"},
};
#define VARIABLES (sizeof variables / sizeof *variables)

/* What was found. Texts are NULL where there is nothing to say. */
struct found {
  struct mxq_context *context;
  char *context_error;
  struct mxq_nvrtc nvrtc; /* handle NULL: none */
  char *nvrtc_error;
  char *driver_error;
  struct mxq_device_info *devices;
  int device_count;
};

static char *last_error(void) { return text_format("%s", mxq_last_error()); }

static void look_for_devices(struct found *found) {
  int count = 0;
  if (mxq_device_count(&count) != MXQ_OK) {
    found->driver_error = last_error();
    return;
  }
  found->devices = text_allocate((size_t)count, sizeof *found->devices);
  for (int i = 0; i < count && !found->driver_error; i++) {
    if (mxq_device_describe(i, &found->devices[i]) != MXQ_OK)
      found->driver_error = last_error();
    else
      found->device_count++;
  }
}

static void look(const struct arguments *arguments, struct found *found) {
  if (target_context(arguments, &found->context) != MXQ_OK)
    found->context_error = last_error();
  else if (mxq_nvrtc_open(&found->context->search, &found->nvrtc) != MXQ_OK)
    found->nvrtc_error = last_error();
  look_for_devices(found);
}

static void forget(struct found *found) {
  mxq_context_destroy(found->context);
  free(found->context_error);
  free(found->nvrtc_error);
  free(found->driver_error);
  free(found->devices);
}

/* A folder that is not there yet can be made if the nearest one above it can be written. */
static int is_writable(const char *folder) {
  char *path = text_format("%s", folder);
  while (access(path, F_OK) && strrchr(path + 1, '/')) *strrchr(path + 1, '/') = 0;
  const int writable = access(path, F_OK) ? access("/", W_OK) == 0 : access(path, W_OK) == 0;
  free(path);
  return writable;
}

static const char *folder_state(const char *folder) {
  const int there = access(folder, F_OK) == 0;
  if (is_writable(folder)) return there ? "writable" : "not there yet, can be made";
  return there ? "read-only" : "not there, cannot be made";
}

/* ---- What is missing, and what to do ------------------------------------------------------ */

static int can_write_cache(const struct found *found) {
  for (unsigned i = 0; found->context && i < found->context->store.dir_count; i++)
    if (is_writable(found->context->store.dirs[i])) return 1;
  return 0;
}

static void list_advice(const struct found *found, cJSON *advice) {
  if (found->context_error)
    json_add(advice, NULL, cJSON_CreateString("a setting is wrong: correct or unset the variable"));
  if (found->nvrtc_error)
    json_add(advice, NULL,
             cJSON_CreateString("no NVRTC: kernels cannot be compiled here; those in the cache and "
                                "the CPU path work. Install NVIDIA's CUDA toolkit or its Python "
                                "package nvidia-cuda-nvrtc, 12.9 or newer, or set MXQ_NVRTC"));
  if (found->driver_error)
    json_add(advice, NULL,
             cJSON_CreateString("no driver: kernels can be compiled but not run, mxq quantize uses "
                                "the CPU. Install NVIDIA's driver; in a container, start it with "
                                "the GPUs passed in"));
  else if (!found->device_count)
    json_add(advice, NULL,
             cJSON_CreateString("no device: mxq quantize uses the CPU. See CUDA_VISIBLE_DEVICES"));
  if (found->context && !can_write_cache(found))
    json_add(advice, NULL,
             cJSON_CreateString("no cache folder can be written: every process compiles anew. Set "
                                "MXQ_CACHE_DIR to a folder of your own"));
}

/* ---- Text --------------------------------------------------------------------------------- */

/* A line of a section; a text of several lines is set under the first. */
static void print_line(const char *section, const char *text) {
  printf("%-10s ", section);
  for (; *text; text++) {
    putchar(*text);
    if (*text == '\n') printf("%-10s ", "");
  }
  putchar('\n');
}

static void print_nvrtc(const struct found *found) {
  if (found->context_error) print_line("settings", found->context_error);
  if (found->nvrtc_error) print_line("NVRTC", found->nvrtc_error);
  if (!found->nvrtc.handle) return;
  char *text = text_format("%d.%d, %s", found->nvrtc.major, found->nvrtc.minor, found->nvrtc.path);
  print_line("NVRTC", text);
  free(text);
}

static void print_devices(const struct found *found) {
  if (found->driver_error) print_line("driver", found->driver_error);
  if (!found->device_count && !found->driver_error) print_line("driver", "found, without a device");
  for (int i = 0; i < found->device_count; i++) {
    const struct mxq_device_info *device = &found->devices[i];
    const int version = device->driver_version;
    if (!i) printf("%-10s CUDA %d.%d\n", "driver", version / 1000, version % 1000 / 10);
    printf("%-10s cuda:%d %s, compute capability %d.%d, %u multiprocessors, %.1f GiB\n", "device",
           device->ordinal, device->name, device->major, device->minor, device->multiprocessors,
           (double)device->memory_bytes / (1 << 30));
  }
}

static void print_cache(const struct found *found) {
  if (!found->context) return;
  const struct mxq_store *store = &found->context->store;
  if (!store->dir_count) print_line("cache", "none: kernels are kept in memory only");
  for (unsigned i = 0; i < store->dir_count; i++)
    printf("%-10s %s (%s; from %s)\n", "cache", store->dirs[i], folder_state(store->dirs[i]),
           store->source ? store->source : "the configuration");
}

static void print_text(const struct found *found) {
  cJSON *advice = json_array();
  const cJSON *item = NULL;
  list_advice(found, advice);
  printf("%-10s %s\n", "mxq", mxq_version());
  print_nvrtc(found);
  print_devices(found);
  print_cache(found);
  for (size_t i = 0; i < VARIABLES; i++) {
    const char *value = getenv(variables[i].name);
    printf("%-10s %s %s%s (%s)\n", "variable", variables[i].name, value ? "= " : "is not set",
           value ? value : "", variables[i].meaning);
  }
  if (!advice->child) print_line("missing", "nothing");
  cJSON_ArrayForEach(item, advice) print_line("missing", item->valuestring);
  cJSON_Delete(advice);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static cJSON *nvrtc_json(const struct found *found) {
  cJSON *nvrtc = json_object();
  char *version = text_format("%d.%d", found->nvrtc.major, found->nvrtc.minor);
  const int there = found->nvrtc.handle != NULL;
  json_add_bool(nvrtc, "found", there);
  json_add_string(nvrtc, "version", there ? version : NULL);
  json_add_string(nvrtc, "path", there ? found->nvrtc.path : NULL);
  json_add_string(nvrtc, "reason", found->nvrtc_error);
  free(version);
  return nvrtc;
}

static cJSON *driver_json(const struct found *found) {
  cJSON *driver = json_object(), *devices = json_array();
  json_add_bool(driver, "found", !found->driver_error);
  json_add_string(driver, "reason", found->driver_error);
  if (found->device_count) json_add_integer(driver, "version", found->devices[0].driver_version);
  for (int i = 0; i < found->device_count; i++) {
    const struct mxq_device_info *device = &found->devices[i];
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

static cJSON *cache_json(const struct found *found) {
  cJSON *folders = json_array();
  for (unsigned i = 0; found->context && i < found->context->store.dir_count; i++) {
    const char *folder = found->context->store.dirs[i];
    cJSON *row = json_object();
    json_add_string(row, "path", folder);
    json_add_bool(row, "exists", access(folder, F_OK) == 0);
    json_add_bool(row, "writable", is_writable(folder));
    json_add(folders, NULL, row);
  }
  return folders;
}

static void print_json(const struct found *found) {
  cJSON *object = json_object(), *values = json_object(), *advice = json_array();
  list_advice(found, advice);
  for (size_t i = 0; i < VARIABLES; i++)
    json_add_string(values, variables[i].name, getenv(variables[i].name));
  json_add_string(object, "version", mxq_version());
  json_add_string(object, "settings_error", found->context_error);
  json_add(object, "nvrtc", nvrtc_json(found));
  json_add(object, "driver", driver_json(found));
  json_add(object, "cache", cache_json(found));
  json_add(object, "variables", values);
  json_add(object, "missing", advice);
  json_print(object);
}

static int run(const struct arguments *arguments) {
  struct found *found = text_allocate(1, sizeof *found);
  look(arguments, found);
  if (arguments->json)
    print_json(found);
  else
    print_text(found);
  forget(found);
  free(found);
  return EXIT_DONE;
}

const struct command command_info = {
    .name = "info",
    .operands = "",
    .summary = "what was found on this machine, and what is missing",
    .details =
        "Prints the version, NVRTC, the driver, devices, cache folders and variables, each\n"
        "with the reason where something was not found, and what to do about it.\n",
    .examples =
        "  mxq info\n"
        "  mxq info --json\n",
    .json = 1,
    .run = run,
};
