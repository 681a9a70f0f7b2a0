/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "args.h"
#include "context.h"
#include "copies.h"
#include "heap.h"
#include "jobs.h"
#include "json.h"
#include "manifest.h"
#include "names.h"
#include "report.h"
#include "status.h"
#include "target.h"
#include "text.h"

enum { ARCH, JOBS };
static const struct option_row options[] = {
    [ARCH] = {"arch", 0, "A", "the architectures, commas between them", 0},
    [JOBS] = {"jobs", 'j', "N", JOBS_HELP, 0},
    {0},
};

/* What was done, by this process or its copies. */
struct counts {
  size_t variants;
  uint64_t compiled, there;
};

static uint64_t made(const struct mxq_context *context, enum mxq_origin origin) {
  return atomic_load(&context->made[origin]);
}

/* The command line's archs, else the manifest's, else that of device 0 (a NULL). */
static enum mxq_status choose_archs(const struct manifest *manifest, const char *list,
                                    const struct mxq_arch ***archs, size_t *count) {
  if (list || manifest->arch_count) return manifest_archs(manifest, list, archs, count);
  *archs = NULL;
  *count = 0;
  return MXQ_OK;
}

static int prepare(struct mxq_context *context, const struct manifest *manifest,
                   const struct mxq_arch *arch) {
  return report_status(
      mxq_prepare(context, arch ? arch->name : NULL, manifest->variants, manifest->count));
}

/* Kernels that only this process has are no use to another. */
static int check_written(const struct mxq_context *context) {
  const int lost = !context->store.dir_count || atomic_load(&context->store.failed_writes) > 0;
  if (!lost || !made(context, MXQ_ORIGIN_COMPILED)) return EXIT_DONE;
  report_note("the kernels could not be kept: no cache folder can be written (mxq info says why)");
  return EXIT_FAILED;
}

static void print_counts(const struct counts *counts, int json) {
  if (json) {
    cJSON *object = json_object();
    json_add_integer(object, "variants", (int64_t)counts->variants);
    json_add_integer(object, "compiled", (int64_t)counts->compiled);
    json_add_integer(object, "cached", (int64_t)counts->there);
    json_print(object);
    return;
  }
  printf("%zu variant%s: %" PRIu64 " kernels compiled, %" PRIu64 " were there\n", counts->variants,
         counts->variants == 1 ? "" : "s", counts->compiled, counts->there);
}

static int run_here(struct mxq_context *context, const struct manifest *manifest,
                    const struct mxq_arch *const *archs, size_t count, struct counts *counts) {
  int code = count ? EXIT_DONE : prepare(context, manifest, NULL);
  for (size_t i = 0; i < count && code == EXIT_DONE; i++)
    code = prepare(context, manifest, archs[i]);
  *counts = (struct counts){manifest->count, made(context, MXQ_ORIGIN_COMPILED),
                            made(context, MXQ_ORIGIN_DISK) + made(context, MXQ_ORIGIN_AOT)};
  return code == EXIT_DONE ? check_written(context) : code;
}

static double number_of(const cJSON *object, const char *key) {
  const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, key);
  return cJSON_IsNumber(number) ? number->valuedouble : 0;
}

/* Each copy gets every count-th variant, as a manifest. */
static int run_copies(const char *const *list, const struct manifest *manifest, unsigned count,
                      struct counts *counts) {
  struct text *shares = text_allocate(count, sizeof *shares);
  cJSON *results = json_array();
  const cJSON *one;
  for (size_t i = 0; i < manifest->count; i++)
    text_print(&shares[i % count], "%s\n", names_of(&manifest->variants[i]).text);
  const int code = copies_run(list, shares, count, results);
  cJSON_ArrayForEach(one, results) {
    counts->variants += (size_t)number_of(one, "variants");
    counts->compiled += (uint64_t)number_of(one, "compiled");
    counts->there += (uint64_t)number_of(one, "cached");
  }
  for (unsigned i = 0; i < count; i++) text_free(&shares[i]);
  free(shares);
  cJSON_Delete(results);
  return code;
}

