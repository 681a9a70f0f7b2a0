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

/* MXQ_EMULATOR_CXX, _LINK, _DIR and _FLAGS come from the build: the compiler, what makes a library
 * of its object, the folder of twin.h and the sanitizers that this program was built with. */
static const char *const compile_options[] = {MXQ_EMULATOR_CXX,
                                              "-std=c++17",
                                              "-w",
                                              "-c",
                                              "-fPIC",
                                              "-ffp-contract=off",
#if !SANITIZED /* whose reports walk the stack */
                                              "-fno-exceptions",
                                              "-fno-asynchronous-unwind-tables",
#endif
                                              MXQ_EMULATOR_FLAGS "-include",
                                              MXQ_EMULATOR_DIR "/twin.h"};

/* A compiler that only compiles is one process, one that links starts another for each step. The
 * libraries need nothing: this program has what they call. */
static const char *const link_options[] = {MXQ_EMULATOR_LINK, MXQ_EMULATOR_FLAGS "-shared"};

enum { path_size = 4096, options_max = 20 };

extern char **environ;

static void source_path(const char *folder, size_t index, char path[path_size]) {
  snprintf(path, path_size, "%s/%zu.cu", folder, index);
}

static void library_path(const char *folder, char path[path_size]) {
  snprintf(path, path_size, "%s/kernels.so", folder);
}

static void object_path(const char *folder, char path[path_size]) {
  snprintf(path, path_size, "%s/kernels.o", folder);
}

static void unit_path(const char *folder, char path[path_size]) {
  snprintf(path, path_size, "%s/kernels.cc", folder);
}

static int write_file(const char *path, const char *text, size_t length) {
  FILE *file = fopen(path, "wb");
  const int whole = file && fwrite(text, 1, length, file) == length;
  if ((file && fclose(file) != 0) || !whole) {
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return 0;
  }
  return 1;
}

/* One unit with all sources: the compiler starts once, and reads twin.h once. Every source brings
 * templates/args.h. */
static int write_unit(const char *folder, size_t count) {
  static const char format[] =
      "#undef MXQ_ARGS_H\n#undef MXQ_ALIGNED\n#undef EMU_SYMBOL\n"
      "#define EMU_SYMBOL(name) name##_%zu\n"
      "namespace source_%zu {\n#include \"%zu.cu\"\n}\n";
  const size_t each = sizeof format + 60;
  char path[path_size], *text = malloc(count * each + 1);
  size_t length = 0;
  if (!text) abort();
  for (size_t i = 0; i < count; i++)
    length += (size_t)snprintf(text + length, each, format, i, i, i);
  unit_path(folder, path);
  const int written = write_file(path, text, length);
  free(text);
  return written;
}

static int write_sources(const char *folder, const struct emu_source *sources, size_t count) {
  char path[path_size];
  for (size_t i = 0; i < count; i++) {
    source_path(folder, i, path);
    if (!write_file(path, sources[i].text, sources[i].length)) return 0;
  }
  return write_unit(folder, count);
}

static int spawn(char **arguments) {
  pid_t child;
  int status;
  const int error = posix_spawnp(&child, arguments[0], NULL, NULL, arguments, environ);
  if (error) {
    fprintf(stderr, "%s: %s; CMake found it, and it makes a library of the kernels\n", arguments[0],
            strerror(error));
    return 0;
  }
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 0;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Runs a tool on one file, with one more option at the end. */
static int run_tool(const char *const *options, size_t count, const char *from, const char *to,
                    const char *option) {
  const char *const tail[] = {from, "-o", to, option, NULL};
  char *arguments[options_max];
  if (count + sizeof tail / sizeof tail[0] > options_max) abort();
  for (size_t i = 0; i < count; i++) arguments[i] = (char *)(uintptr_t)options[i];
  for (size_t i = 0; i < sizeof tail / sizeof tail[0]; i++)
    arguments[count + i] = (char *)(uintptr_t)tail[i];
  return spawn(arguments);
}

static int compile(const char *folder, int optimize) {
  char unit[path_size], object[path_size], library[path_size];
  unit_path(folder, unit);
  object_path(folder, object);
  library_path(folder, library);
  return run_tool(compile_options, sizeof compile_options / sizeof compile_options[0], unit, object,
                  optimize && !SANITIZED ? "-O1" : "-O0") &&
         run_tool(link_options, sizeof link_options / sizeof link_options[0], object, library,
                  NULL);
}

static void remove_folder(struct emu_library *library) {
  char path[path_size];
  if (!library->folder[0]) return;
  for (size_t i = 0; i < library->count; i++) {
    source_path(library->folder, i, path);
    unlink(path);
  }
  unit_path(library->folder, path);
  unlink(path);
  object_path(library->folder, path);
  unlink(path);
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

static int find(const struct emu_library *library, size_t index, struct emu_source *source) {
  char name[256];
  snprintf(name, sizeof name, "%s_%zu", source->symbol, index);
  void *kernel = dlsym(library->handle, name);
  snprintf(name, sizeof name, "%s_threads_%zu", source->symbol, index);
  const unsigned *threads = dlsym(library->handle, name);
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
    if (!find(library, i, &sources[i])) return 0;
  return 1;
}

int emu_build(struct emu_source *sources, size_t count, int optimize, struct emu_library *library) {
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
                     compile(library->folder, optimize) &&
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
