/* SPDX-License-Identifier: MIT */
#include "nvrtc.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"
#include "nvrtc_places.h"
#include "quote.h"

/* Newest first. */
static const int majors[] = {13, 12};

#define WHY_SIZE     320
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct finder {
  struct mxq_nvrtc best; /* handle NULL: nothing yet */
  int driver_version;    /* 0: no driver */
  int major;             /* being looked for */
  char seen[2048];       /* what was found and not taken */
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

/* ---- One copy ----------------------------------------------------------------------------- */

struct build_id_query {
  ElfW(Addr) base;
  char *hex; /* 41 bytes */
};

static void copy_build_id(const unsigned char *note_bytes, size_t size, char *hex) {
  ElfW(Nhdr) header;
  for (size_t at = 0; at + sizeof header <= size;) {
    memcpy(&header, note_bytes + at, sizeof header);
    const size_t name = at + sizeof header;
    const size_t content = name + ((header.n_namesz + 3u) & ~(size_t)3);
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && header.n_descsz <= 20 &&
        memcmp(note_bytes + name, "GNU", 4) == 0) {
      for (size_t i = 0; i < header.n_descsz; ++i)
        snprintf(hex + 2 * i, 3, "%02x", note_bytes[content + i]);
      return;
    }
    at = content + ((header.n_descsz + 3u) & ~(size_t)3);
  }
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *user) {
  const struct build_id_query *query = user;
  (void)size;
  if (info->dlpi_addr != query->base) return 0;
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    if (header->p_type == PT_NOTE && !query->hex[0])
      copy_build_id((const unsigned char *)(uintptr_t)(info->dlpi_addr + header->p_vaddr),
                    header->p_memsz, query->hex);
  }
  return 1;
}

/* Reads functions, version, path and build id of an opened library. On failure says what is wrong
 * in `why`. */
