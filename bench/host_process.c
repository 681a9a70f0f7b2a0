/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"
#include "status.h"

enum { code_origin = 20, first_uses = 9, crowd_pairs = 5 };

/* Of those with the most code to compile. */
static const char usual_variant[] = "quantize_bf16_e4m3_b32_rceil_colt_lin";
static const char large_variant[] = "quantize_f16_e2m1_b16_even_rowcolt_blk";

extern char **environ;

int bench_host_child(const char *dirs) {
  struct host host;
  struct mxq_context *context = NULL;
  const struct mxq_image *image = NULL;
  enum mxq_origin origin = MXQ_ORIGIN_MEMORY;
  char folder[128], arch[16], name[MXQ_KERNEL_NAME_SIZE];
  if (sscanf(dirs, "%127[^@]@%15[^@]@%95s", folder, arch, name) != 3) return BENCH_USAGE;
  enum mxq_status status = mxq_kernel_id_parse(name, &host.id);
  if (status == MXQ_OK) status = mxq_arch_parse(arch, &host.arch);
  if (status == MXQ_OK) status = host_context(folder, NULL, &context);
  if (status == MXQ_OK) status = mxq_image_get(context, &host.id, host.arch, &image, &origin);
  mxq_context_destroy(context);
  return status == MXQ_OK ? code_origin + (int)origin : bench_exit(status);
}

static enum mxq_status spawn(const char *argument, pid_t *child) {
  char *arguments[] = {(char *)(uintptr_t) "mxq-bench", (char *)(uintptr_t) "--host-child",
                       (char *)(uintptr_t)argument, NULL};
  const int wrong = posix_spawn(child, "/proc/self/exe", NULL, NULL, arguments, environ);
  MXQ_FAIL_IF(wrong, MXQ_IO_ERROR, "a process could not be started: %s", strerror(wrong));
  return MXQ_OK;
}

/* The origin of a child's kernel and its time of CPU. */
static enum mxq_status join(pid_t child, enum mxq_origin *origin, double *cpu) {
  struct rusage usage;
  int status = 0;
  while (wait4(child, &status, 0, &usage) < 0)
    MXQ_FAIL_IF(errno != EINTR, MXQ_IO_ERROR, "a process was lost: %s", strerror(errno));
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : BENCH_FAILED;
  MXQ_FAIL_IF(code == BENCH_MISSING, MXQ_NO_NVRTC, "no NVRTC");
  MXQ_FAIL_IF(code < code_origin, MXQ_INTERNAL, "a process ended with code %d", code);
  *origin = (enum mxq_origin)(code - code_origin);
  *cpu = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
         (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
  return MXQ_OK;
}

struct crowd {
  unsigned compiled;
  double compile_cpu, cpu; /* of those that compiled, of all; seconds */
};

static enum mxq_status run_crowd(const char *argument, struct crowd *crowd) {
  pid_t children[HOST_PROCESSES];
  enum mxq_status status = MXQ_OK;
  size_t started = 0;
  *crowd = (struct crowd){0, 0, 0};
  while (started < HOST_PROCESSES && status == MXQ_OK) {
    status = spawn(argument, &children[started]);
    started += status == MXQ_OK;
  }
  for (size_t i = 0; i < started; i++) {
    enum mxq_origin origin = MXQ_ORIGIN_MEMORY;
    double cpu = 0;
    const enum mxq_status joined = join(children[i], &origin, &cpu);
    if (joined != MXQ_OK) status = joined;
    crowd->cpu += cpu;
    if (joined != MXQ_OK || origin != MXQ_ORIGIN_COMPILED) continue;
    crowd->compiled++;
    crowd->compile_cpu += cpu;
  }
  return status;
}

/* FOLDER@ARCH@VARIANT, with a new folder. */
static const char *argument_of(const struct host *host, const char *name, char text[256]) {
  char folder[128];
  snprintf(text, 256, "%s@%s@%s", host_new_folder(host, folder), host->arch->name, name);
  return text;
}

static enum mxq_status time_first_use(const struct host *host, const char *name, double *median) {
  double ms[first_uses];
  char argument[256];
  for (int i = 0; i < first_uses; i++) {
    enum mxq_origin origin = MXQ_ORIGIN_MEMORY;
    pid_t child = 0;
    double cpu = 0;
    argument_of(host, name, argument);
    const double begin = host_now();
    MXQ_TRY(spawn(argument, &child));
    MXQ_TRY(join(child, &origin, &cpu));
    ms[i] = (host_now() - begin) * 1e3;
  }
  *median = host_median(ms, first_uses);
  return MXQ_OK;
}

static enum mxq_status time_first_uses(struct host *host) {
  double usual = 0, large = 0;
  MXQ_TRY(time_first_use(host, usual_variant, &usual));
  MXQ_TRY(time_first_use(host, large_variant, &large));
  host_add(host, "first_use", "ms", "a fresh process that finds, compiles and keeps one kernel",
           usual, 120);
  host_add(host, "first_use_large", "ms", "the same with one of the largest kernels", large, 250);
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
