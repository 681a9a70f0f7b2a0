/* SPDX-License-Identifier: MIT */
#include "nvrtc_places.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char mxq_nvrtc_places_text[] =
    "the loader's path, CUDA_HOME, CUDA_PATH, /usr/local/cuda and NVIDIA's Python packages in "
    "VIRTUAL_ENV, CONDA_PREFIX, beside this library, in a .venv above it, in ~/.local, /usr/local "
    "and /usr";

struct visitor {
  mxq_folder_fn visit;
  void *user;
};

/* Folders of a toolkit, below its root. */
static const char *const toolkit_folders[] = {"lib64", "lib", "targets/x86_64-linux/lib"};
/* Folders of NVIDIA's Python packages, of CUDA 13 and 12, below site-packages. */
static const char *const wheel_folders[] = {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"};
static const char *const package_folders[] = {"site-packages", "dist-packages"};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void visit_joined(const struct visitor *visitor, const char *root, const char *below) {
  char folder[PATH_MAX];
  if (snprintf(folder, sizeof folder, "%s/%s", root, below) < (int)sizeof folder)
    visitor->visit(visitor->user, folder);
}

static void visit_toolkit(const struct visitor *visitor, const char *root) {
  for (size_t i = 0; root && i < COUNT(toolkit_folders); ++i)
    visit_joined(visitor, root, toolkit_folders[i]);
}

static void visit_packages(const struct visitor *visitor, const char *folder) {
  for (size_t i = 0; i < COUNT(wheel_folders); ++i) visit_joined(visitor, folder, wheel_folders[i]);
}

/* <root>/lib/python3*\/{site,dist}-packages */
static void visit_python(const struct visitor *visitor, const char *root) {
  char lib[PATH_MAX], folder[PATH_MAX];
  if (!root || snprintf(lib, sizeof lib, "%s/lib", root) >= (int)sizeof lib) return;
  DIR *entries = opendir(lib);
  if (!entries) return;
  for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    if (strncmp(entry->d_name, "python3", 7) != 0) continue;
    for (size_t i = 0; i < COUNT(package_folders); ++i)
      if (snprintf(folder, sizeof folder, "%s/%s/%s", lib, entry->d_name, package_folders[i]) <
          (int)sizeof folder)
        visit_packages(visitor, folder);
  }
  closedir(entries);
}

/* The folder of the file that this code was loaded from; 0 if it cannot be told. */
static int own_folder(char folder[PATH_MAX]) {
  static const char here;
  struct link_map *map = NULL;
  Dl_info info;
  const char *file = "/proc/self/exe";
  if (dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) && map && map->l_name[0])
    file = map->l_name;
  if (!realpath(file, folder)) return 0;
  char *slash = strrchr(folder, '/');
  if (slash) *slash = 0;
  return slash != NULL;
}

/* A Python package mxq lies beside nvidia/ in site-packages; a build tree lies in a checkout whose
 * .venv holds what script/bootstrap installed. */
static void visit_own(const struct visitor *visitor) {
  static const char *const environments[] = {"/.venv", "/../.venv", "/../../.venv"};
  char folder[PATH_MAX], root[PATH_MAX + 16];
  if (!own_folder(folder)) return;
  snprintf(root, sizeof root, "%s/..", folder);
  visit_packages(visitor, root);
  for (size_t i = 0; i < COUNT(environments); ++i) {
    snprintf(root, sizeof root, "%s%s", folder, environments[i]);
    visit_python(visitor, root);
  }
}

void mxq_nvrtc_places(const struct mxq_nvrtc_search *search, mxq_folder_fn visit, void *user) {
  const struct visitor visitor = {visit, user};
  char local[PATH_MAX];
  visit_toolkit(&visitor, search->cuda_home);
  visit_toolkit(&visitor, search->cuda_path);
  visit_toolkit(&visitor, "/usr/local/cuda");
  visit_python(&visitor, search->virtual_env);
  visit_python(&visitor, search->conda);
  visit_toolkit(&visitor, search->conda);
  visit_own(&visitor);
  if (search->home && snprintf(local, sizeof local, "%s/.local", search->home) < (int)sizeof local)
    visit_python(&visitor, local);
  visit_python(&visitor, "/usr/local");
  visit_python(&visitor, "/usr");
}
