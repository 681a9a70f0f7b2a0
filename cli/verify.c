/* SPDX-License-Identifier: MIT */
#include "verify.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "engine.h"
#include "names.h"
#include "report.h"
#include "seconds.h"
#include "status.h"
#include "target.h"
#include "text.h"

enum { DEVICE, JOBS, EXHAUSTIVE, WORKER };
static const struct option_row options[] = {
    [DEVICE] = {"device", 0, "D", "auto or cuda:N; auto if not given: cuda:0", 0},
    [JOBS] = {"jobs", 'j', "N", "kernels at a time; one for each core, up to 64, if not given", 0},
    [EXHAUSTIVE] = {"exhaustive", 0, NULL, "every value that a scale or a code can come from", 0},
    [WORKER] = {"worker", 0, "N", NULL, 0}, /* how copies of the program are started */
    {0},
};

enum { JOBS_MOST = 512, CORES_MOST = 64, NAME_SIZE = 24 };

/* A container may be given less time than the cores that it sees (Linux, cgroup v2, cpu.max: a
 * quota and its period). */
static unsigned cores_of_container(unsigned seen) {
  FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
  unsigned long long quota = 0, period = 0;
  const int read = file ? fscanf(file, "%llu %llu", &quota, &period) : 0;
  if (file) fclose(file);
  if (read != 2 || !period || quota / period >= seen) return seen;
  return quota < period ? 1 : (unsigned)(quota / period);
}

static unsigned cores(void) {
  cpu_set_t set;
  const int known = sched_getaffinity(0, sizeof set, &set) == 0;
  const unsigned seen = cores_of_container(known ? (unsigned)CPU_COUNT(&set) : 1);
  return seen < CORES_MOST ? seen : CORES_MOST;
}

static int read_jobs(const struct arguments *arguments, size_t option, unsigned *jobs) {
  const char *text = args_value(arguments, option);
  int64_t number = 0;
  if (!text) return EXIT_DONE;
  if (!names_number(text, &number) || number < 1 || number > JOBS_MOST)
    return report_usage(arguments->command, "--%s: \"%s\" is not a number from 1 to %d",
                        options[option].name, text, JOBS_MOST);
  *jobs = (unsigned)number;
  return EXIT_DONE;
}

/* "cuda:N" in `name`. */
static enum mxq_status choose_device(const char *given, char name[NAME_SIZE],
                                     struct mxq_device_info *info) {
  int count = 0, ordinal = 0;
  MXQ_TRY(engine_check_name(given));
  MXQ_FAIL_IF(!strcmp(given, "cpu"), MXQ_INVALID_ARGUMENT,
              "--device: the CPU path is what kernels are compared with, so cpu would compare it "
              "with itself; allowed: auto, cuda:0, cuda:1, ...");
  if (strcmp(given, "auto")) ordinal = (int)strtol(strchr(given, ':') + 1, NULL, 10);
  MXQ_TRY(mxq_device_count(&count));
  MXQ_FAIL_IF(ordinal >= count, MXQ_NO_DEVICE,
              "--device: there is no cuda:%d; the driver has %d device%s", ordinal, count,
              count == 1 ? "" : "s");
  snprintf(name, NAME_SIZE, "cuda:%d", ordinal);
  return mxq_device_describe(ordinal, info);
}

static enum mxq_status choose_arch(const struct mxq_device_info *device,
                                   const struct mxq_arch **arch) {
  if (mxq_arch_of_device(device->major, device->minor, arch) == MXQ_OK) return MXQ_OK;
  MXQ_FAIL(MXQ_NO_DEVICE, "%s: %s", device->name, mxq_last_error());
}

/* A difference, another fault of a kernel, something that is missing for every kernel, all well. */
static int exit_code(const struct verify_summary *summary) {
  const struct verify_list *list = &summary->job->list;
  size_t counts[VERIFY_STATES] = {0}, different = 0;
  for (size_t i = 0; i < list->count; i++) {
    counts[list->tasks[i].state]++;
    different += list->tasks[i].details != NULL;
  }
  if (different) return EXIT_MISMATCH;
  if (counts[VERIFY_FAILED] || summary->interrupted) return EXIT_FAILED;
  if (summary->missing != MXQ_OK) return report_code(summary->missing);
  return counts[VERIFY_PASSED] ? EXIT_DONE : EXIT_MISSING;
}

