/* SPDX-License-Identifier: MIT */
#include "info.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "store_folder.h"
#include "target.h"
#include "text.h"

const struct info_variable info_variables[INFO_VARIABLES] = {
    {"MXQ_NVRTC", "the libnvrtc.so to use"},
    {"MXQ_CACHE_DIR", "folders of the disk cache, a colon list"},
    {"MXQ_CACHE_SIZE", "bytes that the cache may grow to"},
    {"MXQ_JIT", "on, cache or off"},
    {"MXQ_RECORD", "a file that gets the name of each variant used"},
    {"MXQ_LOG", "none, warning or info"},
};

static char *last_error(void) { return text_format("%s", mxq_last_error()); }

static void look_for_devices(struct info *info) {
  int count = 0;
  if (mxq_device_count(&count) != MXQ_OK) {
    info->driver_error = last_error();
    return;
  }
  info->devices = text_allocate((size_t)count, sizeof *info->devices);
  for (int i = 0; i < count && !info->driver_error; i++) {
    if (mxq_device_describe(i, &info->devices[i]) != MXQ_OK)
      info->driver_error = last_error();
    else
      info->device_count++;
  }
}

static char *copy(const char *text) { return text ? text_format("%s", text) : NULL; }

/* The library reports the first wrong variable that it meets: each is tried without the others. The
 * wrong ones stay unset, so that the rest can be told. */
static char *take_wrong_settings(const struct arguments *arguments, const struct info *info) {
  struct text wrong = {0};
  int good[INFO_VARIABLES] = {0};
  for (size_t i = 0; i < INFO_VARIABLES; i++) unsetenv(info_variables[i].name);
  for (size_t i = 0; i < INFO_VARIABLES; i++) {
    struct mxq_context *context = NULL;
    if (!info->values[i]) continue;
    setenv(info_variables[i].name, info->values[i], 1);
    good[i] = target_context(arguments, &context) == MXQ_OK;
    if (!good[i]) text_print(&wrong, "%s%s", wrong.length ? "\n" : "", mxq_last_error());
    mxq_context_destroy(context);
    unsetenv(info_variables[i].name);
  }
  for (size_t i = 0; i < INFO_VARIABLES; i++)
    if (good[i]) setenv(info_variables[i].name, info->values[i], 1);
  return wrong.data;
}

/* Why the file of MXQ_RECORD cannot be appended to; NULL if it can, or there is none. */
static char *find_record_problem(const char *path) {
  if (!path || !*path) return NULL;
  const int there = access(path, F_OK) == 0;
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
  if (file < 0) return text_format("%s", strerror(errno));
  close(file);
  if (!there) unlink(path);
  return NULL;
}

static void look(const struct arguments *arguments, struct info *info) {
  for (size_t i = 0; i < INFO_VARIABLES; i++)
    info->values[i] = copy(getenv(info_variables[i].name));
  info->record_error = find_record_problem(getenv("MXQ_RECORD"));
  if (target_context(arguments, &info->context) != MXQ_OK) {
    info->context_error = take_wrong_settings(arguments, info);
    if (!info->context_error || target_context(arguments, &info->context) != MXQ_OK)
      info->context_error = last_error();
  }
  if (info->context && mxq_nvrtc_open(&info->context->search, &info->nvrtc) != MXQ_OK)
    info->nvrtc_error = last_error();
  look_for_devices(info);
}

static void forget(struct info *info) {
  mxq_context_destroy(info->context);
  for (size_t i = 0; i < INFO_VARIABLES; i++) free(info->values[i]);
  free(info->record_error);
  free(info->context_error);
  free(info->nvrtc_error);
  free(info->driver_error);
  free(info->devices);
}

static int can_write_cache(const struct info *info) {
  int writable = 0;
  for (unsigned i = 0; info->context && i < info->context->store.dir_count; i++) {
    char *problem = info_folder_problem(info->context->store.dirs[i]);
    writable |= !problem;
    free(problem);
  }
  return writable;
}

static int run(const struct arguments *arguments) {
  struct info *info = text_allocate(1, sizeof *info);
  look(arguments, info);
  if (arguments->json)
    info_print_json(info);
  else
    info_print(info);
  forget(info);
  free(info);
  return EXIT_DONE;
}

/* Whether a folder that is not there yet can be made: where the nearest one above it can be
 * written. */
static int can_be_made(const char *folder) {
  char *path = text_format("%s%s", folder[0] == '/' ? "" : "./", folder);
  char *slash = path;
  while (access(path, F_OK) && (slash = strrchr(path, '/')) && slash != path) *slash = 0;
  struct stat status;
  const char *above = access(path, F_OK) ? "/" : path;
  const int writable =
      access(above, W_OK) == 0 && stat(above, &status) == 0 && S_ISDIR(status.st_mode);
  free(path);
  return writable;
}

char *info_folder_problem(const char *folder) {
  char why[512] = "";
  if (access(folder, F_OK))
    return can_be_made(folder) ? NULL : text_format("not there, and cannot be made");
  const int descriptor = mxq_store_folder_open(folder, MXQ_FOLDER_READ, why, sizeof why);
  const size_t named = strlen(folder);
  const int names = !strncmp(why, folder, named) && !strncmp(why + named, ": ", 2);
  if (descriptor < 0) return text_format("%s", names ? why + named + 2 : why);
  close(descriptor);
  return access(folder, W_OK) ? text_format("read-only") : NULL;
}

#define GET_DRIVER ". Install NVIDIA's driver; in a container, start it with the GPUs passed in"

void info_advise(const struct info *info, cJSON *advice) {
  if (info->context_error)
    json_add(advice, NULL, cJSON_CreateString("a setting is wrong: correct or unset the variable"));
  if (info->record_error)
    json_add(advice, NULL,
             cJSON_CreateString("MXQ_RECORD names a file that cannot be written: variants are not "
                                "recorded"));
  if (info->nvrtc_error)
    json_add(advice, NULL,
             cJSON_CreateString("no NVRTC: kernels cannot be compiled here; those in the cache and "
                                "the CPU path work. Install NVIDIA's CUDA toolkit or its Python "
                                "package nvidia-cuda-nvrtc, 12.9 or newer and of no higher major "
                                "version than the driver, or set MXQ_NVRTC"));
  if (info->driver_error)
    json_add(advice, NULL,
             cJSON_CreateString(info->nvrtc_error
                                    ? "no driver: kernels cannot be run either, mxq quantize uses "
                                      "the CPU" GET_DRIVER
                                    : "no driver: kernels can be compiled but not run, mxq "
                                      "quantize uses the CPU" GET_DRIVER));
  else if (!info->device_count)
    json_add(advice, NULL,
             cJSON_CreateString("no device: mxq quantize uses the CPU. See CUDA_VISIBLE_DEVICES"));
  if (info->context && !can_write_cache(info))
    json_add(advice, NULL,
             cJSON_CreateString("no cache folder can be written: every process compiles anew. Set "
                                "MXQ_CACHE_DIR to a folder of your own"));
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
