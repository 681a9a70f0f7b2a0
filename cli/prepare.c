/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "args.h"
#include "context.h"
#include "json.h"
#include "manifest.h"
#include "report.h"
#include "status.h"
#include "target.h"

enum { ARCH };
static const struct option_row options[] = {
    [ARCH] = {"arch", 0, "A", "the architectures, commas between them", 0},
    {0},
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

static void print_counts(const struct mxq_context *context, const struct manifest *manifest,
                         int json) {
  const uint64_t compiled = made(context, MXQ_ORIGIN_COMPILED);
  const uint64_t there = made(context, MXQ_ORIGIN_DISK) + made(context, MXQ_ORIGIN_AOT);
  if (json) {
    cJSON *object = json_object();
    json_add_integer(object, "variants", (int64_t)manifest->count);
    json_add_integer(object, "compiled", (int64_t)compiled);
    json_add_integer(object, "cached", (int64_t)there);
    json_print(object);
    return;
  }
  printf("%zu variants: %" PRIu64 " kernels compiled, %" PRIu64 " were there\n", manifest->count,
         compiled, there);
}

static int run_context(const struct arguments *arguments, struct mxq_context *context,
                       const struct manifest *manifest) {
  const struct mxq_arch **archs = NULL;
  size_t count = 0;
  int code = report_status(choose_archs(manifest, args_value(arguments, ARCH), &archs, &count));
  if (code == EXIT_DONE && !count) code = prepare(context, manifest, NULL);
  for (size_t i = 0; i < count && code == EXIT_DONE; i++)
    code = prepare(context, manifest, archs[i]);
  free(archs);
  if (code == EXIT_DONE || code == EXIT_FAILED) print_counts(context, manifest, arguments->json);
  return code == EXIT_DONE ? check_written(context) : code;
}

static int run(const struct arguments *arguments) {
  struct manifest manifest = {0};
  struct mxq_context *context = NULL;
  int code = report_status(manifest_read(arguments->operands[0], &manifest));
  if (code == EXIT_DONE) code = report_status(target_context(arguments, &context));
  if (code == EXIT_DONE) code = run_context(arguments, context, &manifest);
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
        "\"archs\", for device 0; no GPU is needed otherwise.\n",
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