static int describe(void *handle, struct mxq_nvrtc *nvrtc, char why[WHY_SIZE]) {
  struct link_map *map = NULL;
#define ROW(type, name, arguments)                                    \
  {                                                                   \
    void *const address = dlsym(handle, #name);                       \
    memcpy(&nvrtc->name, &address, sizeof address);                   \
    if (!address) return snprintf(why, WHY_SIZE, "has no " #name), 0; \
  }
  MXQ_NVRTC_TABLE(ROW)
#undef ROW
  if (nvrtc->nvrtcVersion(&nvrtc->major, &nvrtc->minor) != 0)
    return snprintf(why, WHY_SIZE, "does not tell its version"), 0;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || !realpath(map->l_name, nvrtc->path))
    return snprintf(why, WHY_SIZE, "has no path"), 0;
  struct build_id_query query = {map->l_addr, nvrtc->build_id};
  dl_iterate_phdr(visit_object, &query);
  nvrtc->handle = handle;
  return 1;
}

static int new_enough(const struct mxq_nvrtc *nvrtc) {
  return nvrtc->major > MXQ_NVRTC_NEED_MAJOR ||
         (nvrtc->major == MXQ_NVRTC_NEED_MAJOR && nvrtc->minor >= MXQ_NVRTC_NEED_MINOR);
}

/* NVRTC opens its builtins by bare name, which the loader may not find, or find in another
 * version: a library of that name that is loaded already is taken first. */
static int load_builtins(const struct mxq_nvrtc *nvrtc, char why[WHY_SIZE]) {
  char file[PATH_MAX + 64], name[64];
  const char *slash = strrchr(nvrtc->path, '/');
  snprintf(name, sizeof name, "libnvrtc-builtins.so.%d.%d", nvrtc->major, nvrtc->minor);
  snprintf(file, sizeof file, "%.*s/%s", slash ? (int)(slash - nvrtc->path) : 0, nvrtc->path, name);
  if (dlopen(file, RTLD_NOW | RTLD_LOCAL) || dlopen(name, RTLD_NOW | RTLD_LOCAL)) return 1;
  return snprintf(why, WHY_SIZE, "needs %s, which is not in its folder", name), 0;
}

/* Opens one file; 1 if it can be used. */
static int open_file(const char *file, struct mxq_nvrtc *nvrtc, char why[WHY_SIZE]) {
  memset(nvrtc, 0, sizeof *nvrtc);
  void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return snprintf(why, WHY_SIZE, "%s", dlerror()), 0;
  if (describe(handle, nvrtc, why)) {
    if (new_enough(nvrtc) && load_builtins(nvrtc, why)) return 1;
    if (!new_enough(nvrtc))
      snprintf(why, WHY_SIZE, "is %d.%d, too old", nvrtc->major, nvrtc->minor);
  }
  dlclose(handle);
  return 0;
}

/* ---- The newest of many -------------------------------------------------------------------- */

static void consider(struct finder *finder, const char *file) {
  struct mxq_nvrtc candidate;
  char why[WHY_SIZE] = "";
  if (!open_file(file, &candidate, why)) {
    note(finder, "%s%s: %s", finder->seen[0] ? "; " : "", file, why);
  } else if (!finder->best.handle || candidate.minor > finder->best.minor) {
    finder->best = candidate;
  }
}

static int too_new(const struct finder *finder) {
  return finder->driver_version && finder->major > finder->driver_version / 1000;
}

static void visit_folder(void *user, const char *folder) {
  struct finder *finder = user;
  char file[PATH_MAX];
  if (snprintf(file, sizeof file, "%s/libnvrtc.so.%d", folder, finder->major) >= (int)sizeof file ||
      access(file, R_OK) != 0)
    return;
  if (strstr(finder->seen, file)) return; /* CUDA_HOME is often /usr/local/cuda */
  if (too_new(finder))
    note(finder, "%s%s: newer than the driver", finder->seen[0] ? "; " : "", file);
  else
    consider(finder, file);
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

static enum mxq_status open_newest(const struct mxq_nvrtc_search *search, struct finder *finder) {
  char driver[64] = "";
  finder->driver_version = mxq_driver_version();
  for (size_t i = 0; i < COUNT(majors) && !finder->best.handle; ++i) {
    finder->major = majors[i];
    visit_loader(finder);
    mxq_nvrtc_places(search, visit_folder, finder);
  }
  if (finder->best.handle) return MXQ_OK;
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

/* ---- Public -------------------------------------------------------------------------------- */

enum mxq_status mxq_nvrtc_search_read(const struct mxq_allocator *allocator,
                                      const char *config_path, struct mxq_nvrtc_search *search) {
  struct mxq_nvrtc_search read = {.path = NULL};
  const struct {
    char **to;
    const char *value;
  } rows[] = {
      {&read.path, config_path && *config_path ? config_path : getenv("MXQ_NVRTC")},
      {&read.cuda_home, getenv("CUDA_HOME")},
      {&read.cuda_path, getenv("CUDA_PATH")},
      {&read.virtual_env, getenv("VIRTUAL_ENV")},
      {&read.conda, getenv("CONDA_PREFIX")},
      {&read.home, getenv("HOME")},
  };
  for (size_t i = 0; i < COUNT(rows); ++i) {
    if (!rows[i].value || !*rows[i].value) continue;
    *rows[i].to = mxq_copy_string(allocator, rows[i].value);
    if (*rows[i].to) continue;
    mxq_nvrtc_search_free(allocator, &read);
    MXQ_FAIL(MXQ_OUT_OF_MEMORY, "no memory for the places to look for NVRTC in");
  }
  *search = read;
  return MXQ_OK;
}

void mxq_nvrtc_search_free(const struct mxq_allocator *allocator, struct mxq_nvrtc_search *search) {
  mxq_free(allocator, search->path);
  mxq_free(allocator, search->cuda_home);
  mxq_free(allocator, search->cuda_path);
  mxq_free(allocator, search->virtual_env);
  mxq_free(allocator, search->conda);
  mxq_free(allocator, search->home);
  memset(search, 0, sizeof *search);
}

enum mxq_status mxq_nvrtc_open(const struct mxq_nvrtc_search *search, struct mxq_nvrtc *nvrtc) {
  struct finder finder = {.driver_version = 0};
  char why[WHY_SIZE] = "";
  if (!search->path) {
    MXQ_TRY(open_newest(search, &finder));
  } else if (!open_file(search->path, &finder.best, why)) {
    MXQ_FAIL(MXQ_NO_NVRTC,
             "the NVRTC named by MXQ_NVRTC or the configuration, %s, cannot be used: %s. Needed is "
             "a libnvrtc.so file of version %d.%d or newer; unset it to search",
             mxq_quote(search->path).text, why, MXQ_NVRTC_NEED_MAJOR, MXQ_NVRTC_NEED_MINOR);
  }
  *nvrtc = finder.best;
  return MXQ_OK;
}
