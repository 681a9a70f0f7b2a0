/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compile.h"
#include "host.h"
#include "status.h"

enum { code_origin = 20, first_uses = 9, crowd_pairs = 5 };

/* Of those with the most code to compile. */
static const char usual_variant[] = "quantize_bf16_e4m3_b32_rceil_colt_lin";
static const char large_variant[] = "quantize_f16_e2m1_b16_even_rowcolt_blk";
static const char no_variant[] = "none"; /* NVRTC opened, and an empty kernel */

extern char **environ;

static enum mxq_status compile_nothing(struct mxq_context *context, const struct mxq_arch *arch) {
  static const char source[] = "extern \"C\" __global__ void empty() {}\n";
  const struct mxq_nvrtc *nvrtc = NULL;
  struct mxq_compiled compiled;
  MXQ_TRY(mxq_context_nvrtc(context, &nvrtc));
  MXQ_TRY(mxq_compile(&mxq_allocator_default, nvrtc, source, no_variant, arch, MXQ_COMPILE_CUBIN,
                      &compiled));
  mxq_free(&mxq_allocator_default, compiled.code);
  return MXQ_OK;
}

int bench_host_child(const char *dirs) {
  struct host host;
  struct mxq_context *context = NULL;
  const struct mxq_image *image = NULL;
  enum mxq_origin origin = MXQ_ORIGIN_COMPILED;
  char folder[128], arch[16], name[MXQ_KERNEL_NAME_SIZE];
  if (sscanf(dirs, "%127[^@]@%15[^@]@%95s", folder, arch, name) != 3) return BENCH_USAGE;
  const int nothing = !strcmp(name, no_variant);
  enum mxq_status status = mxq_arch_parse(arch, &host.arch);
  if (status == MXQ_OK && !nothing) status = mxq_kernel_id_parse(name, &host.id);
  const double begin = host_now();
  if (status == MXQ_OK) status = host_context(folder, NULL, &context);
  if (status == MXQ_OK)
    status = nothing ? compile_nothing(context, host.arch)
                     : mxq_image_get(context, &host.id, host.arch, &image, &origin);
  printf("%.9f\n", host_now() - begin);
  mxq_context_destroy(context);
  return status == MXQ_OK ? code_origin + (int)origin : bench_exit(status);
}

struct child {
  pid_t process;
  int output; /* what it prints */
};

/* How a child ended, and its times in seconds. */
struct ended {
  enum mxq_origin origin; /* of its kernel */
  double first_use;       /* by its own clock: from no context to the kernel's image */
  double cpu;             /* of all of it */
};

