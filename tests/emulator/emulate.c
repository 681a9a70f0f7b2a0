/* SPDX-License-Identifier: MIT */
#include "emulate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "build.h"
#include "cases.h"
#include "crash.h"
#include "expand.h"
#include "jobs.h"
#include "select.h"
#include "trial.h"
#include "watch.h"

enum { exit_failed = 1, exit_usage = 2, exit_mismatch = 4, batch = 32 };

/* Kernels that are compiled together. */
struct group {
  size_t count;
  struct kernel_case cases[batch];
  struct emu_source sources[batch];
  char symbols[batch][MXQ_KERNEL_NAME_SIZE];
  char *texts[batch];
  const char *file; /* of an edited expansion; else NULL */
};

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* The command that runs exactly this trial. */
static void repeat_command(const struct emu_request *request, const char *what,
                           const struct emu_trial *trial, char *text, size_t size) {
  const struct mxq_shape *shape = &trial->shape;
  snprintf(text, size,
           "mxq-emulate %s --arch %s%s%s%s%s%s --shape %" PRId64 ",%" PRId64 ",%" PRId64
           " --strides %" PRId64 ",%" PRId64 " --ahead %u --grid %u --seed %" PRIu64,
           what, trial->arch->name, trial->arch->use_narrow ? " --narrow" : "",
           request->templates ? " --templates " : "", request->templates ? request->templates : "",
           trial->fault ? " --fault " : "", trial->fault ? emu_fault_name(trial->fault) : "",
           shape->e, shape->n, shape->k, shape->stride_e, shape->stride_n, trial->ahead,
           trial->grid, trial->seed);
}

static enum emu_verdict run_trial(const struct emu_request *request, const struct group *group,
                                  const char *name, const struct emu_trial *trial) {
  char text[EMU_TEXT], command[EMU_TEXT];
  repeat_command(request, group->file ? group->file : name, trial, command, sizeof command);
  emu_crash_context(name, command);
  const enum emu_verdict verdict = emu_trial_run(trial, text);
  if (verdict == EMU_HAZARD) printf("%s: hazard\n  %s\n  again: %s\n", name, text, command);
  if (verdict == EMU_UNFIT) /* the library's reasons begin with the name */
    fprintf(stderr, "mxq-emulate: not run: %s%s%s\n", strncmp(text, name, strlen(name)) ? name : "",
            strncmp(text, name, strlen(name)) ? ": " : "", text);
  fflush(stdout);
  return verdict;
}

/* How many shapes the request wants at most. */
static size_t cases_of(const struct emu_request *request, const struct mxq_kernel_id *kernel) {
  if (request->has_shape) return 1;
  return request->small ? emu_cases_small(kernel) : SIZE_MAX;
}

/* Every case with every seed, until one is not clean. */
static void run_kernel(const struct emu_request *request, const struct group *group, size_t index,
                       struct emu_totals *totals) {
  const struct kernel_case *kernel = &group->cases[index];
  struct emu_trial trial = {.kernel = kernel->id,
                            .arch = &kernel->arch,
                            .function = group->sources[index].kernel,
                            .threads = group->sources[index].threads,
                            .fault = request->fault};
  char name[MXQ_KERNEL_NAME_SIZE];
  const double start = milliseconds();
  const uint64_t before = totals->runs;
  struct emu_case one = {request->shape, 0, (unsigned)request->ahead};
  enum emu_verdict verdict = EMU_CLEAN;
  if (mxq_kernel_id_name(&trial.kernel, name, sizeof name) != MXQ_OK) abort();
  for (size_t c = 0; verdict == EMU_CLEAN && c < cases_of(request, &trial.kernel); c++) {
    if (!request->has_shape && !emu_case_at(&trial.kernel, c, &one)) break;
    trial.shape = one.shape;
    trial.ahead = one.ahead;
    trial.grid =
        request->grid >= 0 && emu_walks(&trial.kernel) ? (unsigned)request->grid : one.grid;
    for (int64_t s = 0; verdict == EMU_CLEAN && s < request->seeds; s++) {
      trial.seed = (uint64_t)(request->seed + s);
      verdict = run_trial(request, group, name, &trial);
      totals->runs += verdict != EMU_UNFIT;
    }
  }
  totals->kernels++;
  totals->bad += verdict == EMU_HAZARD;
  totals->unfit += verdict == EMU_UNFIT;
  if (verdict == EMU_CLEAN && !request->quiet)
    printf("%s: clean, %" PRIu64 " runs, %.0f ms\n", kernel->name, totals->runs - before,
           milliseconds() - start);
  fflush(stdout); /* whole lines, whoever else writes */
}

