/* SPDX-License-Identifier: MIT */
#include "build.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler.h"
#include "sanitizers.h"

#if SANITIZED
#include <sanitizer/common_interface_defs.h>
#endif

/* MXQ_EMULATOR_CXX, _DIR and _FLAGS come from the build: the compiler, the folder of twin.h and
 * the sanitizers that this program was built with. */
static const char *const options[] = {MXQ_EMULATOR_CXX,
                                      "-std=c++17",
                                      "-O1",
                                      "-w",
                                      "-shared",
                                      "-fPIC",
                                      "-ffp-contract=off",
                                      MXQ_EMULATOR_FLAGS "-include",
                                      MXQ_EMULATOR_DIR "/twin.h",
                                      "-x",
                                      "c++"};

enum { path_size = 4096, option_count = sizeof options / sizeof options[0] };

extern char **environ;

static void source_path(const char *folder, size_t index, char path[path_size]) {
  snprintf(path, path_size, "%s/%zu.cu", folder, index);
}

static void library_path(const char *folder, char path[path_size]) {
  snprintf(path, path_size, "%s/kernels.so", folder);
}

static int write_sources(const char *folder, const struct emu_source *sources, size_t count) {
  char path[path_size];
  for (size_t i = 0; i < count; i++) {
    source_path(folder, i, path);
    FILE *file = fopen(path, "wb");
    const int whole =
        file && fwrite(sources[i].text, 1, sources[i].length, file) == sources[i].length;
    if ((file && fclose(file) != 0) || !whole) {
      fprintf(stderr, "%s: %s\n", path, strerror(errno));
      return 0;
    }
  }
  return 1;
}

static int spawn(char **arguments) {
  pid_t child;
  int status;
  const int error = posix_spawnp(&child, arguments[0], NULL, NULL, arguments, environ);
  if (error) {
    fprintf(stderr, "%s: %s; it is the compiler that CMake found, and compiles the kernels\n",
            arguments[0], strerror(error));
    return 0;
  }
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 0;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int compile(const char *folder, size_t count) {
  char **arguments = calloc(option_count + count + 3, sizeof *arguments);
  char *paths = malloc((count + 1) * path_size);
  if (!arguments || !paths) abort();
  for (size_t i = 0; i < option_count; i++) arguments[i] = (char *)(uintptr_t)options[i];
  for (size_t i = 0; i < count; i++) {
    source_path(folder, i, paths + i * path_size);
    arguments[option_count + i] = paths + i * path_size;
  }
  library_path(folder, paths + count * path_size);
  arguments[option_count + count] = (char *)(uintptr_t) "-o";
  arguments[option_count + count + 1] = paths + count * path_size;
  const int built = spawn(arguments);
  free(paths);
  free(arguments);
  return built;
}

static void remove_folder(struct emu_library *library) {
  char path[path_size];
  if (!library->folder[0]) return;
  for (size_t i = 0; i < library->count; i++) {
    source_path(library->folder, i, path);
    unlink(path);
  }
  library_path(library->folder, path);
  unlink(path);
  rmdir(library->folder);
  library->folder[0] = 0;
}

#if SANITIZED
static struct emu_library *open_library;
static void remove_at_death(void) {
  if (open_library) remove_folder(open_library);
}
static void keep_folder(struct emu_library *library) {
  open_library = library;
  __sanitizer_set_death_callback(remove_at_death);
}
#else
static void keep_folder(struct emu_library *library) { remove_folder(library); }
#endif

static int find(const struct emu_library *library, struct emu_source *source) {
  char bound[256];
  void *kernel = dlsym(library->handle, source->symbol);
  snprintf(bound, sizeof bound, "%s_threads", source->symbol);
  const unsigned *threads = dlsym(library->handle, bound);
  if (!kernel || !threads) {
    fprintf(stderr, "the source has no kernel called %s\n", source->symbol);
    return 0;
  }
  memcpy(&source->kernel, &kernel, sizeof kernel);
  source->threads = *threads;
  return 1;
}

static int load(const char *folder, struct emu_source *sources, size_t count,
                struct emu_library *library) {
  char path[path_size];
  library_path(folder, path);
  library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library->handle) {
    fprintf(stderr, "%s\n", dlerror());
    return 0;
  }
  for (size_t i = 0; i < count; i++)
    if (!find(library, &sources[i])) return 0;
  return 1;
}

int emu_build(struct emu_source *sources, size_t count, struct emu_library *library) {
  const char *parent = getenv("TMPDIR");
  memset(library, 0, sizeof *library);
  snprintf(library->folder, sizeof library->folder, "%s/mxq-emulate-XXXXXX",
           parent && *parent ? parent : "/tmp");
  if (!mkdtemp(library->folder)) {
    fprintf(stderr, "%s: %s\n", library->folder, strerror(errno));
    return 0;
  }
  library->count = count;
  const int loaded = write_sources(library->folder, sources, count) &&
                     compile(library->folder, count) &&
                     load(library->folder, sources, count, library);
  if (loaded)
    keep_folder(library);
  else
    emu_build_close(library);
  return loaded;
}

void emu_build_close(struct emu_library *library) {
  if (library->handle) dlclose(library->handle);
  library->handle = NULL;
  remove_folder(library);
}
