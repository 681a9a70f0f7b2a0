/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"
#include "nvrtc_file.h"
#include "nvrtc_places.h"

/* Newest first. */
static const int majors[] = {13, 12};

#define CANDIDATES   16
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A file that was seen and not opened: opening takes 5 to 200 ms, so the newest by its builtins
 * library's name goes first, and usually no other. */
struct candidate {
  char file[PATH_MAX];
  int minor; /* -1: unknown, the last resort */
  int tried;
};

struct finder {
  struct mxq_nvrtc *best; /* handle NULL: nothing yet */
  int driver_version;     /* 0: no driver */
  int major;              /* being looked for */
  struct candidate candidates[CANDIDATES];
  size_t count;
  char seen[2048]; /* what was found and not taken */
};

static void note(struct finder *finder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void note(struct finder *finder, const char *format, ...) {
  const size_t used = strlen(finder->seen);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(finder->seen + used, sizeof finder->seen - used, format, arguments);
  va_end(arguments);
}

static int too_new(const struct finder *finder) {
  return finder->driver_version && finder->major > finder->driver_version / 1000;
}

static int too_old(const struct finder *finder, int minor) {
  return minor >= 0 && finder->major == MXQ_NVRTC_NEED_MAJOR && minor < MXQ_NVRTC_NEED_MINOR;
}

static void add(struct finder *finder, const char *file, int minor) {
  for (size_t i = 0; i < finder->count; ++i)
    if (strcmp(finder->candidates[i].file, file) == 0) return;
  if (finder->count == CANDIDATES) return;
  struct candidate *candidate = &finder->candidates[finder->count++];
  snprintf(candidate->file, sizeof candidate->file, "%s", file);
  candidate->minor = minor;
  candidate->tried = 0;
}

static void visit_folder(void *user, const char *folder) {
  struct finder *finder = user;
  char file[PATH_MAX], real[PATH_MAX];
  if (snprintf(file, sizeof file, "%s/libnvrtc.so.%d", folder, finder->major) >= (int)sizeof file ||
      access(file, R_OK) != 0 || !realpath(file, real))
    return;
  if (strstr(finder->seen, real)) return; /* CUDA_HOME is often /usr/local/cuda */
  const int minor = mxq_nvrtc_minor_in(folder, finder->major);
  const char *separator = finder->seen[0] ? "; " : "";
  if (too_new(finder))
    note(finder, "%s%s: newer than the driver", separator, real);
  else if (too_old(finder, minor))
    note(finder, "%s%s: is %d.%d, too old", separator, real, finder->major, minor);
  else
    add(finder, real, minor);
}

static void consider(struct finder *finder, const char *file) {
  struct mxq_nvrtc opened;
  char why[MXQ_NVRTC_WHY] = "";
  if (!mxq_nvrtc_open_file(file, &opened, why))
    note(finder, "%s%s: %s", finder->seen[0] ? "; " : "", file, why);
  else if (!finder->best->handle || opened.minor > finder->best->minor)
    *finder->best = opened;
}

/* The loader also answers with a copy that the process has loaded from anywhere. */
static void visit_loader(struct finder *finder) {
  char name[32];
  void *handle = NULL;
  snprintf(name, sizeof name, "libnvrtc.so.%d", finder->major);
  if (too_new(finder) || !(handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL))) return;
  consider(finder, name);
  dlclose(handle);
}

/* The newest that may be newer than what is open; NULL if there is none. */
static struct candidate *next(struct finder *finder) {
  struct candidate *newest = NULL;
  const int have = finder->best->handle ? finder->best->minor : -2;
  for (size_t i = 0; i < finder->count; ++i) {
    struct candidate *candidate = &finder->candidates[i];
    if (candidate->tried || candidate->minor <= have) continue;
    if (!newest || candidate->minor > newest->minor) newest = candidate;
  }
  return newest;
}

static void find(struct finder *finder, const struct mxq_nvrtc_search *search) {
  for (size_t i = 0; i < COUNT(majors) && !finder->best->handle; ++i) {
    finder->major = majors[i];
    finder->count = 0;
    visit_loader(finder);
    mxq_nvrtc_places(search, visit_folder, finder);
    for (struct candidate *candidate; (candidate = next(finder)) != NULL;) {
      candidate->tried = 1;
      consider(finder, candidate->file);
    }
  }
}

static enum mxq_status nothing_found(const struct finder *finder) {
  char driver[64] = "";
  if (finder->driver_version)
    snprintf(driver, sizeof driver, ", and at most %d.x for this machine's driver",
             finder->driver_version / 1000);
  MXQ_FAIL(MXQ_NO_NVRTC,
           "no usable NVRTC was found. Needed: %d.%d or newer%s. Found: %s. Looked in: %s. Install "
           "NVIDIA's Python package nvidia-cuda-nvrtc (13) or nvidia-cuda-nvrtc-cu12, or set "
           "MXQ_NVRTC to a libnvrtc.so file",
           MXQ_NVRTC_NEED_MAJOR, MXQ_NVRTC_NEED_MINOR, driver,
           finder->seen[0] ? finder->seen : "none", mxq_nvrtc_places_text);
}

int mxq_nvrtc_minor_in(const char *folder, int major) {
  char prefix[40];
  int newest = -1;
  DIR *entries = opendir(folder);
  if (!entries) return -1;
  const size_t length = (size_t)snprintf(prefix, sizeof prefix, "libnvrtc-builtins.so.%d.", major);
  for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    if (strncmp(entry->d_name, prefix, length) != 0) continue;
    const int minor = atoi(entry->d_name + length);
    if (minor > newest) newest = minor;
  }
  closedir(entries);
  return newest;
}

enum mxq_status mxq_nvrtc_open_newest(const struct mxq_nvrtc_search *search,
                                      struct mxq_nvrtc *nvrtc) {
  struct finder finder = {.best = nvrtc, .driver_version = mxq_driver_version()};
  nvrtc->handle = NULL;
  find(&finder, search);
  return nvrtc->handle ? MXQ_OK : nothing_found(&finder);
}