/* Whether a kernel runs so many tiles that the compiler's optimizing takes less than it saves. */
static int runs_long(const struct emu_request *request) {
  enum { tiles = 200, tile = 128 };
  const double seeds = (double)request->seeds, e = (double)request->shape.e;
  const double n = (double)request->shape.n / tile, k = (double)request->shape.k / tile;
  if (!request->has_shape) return !request->small || seeds * 8 > tiles;
  return e * (n < 1 ? 1 : n) * (k < 1 ? 1 : k) * seeds > tiles;
}

static int run_group(const struct emu_request *request, struct group *group,
                     struct emu_totals *totals) {
  struct emu_library library;
  emu_watch(request->seconds);
  const int built = emu_build(group->sources, group->count, runs_long(request), &library);
  if (!built)
    fprintf(stderr, "mxq-emulate: %s and %zu more: not compiled\n", group->symbols[0],
            group->count - 1);
  for (size_t i = 0; built && i < group->count; i++) run_kernel(request, group, i, totals);
  for (size_t i = 0; i < group->count; i++) free(group->texts[i]);
  if (built) emu_build_close(&library);
  group->count = 0;
  return built;
}

/* Takes over the text. */
static void add_source(struct group *group, const struct kernel_case *kernel, char *text,
                       size_t length) {
  const size_t i = group->count++;
  group->cases[i] = *kernel;
  group->texts[i] = text;
  mxq_kernel_id_symbol(&kernel->id, group->symbols[i], sizeof group->symbols[i]);
  group->sources[i] = (struct emu_source){text, length, group->symbols[i], NULL, 0};
}

struct share {
  const struct emu_request *request;
  const struct kernel_cases *selection;
  size_t each; /* kernels that are compiled together, at most a batch */
};

/* Every jobs-th group of kernels, from the job's on. */
static int expand_and_run(const void *context, size_t job, size_t jobs, struct emu_totals *totals) {
  const struct share *share = context;
  const struct kernel_cases *selection = share->selection;
  struct mxq_expander *expander;
  struct group group = {0};
  int done =
      mxq_expander_create(&mxq_allocator_default, share->request->templates, &expander) == MXQ_OK;
  if (!done) {
    fprintf(stderr, "mxq-emulate: %s\n", mxq_last_error());
    return 0;
  }
  for (size_t i = 0; done && i < selection->count; i++) {
    const struct kernel_case *kernel = &selection->list[i];
    char *text;
    size_t length;
    if (i / share->each % jobs != job) continue;
    done = mxq_expander_expand(expander, &kernel->id, &kernel->arch, &text, &length) == MXQ_OK;
    if (!done) fprintf(stderr, "mxq-emulate: %s\n", mxq_last_error());
    if (done) add_source(&group, kernel, text, length);
    if (done && (group.count == share->each || i + 1 == selection->count))
      done = run_group(share->request, &group, totals);
  }
  for (size_t i = 0; i < group.count; i++) free(group.texts[i]);
  mxq_expander_destroy(expander);
  return done;
}