static int verify(const struct arguments *arguments, struct verify_summary *summary,
                  struct verify_job *job) {
  const double begin = seconds_now();
  summary->missing = verify_pool_run(job, &summary->interrupted);
  summary->seconds = seconds_now() - begin;
  report_status(summary->missing);
  if (arguments->json)
    verify_report_json(summary);
  else
    verify_report_print(summary);
  const int code = exit_code(summary);
  if (code == EXIT_MISSING && summary->missing == MXQ_OK)
    report_note("nothing was compared: every kernel was skipped");
  return code;
}

/* What is wrong with settings is told once, not by every copy. */
static enum mxq_status check_settings(const struct arguments *arguments) {
  struct mxq_context *context = NULL;
  const enum mxq_status status = target_context(arguments, &context);
  mxq_context_destroy(context);
  return status;
}

static int run_as_worker(const struct arguments *arguments, const char *device) {
  unsigned threads = 1;
  const char *colon = strchr(device, ':');
  const int code = read_jobs(arguments, WORKER, &threads);
  if (code != EXIT_DONE) return code;
  return verify_worker_run(colon ? (int)strtol(colon + 1, NULL, 10) : 0, threads,
                           arguments->verbose);
}

static int run(const struct arguments *arguments) {
  const char *given = args_value(arguments, DEVICE) ? args_value(arguments, DEVICE) : "auto";
  char name[NAME_SIZE];
  struct mxq_device_info device;
  struct verify_job job = {.device_name = name, .jobs = cores(), .verbose = arguments->verbose};
  struct verify_summary summary = {.job = &job, .device = &device};
  summary.exhaustive = args_value(arguments, EXHAUSTIVE) != NULL;
  summary.whole = arguments->count == 0;
  if (args_value(arguments, WORKER)) return run_as_worker(arguments, given);
  int code = read_jobs(arguments, JOBS, &job.jobs);
  if (code != EXIT_DONE) return code;
  enum mxq_status status = check_settings(arguments);
  if (status == MXQ_OK) status = choose_device(given, name, &device);
  if (status == MXQ_OK) status = choose_arch(&device, &summary.arch);
  if (status == MXQ_OK)
    status = verify_list_make(arguments->operands, arguments->count, summary.arch,
                              summary.exhaustive, &job.list);
  code = status == MXQ_OK ? verify(arguments, &summary, &job) : report_status(status);
  verify_list_free(&job.list);
  return code;
}

const struct command command_verify = {
    .name = "verify",
    .operands = "[PATTERN...]",
    .summary = "compare kernels with the CPU path, bit for bit, on this machine's GPU",
    .details =
        "Runs every kernel that can be chosen for the variants on shapes with padding, ragged\n"
        "ends, strides and repeated rows, with NaN, infinities, subnormals, ties and powers of\n"
        "two, a scale of its own in every block, outputs filled with 0xFF and guards around\n"
        "every tensor, and compares each byte with the CPU path. A PATTERN is a shell glob on\n"
        "whole names of variants or, with a dot, of kernels (quote it); none means all.\n"
        "\n"
        "--exhaustive adds every 16-bit pattern as the maximum of a block for every mode and\n"
        "type, every code with every scale byte, and every float32 as an element; and, where\n"
        "the GPU has conversions that kernels do not use yet, everything with those as well.\n"
        "\n"
        "Failures tell the kernel, the shape, the first differences and the command to repeat\n"
        "them. Ctrl-C ends early and prints what was done. Kernels come from the cache or are\n"
        "compiled, so a second run is faster. Exit code: 0 all equal, 4 a difference was found,\n"
        "1 a kernel failed in another way, 3 no driver, device or NVRTC.\n",
    .examples =
        "  mxq verify\n"
        "  mxq verify 'quantize_bf16_*' -j 8\n"
        "  mxq verify '*_colt_*.tma-*' --device cuda:1 --json\n"
        "  mxq verify --exhaustive 'dequantize_*'\n",
    .options = options,
    .most = (size_t)-1,
    .json = 1,
    .run = run,
};
