/* SPDX-License-Identifier: MIT */
#include "verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "engine.h"
#include "heap.h"
#include "jobs.h"
#include "names.h"
#include "report.h"
#include "seconds.h"
#include "status.h"
#include "target.h"
#include "text.h"

enum { DEVICE, JOBS, CHECK, LIGHT, PAIRWISE, LIST, EXHAUSTIVE, WORKER };
static const struct option_row options[] = {
    [DEVICE] = {"device", 0, "D", "auto or cuda:N; auto if not given: cuda:0", 0},
    [JOBS] = {"jobs", 'j', "N", JOBS_HELP, 0},
    [CHECK] = {"check", 0, "C,...", "of shapes, scales, maxima, codes, casts, those alone", 0},
    [LIGHT] = {"light", 0, NULL, "shapes of few tiles alone: for sanitizers", 0},
    [PAIRWISE] = {"pairwise", 0, "SEED", "few kernels: every pair of two axes' values in one", 0},
    [LIST] = {"list", 0, NULL, "print the kernels' names and run nothing", 0},
    [EXHAUSTIVE] = {"exhaustive", 0, NULL, "every value that a scale or a code can come from", 0},
    [WORKER] = {"worker", 0, "N", NULL, 0}, /* how copies of the program are started */
    {0},
};

enum { NAME_SIZE = 24 };

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
  const int code = jobs_read(arguments, WORKER, &threads);
  if (code != EXIT_DONE) return code;
  heap_keep();
  return verify_worker_run(colon ? (int)strtol(colon + 1, NULL, 10) : 0, threads,
                           arguments->verbose);
}

/* Which checks: those named, else all that are usual, or that there are. */
static int read_checks(const struct arguments *arguments, struct verify_choice *choice) {
  const char *text = args_value(arguments, CHECK);
  const unsigned all = (1u << VERIFY_CHECKS) - 1, usual = 1u << VERIFY_SHAPES | 1u << VERIFY_SCALES;
  if (!text) choice->checks = choice->narrow ? all : usual;
  for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    const unsigned bit = verify_check_bit(at, strcspn(at, ","));
    if (!bit)
      return report_usage(arguments->command,
                          "--check: \"%.*s\" is no check; allowed: shapes, scales, maxima, codes, "
                          "casts, commas between them",
                          (int)strcspn(at, ","), at);
    choice->checks |= bit;
  }
  return EXIT_DONE;
}

static int read_choice(const struct arguments *arguments, struct verify_choice *choice) {
  const char *seed = args_value(arguments, PAIRWISE);
  int64_t number = 0;
  *choice = (struct verify_choice){.patterns = arguments->operands,
                                   .pattern_count = arguments->count,
                                   .narrow = args_value(arguments, EXHAUSTIVE) != NULL,
                                   .light = args_value(arguments, LIGHT) != NULL,
                                   .pairwise = seed != NULL};
  if (seed && (!names_number(seed, &number) || number < 0))
    return report_usage(arguments->command, "--%s: \"%s\" is no number from 0 on",
                        options[PAIRWISE].name, seed);
  choice->seed = (uint64_t)number;
  return read_checks(arguments, choice);
}

static int is_whole(const struct verify_choice *choice) {
  return !choice->pattern_count && !choice->light && !choice->pairwise &&
         choice->checks == (1u << VERIFY_CHECKS) - 1;
}

static int run(const struct arguments *arguments) {
  const char *given = args_value(arguments, DEVICE) ? args_value(arguments, DEVICE) : "auto";
  char name[NAME_SIZE];
  struct mxq_device_info device;
  struct verify_job job = {.device_name = name, .verbose = arguments->verbose};
  struct verify_summary summary = {.job = &job, .device = &device};
  struct verify_choice choice;
  if (args_value(arguments, WORKER)) return run_as_worker(arguments, given);
  int code = jobs_read(arguments, JOBS, &job.jobs);
  if (code == EXIT_DONE) code = read_choice(arguments, &choice);
  if (code != EXIT_DONE) return code;
  summary.exhaustive = choice.narrow;
  summary.whole = is_whole(&choice);
  enum mxq_status status = check_settings(arguments);
  if (status == MXQ_OK) status = choose_device(given, name, &device);
  if (status == MXQ_OK) status = choose_arch(&device, &summary.arch);
  choice.arch = summary.arch;
  choice.narrow = status == MXQ_OK && choice.narrow && verify_can_turn_on(summary.arch);
  if (status == MXQ_OK) status = verify_list_make(&choice, &job.list);
  if (status != MXQ_OK)
    code = report_status(status);
  else if (args_value(arguments, LIST))
    code = verify_list_print(&job.list, arguments->json);
  else
    code = verify(arguments, &summary, &job);
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
        "--light and --pairwise make a run small enough for compute-sanitizer, which\n"
        "script/sanitize_gpu of the sources does with all of its tools.\n"
        "\n"
        "--exhaustive adds every 16-bit pattern as the maximum of a block for every mode and\n"
        "type, every code with every scale byte, and every float32 as an element; and, where\n"
        "the GPU has conversions that kernels do not use yet, everything with those as well.\n"
        "--check takes some of all the checks by name.\n"
        "\n"
        "Failures tell the kernel, the shape, the first differences and the command to repeat\n"
        "them. Ctrl-C ends early and prints what was done. Kernels come from the cache or are\n"
        "compiled, so a second run is faster. Exit code: 0 all equal, 4 a difference was found,\n"
        "1 a kernel failed in another way, 3 no driver, device or NVRTC.\n",
    .examples =
        "  mxq verify\n"
        "  mxq verify 'quantize_bf16_*' -j 8\n"
        "  mxq verify '*_colt_*.tma-*' --device cuda:1 --json\n"
        "  mxq verify --exhaustive 'dequantize_*'\n"
        "  mxq verify --pairwise 1 --light\n"
        "  mxq verify --check casts '*_e5m2_*'\n",
    .options = options,
    .most = (size_t)-1,
    .json = 1,
    .run = run,
};