/* What is wrong with the folder is told once, not by every job. */
static int templates_are_there(const struct emu_request *request) {
  struct mxq_expander *expander;
  if (mxq_expander_create(&mxq_allocator_default, request->templates, &expander) != MXQ_OK) {
    fprintf(stderr, "mxq-emulate: %s\n", mxq_last_error());
    return 0;
  }
  mxq_expander_destroy(expander);
  return 1;
}

static int run_selection(const struct emu_request *request, const struct kernel_cases *selection,
                         struct emu_totals *totals) {
  const size_t most = (size_t)request->jobs, even = (selection->count + most - 1) / most;
  const struct share share = {request, selection, even < batch ? even : batch};
  const size_t groups = (selection->count + share.each - 1) / share.each;
  const size_t jobs = most < groups ? most : groups;
  if (!templates_are_there(request)) return 0;
  return emu_jobs_run(jobs, expand_and_run, &share, totals);
}

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  size_t room = 0;
  *length = 0;
  if (!file) return NULL;
  do {
    room = room ? 2 * room : 65536;
    text = realloc(text, room);
    if (!text) abort();
    *length += fread(text + *length, 1, room - 1 - *length, file);
  } while (*length == room - 1);
  text[*length] = 0;
  fclose(file);
  return text;
}

static int run_file(const struct emu_request *request, const char *path,
                    struct emu_totals *totals) {
  struct group group = {.file = path};
  struct kernel_cases one = {0};
  struct mxq_kernel_id kernel;
  size_t length;
  char *text = read_file(path, &length);
  if (!text || !emu_select_source(text, &request->arch, &kernel)) {
    fprintf(stderr,
            text ? "mxq-emulate: %s: no line begins with MXQ_KERNEL( and the symbol of a "
                   "kernel; give the output of `mxq source`\n"
                 : "mxq-emulate: %s cannot be read\n",
            path);
    free(text);
    return exit_usage;
  }
  kernel_cases_add(&one, &kernel, &request->arch);
  add_source(&group, one.list, text, length);
  free(one.list);
  return run_group(request, &group, totals) ? 0 : exit_failed;
}

static int is_file(const char *name) {
  const size_t length = strlen(name);
  return strchr(name, '/') || (length > 3 && strcmp(name + length - 3, ".cu") == 0);
}

int emu_emulate(const struct emu_request *request) {
  struct kernel_cases selection = {0};
  struct emu_totals totals = {0};
  int code = 0;
  emu_crash_watch();
  for (int i = 0; !code && i < request->name_count; i++) {
    const char *name = request->names[i];
    if (is_file(name)) {
      code = run_file(request, name, &totals);
    } else if (!emu_select_pattern(&selection, name, &request->arch)) {
      fprintf(stderr,
              "mxq-emulate: no name of a variant that sm_%s has kernels for matches '%s'; `mxq "
              "list` lists them\n",
              request->arch.name, name);
      code = exit_usage;
    }
  }
  if (request->pairs) kernel_cases_add_pairs(&selection, (unsigned)request->seed, NULL);
  emu_select_sample(&selection, (uint64_t)request->one_in, (uint64_t)request->seed);
  emu_select_part(&selection, (size_t)request->part[0], (size_t)request->part[1]);
  if (!code && !selection.count && !totals.kernels) {
    fprintf(stderr, "mxq-emulate: --one-in and --part leave no kernel of what was asked for\n");
    code = exit_usage;
  }
  if (!code && selection.count && !run_selection(request, &selection, &totals)) code = exit_failed;
  free(selection.list);
  const int ran = code == 0;
  if (ran && totals.unfit) code = exit_usage;
  if (ran && totals.bad) code = exit_mismatch;
  if (ran)
    printf("%" PRIu64 " kernels, %" PRIu64 " runs, %" PRIu64 " not clean, %" PRIu64
           " not run; seed %" PRId64 "\n",
           totals.kernels, totals.runs, totals.bad, totals.unfit, request->seed);
  return code;
}