static int share_out(const struct arguments *arguments, const struct manifest *manifest,
                     const struct mxq_arch *const *archs, size_t arch_count, unsigned jobs,
                     struct counts *counts) {
  const size_t wanted = (jobs + JOBS_OF_PROCESS - 1) / JOBS_OF_PROCESS;
  const size_t useful = (manifest->count + JOBS_OF_PROCESS - 1) / JOBS_OF_PROCESS;
  const unsigned count = (unsigned)(wanted < useful ? wanted : useful);
  struct text names = {0};
  char each[16];
  for (size_t i = 0; i < arch_count; i++) text_print(&names, "%s%s", i ? "," : "", archs[i]->name);
  snprintf(each, sizeof each, "%d", JOBS_OF_PROCESS);
  const char *list[10] = {"mxq", "prepare", "/dev/stdin", "--json", "-j", each};
  size_t used = 6;
  if (arguments->verbose) list[used++] = "--verbose";
  if (arch_count) list[used++] = "--arch";
  if (arch_count) list[used++] = names.data;
  const int code = run_copies(list, manifest, count, counts);
  text_free(&names);
  return code;
}

/* Copies share their work through the disk cache alone. */
static int wants_copies(const struct mxq_context *context, const struct manifest *manifest,
                        unsigned jobs) {
  return jobs > JOBS_OF_PROCESS && manifest->count > JOBS_OF_PROCESS && context->store.dir_count &&
         context->jit == MXQ_JIT_ON;
}

static int run_context(const struct arguments *arguments, struct mxq_context *context,
                       const struct manifest *manifest, unsigned jobs) {
  const struct mxq_arch **archs = NULL;
  struct counts counts = {0};
  size_t count = 0;
  int code = report_status(choose_archs(manifest, args_value(arguments, ARCH), &archs, &count));
  if (code != EXIT_DONE) return code;
  context->compile_threads = jobs < JOBS_OF_PROCESS ? jobs : JOBS_OF_PROCESS;
  code = wants_copies(context, manifest, jobs)
             ? share_out(arguments, manifest, archs, count, jobs, &counts)
             : run_here(context, manifest, archs, count, &counts);
  free(archs);
  if (code == EXIT_DONE || code == EXIT_FAILED) print_counts(&counts, arguments->json);
  return code;
}

static int run(const struct arguments *arguments) {
  struct manifest manifest = {0};
  struct mxq_context *context = NULL;
  unsigned jobs = 1;
  int code = jobs_read(arguments, JOBS, &jobs);
  heap_keep();
  if (code == EXIT_DONE) code = report_status(manifest_read(arguments->operands[0], &manifest));
  if (code == EXIT_DONE) code = report_status(target_context(arguments, &context));
  if (code == EXIT_DONE) code = run_context(arguments, context, &manifest, jobs);
  mxq_context_destroy(context);
  manifest_free(&manifest);
  return code;
}

const struct command command_prepare = {
    .name = "prepare",
    .operands = "MANIFEST",
    .summary = "compile what a manifest names into the cache, on several threads",
    .details =
        "MANIFEST is a text with a variant's name or a shell glob a line (# before comments),\n"
        "such as MXQ_RECORD writes, or JSON:\n"
        "  {\"mxq_manifest\": 1, \"archs\": [\"90a\"], \"include\": [\"quantize_bf16_*\"],\n"
        "   \"exclude\": [\"*_e5m2_*\"]}\n"
        "Compiles every kernel that a shape of these variants may need. Without --arch and\n"
        "\"archs\", for device 0; no GPU is needed otherwise. Above 4 kernels at a time copies\n"
        "of the program share the work, as one process does not compile more at once.\n",
    .examples =
        "  MXQ_RECORD=used.txt python train.py --steps 10\n"
        "  mxq prepare used.txt\n"
        "  mxq prepare kernels.json --arch 90a,100a\n",
    .options = options,
    .least = 1,
    .most = 1,
    .json = 1,
    .run = run,
};
