/* SPDX-License-Identifier: MIT */
#include "nvrtc.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvrtc_file.h"
#include "quote.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

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
static int describe(void *handle, struct mxq_nvrtc *nvrtc, char why[MXQ_NVRTC_WHY]) {
  struct link_map *map = NULL;
#define ROW(type, name, arguments)                                         \
  {                                                                        \
    void *const address = dlsym(handle, #name);                            \
    memcpy(&nvrtc->name, &address, sizeof address);                        \
    if (!address) return snprintf(why, MXQ_NVRTC_WHY, "has no " #name), 0; \
  }
  MXQ_NVRTC_TABLE(ROW)
#undef ROW
  if (nvrtc->nvrtcVersion(&nvrtc->major, &nvrtc->minor) != 0)
    return snprintf(why, MXQ_NVRTC_WHY, "does not tell its version"), 0;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || !realpath(map->l_name, nvrtc->path))
    return snprintf(why, MXQ_NVRTC_WHY, "has no path"), 0;
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
static int load_builtins(const struct mxq_nvrtc *nvrtc, char why[MXQ_NVRTC_WHY]) {
  char file[PATH_MAX + 64], name[64];
  const char *slash = strrchr(nvrtc->path, '/');
  snprintf(name, sizeof name, "libnvrtc-builtins.so.%d.%d", nvrtc->major, nvrtc->minor);
  snprintf(file, sizeof file, "%.*s/%s", slash ? (int)(slash - nvrtc->path) : 0, nvrtc->path, name);
  if (dlopen(file, RTLD_NOW | RTLD_LOCAL) || dlopen(name, RTLD_NOW | RTLD_LOCAL)) return 1;
  return snprintf(why, MXQ_NVRTC_WHY, "needs %s, which is not in its folder", name), 0;
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

int mxq_nvrtc_open_file(const char *file, struct mxq_nvrtc *nvrtc, char why[MXQ_NVRTC_WHY]) {
  memset(nvrtc, 0, sizeof *nvrtc);
  void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return snprintf(why, MXQ_NVRTC_WHY, "%s", dlerror()), 0;
  if (describe(handle, nvrtc, why)) {
    if (new_enough(nvrtc) && load_builtins(nvrtc, why)) return 1;
    if (!new_enough(nvrtc))
      snprintf(why, MXQ_NVRTC_WHY, "is %d.%d, too old", nvrtc->major, nvrtc->minor);
  }
  dlclose(handle);
  return 0;
}

enum mxq_status mxq_nvrtc_open(const struct mxq_nvrtc_search *search, struct mxq_nvrtc *nvrtc) {
  struct mxq_nvrtc opened;
  char why[MXQ_NVRTC_WHY] = "";
  if (!search->path) {
    MXQ_TRY(mxq_nvrtc_open_newest(search, &opened));
  } else if (!mxq_nvrtc_open_file(search->path, &opened, why)) {
    MXQ_FAIL(MXQ_NO_NVRTC,
             "the NVRTC named by MXQ_NVRTC or the configuration, %s, cannot be used: %s. Needed is "
             "a libnvrtc.so file of version %d.%d or newer; unset it to search",
             mxq_quote(search->path).text, why, MXQ_NVRTC_NEED_MAJOR, MXQ_NVRTC_NEED_MINOR);
  }
  *nvrtc = opened;
  return MXQ_OK;
}