static enum mxq_status spawn(const char *argument, struct child *child) {
  char *arguments[] = {(char *)(uintptr_t) "mxq-bench", (char *)(uintptr_t) "--host-child",
                       (char *)(uintptr_t)argument, NULL};
  posix_spawn_file_actions_t actions;
  int ends[2];
  MXQ_FAIL_IF(pipe2(ends, O_CLOEXEC), MXQ_IO_ERROR, "no pipe: %s", strerror(errno));
  int wrong = posix_spawn_file_actions_init(&actions);
  if (!wrong) {
    wrong = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (!wrong)
      wrong = posix_spawn(&child->process, "/proc/self/exe", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
  }
  close(ends[1]);
  child->output = ends[0];
  if (wrong) close(ends[0]);
  MXQ_FAIL_IF(wrong, MXQ_IO_ERROR, "a process could not be started: %s", strerror(wrong));
  return MXQ_OK;
}

/* Negative: it printed no number. */
static double read_seconds(int output) {
  char text[64], *end = text;
  size_t length = 0;
  ssize_t got = 0;
  do {
    got = read(output, text + length, sizeof text - 1 - length);
    if (got > 0) length += (size_t)got;
  } while (got > 0 || (got < 0 && errno == EINTR));
  close(output);
  text[length] = 0;
  const double seconds = strtod(text, &end);
  return end == text ? -1 : seconds;
}

static enum mxq_status join(const struct child *child, struct ended *ended) {
  struct rusage usage;
  int status = 0;
  ended->first_use = read_seconds(child->output);
  while (wait4(child->process, &status, 0, &usage) < 0)
    MXQ_FAIL_IF(errno != EINTR, MXQ_IO_ERROR, "a process was lost: %s", strerror(errno));
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : BENCH_FAILED;
  MXQ_FAIL_IF(code == BENCH_MISSING, MXQ_NO_NVRTC, "no NVRTC");
  MXQ_FAIL_IF(code < code_origin, MXQ_INTERNAL, "a process ended with code %d", code);
  MXQ_FAIL_IF(ended->first_use < 0, MXQ_IO_ERROR, "a process did not tell its time");
  ended->origin = (enum mxq_origin)(code - code_origin);
  ended->cpu = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
               (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
  return MXQ_OK;
}

struct crowd {
  unsigned compiled;
  double compile_cpu, cpu; /* of those that compiled, of all; seconds */
};

static enum mxq_status run_crowd(const char *argument, struct crowd *crowd) {
  struct child children[HOST_PROCESSES];
  enum mxq_status status = MXQ_OK;
  size_t started = 0;
  *crowd = (struct crowd){0, 0, 0};
  while (started < HOST_PROCESSES && status == MXQ_OK) {
    status = spawn(argument, &children[started]);
    started += status == MXQ_OK;
  }
  for (size_t i = 0; i < started; i++) {
    struct ended ended = {.cpu = 0};
    const enum mxq_status joined = join(&children[i], &ended);
    if (joined != MXQ_OK) status = joined;
    crowd->cpu += ended.cpu;
    if (joined != MXQ_OK || ended.origin != MXQ_ORIGIN_COMPILED) continue;
    crowd->compiled++;
    crowd->compile_cpu += ended.cpu;
  }
  return status;
}

/* FOLDER@ARCH@VARIANT, with a new folder. */
static const char *argument_of(const struct host *host, const char *name, char text[256]) {
  char folder[128];
  snprintf(text, 256, "%s@%s@%s", host_new_folder(host, folder), host->arch->name, name);
  return text;
}

/* Milliseconds, medians: of the first use alone, and of the process from start to end. */
struct first_use {
  double use, process, least; /* least: of the uses */
};

static enum mxq_status time_first_use(const struct host *host, const char *name,
                                      struct first_use *medians) {
  double uses[first_uses], processes[first_uses];
  char argument[256];
  for (int i = 0; i < first_uses; i++) {
    struct child child;
    struct ended ended;
    argument_of(host, name, argument);
    const double begin = host_now();
    MXQ_TRY(spawn(argument, &child));
    MXQ_TRY(join(&child, &ended));
    processes[i] = (host_now() - begin) * 1e3;
    uses[i] = ended.first_use * 1e3;
  }
  medians->process = host_median(processes, first_uses);
  medians->use = host_median(uses, first_uses);
  medians->least = uses[0];
  for (int i = 1; i < first_uses; i++)
    if (uses[i] < medians->least) medians->least = uses[i];
  return MXQ_OK;
}

static void add_first_use(struct host *host, const char *name, const char *what,
                          const struct first_use *times, double target) {
  struct host_row *row = host_add(host, name, "ms", what, times->use, target);
  snprintf(row->note, sizeof row->note,
           "the fastest %.1f ms; the process, start and end too, %.1f ms", times->least,
           times->process);
}

static enum mxq_status time_first_uses(struct host *host) {
  struct first_use nothing, usual, large;
  MXQ_TRY(time_first_use(host, no_variant, &nothing));
  MXQ_TRY(time_first_use(host, usual_variant, &usual));
  MXQ_TRY(time_first_use(host, large_variant, &large));
  add_first_use(host, "first_use_floor",
                "in a fresh process: opens NVRTC and compiles an empty kernel", &nothing, -1);
  add_first_use(host, "first_use", "in a fresh process: opens NVRTC, compiles and keeps one kernel",
                &usual, 120);
  add_first_use(host, "first_use_large", "the same with one of the largest kernels", &large, 250);
  return MXQ_OK;
}

/* Pairs of crowds: one alone differs by a fifth from the next. */
static enum mxq_status time_crowds(struct host *host) {
  double shares[crowd_pairs], cold_ms[crowd_pairs], warm_ms[crowd_pairs], compile_ms[crowd_pairs];
  unsigned most = 0;
  for (int i = 0; i < crowd_pairs; i++) {
    struct crowd cold, warm;
    char argument[256];
    argument_of(host, usual_variant, argument);
    MXQ_TRY(run_crowd(argument, &cold));
    MXQ_TRY(run_crowd(argument, &warm));
    if (cold.compiled > most) most = cold.compiled;
    shares[i] = (cold.cpu - cold.compile_cpu) / warm.cpu;
    cold_ms[i] = cold.cpu * 1e3;
    warm_ms[i] = warm.cpu * 1e3;
    compile_ms[i] = cold.compile_cpu * 1e3;
  }
  host_add(host, "cold_64_compiles", "", "compiles by 64 processes that start cold on one key",
           most, 1);
  struct host_row *row =
      host_add(host, "cold_64_cpu", "", "CPU time of the other 63, in that of 64 warm disk hits",
               host_median(shares, crowd_pairs), 1.2);
  snprintf(row->note, sizeof row->note, "%.1f ms with a compile of %.1f ms; warm %.1f ms",
           host_median(cold_ms, crowd_pairs), host_median(compile_ms, crowd_pairs),
           host_median(warm_ms, crowd_pairs));
  return MXQ_OK;
}

enum mxq_status host_measure_processes(struct host *host) {
  enum mxq_status status = time_first_uses(host);
  if (status == MXQ_OK) return time_crowds(host);
  if (status != MXQ_NO_NVRTC) return status;
  host_skip(host, "first_use", "a fresh process that compiles one kernel", mxq_last_error());
  host_skip(host, "cold_64_compiles", "compiles by 64 cold processes", mxq_last_error());
  return MXQ_OK;
}
