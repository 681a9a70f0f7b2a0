/* SPDX-License-Identifier: MIT */
#include "file_faults.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

static struct file_fault current;
static atomic_ulong counts[FILE_FUNCTIONS], all;

static const char *const names[] = {
#define NAME(name) #name,
    FILE_FAULTS_TABLE(NAME)
#undef NAME
};

const char *file_faults_name(int function) { return function < 0 ? "any" : names[function]; }

void file_faults_set(const struct file_fault *fault) {
  current = fault ? *fault : (struct file_fault){.effect = FILE_NONE};
  for (int i = 0; i < FILE_FUNCTIONS; i++) atomic_store(&counts[i], 0);
  atomic_store(&all, 0);
}

unsigned long file_faults_calls(int function) {
  return atomic_load(function < 0 ? &all : &counts[function]);
}

static enum file_effect effect_of(int function) {
  const unsigned long own = atomic_fetch_add(&counts[function], 1) + 1;
  const unsigned long total = atomic_fetch_add(&all, 1) + 1;
  const unsigned long number = current.function < 0 ? total : own;
  if (current.effect == FILE_NONE || (current.function >= 0 && current.function != function))
    return FILE_NONE;
  return number >= current.first && number <= current.last ? current.effect : FILE_NONE;
}

static long die(void) {
  raise(SIGKILL);
  return -1;
}

static long before(int function, enum file_effect *effect) {
  *effect = effect_of(function);
  if (*effect == FILE_KILL) return die();
  if (*effect != FILE_FAILS) return 0;
  errno = current.error;
  return -1;
}

static long after(enum file_effect effect, long result) {
  if (effect == FILE_KILL_AFTER) return die();
  if (effect != FILE_FAILS_AFTER) return result;
  errno = current.error;
  return -1;
}

/* A wrapper: type and parameters, and the same arguments by name. */
#define WRAP(type, name, parameters, ...)                         \
  type __real_##name parameters;                                  \
  type __wrap_##name parameters;                                  \
  type __wrap_##name parameters {                                 \
    enum file_effect effect;                                      \
    if (before(FILE_##name, &effect)) return (type)-1;            \
    return (type)after(effect, (long)__real_##name(__VA_ARGS__)); \
  }

WRAP(int, fsync, (int file), file)
WRAP(int, close, (int file), file)
WRAP(int, rename, (const char *from, const char *to), from, to)
WRAP(int, renameat, (int from_folder, const char *from, int to_folder, const char *to), from_folder,
     from, to_folder, to)
WRAP(int, link, (const char *from, const char *to), from, to)
WRAP(int, unlink, (const char *path), path)
WRAP(int, unlinkat, (int folder, const char *path, int flags), folder, path, flags)
WRAP(int, flock, (int file, int operation), file, operation)
WRAP(int, mkdir, (const char *path, mode_t mode), path, mode)
WRAP(int, fstat, (int file, struct stat *status), file, status)
WRAP(int, fstatat, (int folder, const char *path, struct stat *status, int flags), folder, path,
     status, flags)
WRAP(int, futimens, (int file, const struct timespec *times), file, times)

ssize_t __real_write(int file, const void *from, size_t size);
ssize_t __wrap_write(int file, const void *from, size_t size);
ssize_t __wrap_write(int file, const void *from, size_t size) {
  enum file_effect effect;
  if (before(FILE_write, &effect)) return -1;
  return after(effect, __real_write(file, from, effect == FILE_SHORT && size ? 1 : size));
}

ssize_t __real_read(int file, void *to, size_t size);
ssize_t __wrap_read(int file, void *to, size_t size);
ssize_t __wrap_read(int file, void *to, size_t size) {
  enum file_effect effect;
  if (before(FILE_read, &effect)) return -1;
  return after(effect, __real_read(file, to, effect == FILE_SHORT && size ? 1 : size));
}

static mode_t mode_of(int flags, va_list arguments) {
  return flags & O_CREAT ? (mode_t)va_arg(arguments, int) : 0;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
  enum file_effect effect;
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  if (before(FILE_open, &effect)) return -1;
  return (int)after(effect, __real_open(path, flags, mode));
}

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...) {
  enum file_effect effect;
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  if (before(FILE_openat, &effect)) return -1;
  return (int)after(effect, __real_openat(folder, path, flags, mode));
}
