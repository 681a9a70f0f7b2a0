/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "args.h"
#include "expand.h"
#include "image.h"
#include "json.h"
#include "memory.h"
#include "names.h"
#include "output_file.h"
#include "report.h"
#include "status.h"
#include "target.h"
#include "text.h"

enum { ARCH, KEEP };
static const struct option_row options[] = {
    [ARCH] = {"arch", 0, "A", "the architecture; 90a if not given", 0},
    [KEEP] = {"keep", 0, "DIR", "write each kernel's .cu and .cubin there", 0},
    {0},
};

struct job {
  struct mxq_context *context;
  const struct mxq_arch *arch;
  const char *keep; /* NULL: do not */
  struct mxq_kernel_id *ids;
  size_t count, capacity;
  cJSON *rows; /* NULL: text */
  int width;   /* of the longest name */
};

static void add(struct job *job, const struct mxq_kernel_id *id) {
  job->ids = text_grow(job->ids, job->count, &job->capacity, sizeof *job->ids);
  job->ids[job->count++] = *id;
  const int length = (int)strlen(names_of_kernel(id).text);
  if (length > job->width) job->width = length;
}

/* The default kernels of the variants that a pattern selects, or one kernel by its name. */
static enum mxq_status add_operand(struct job *job, const char *operand) {
  struct mxq_kernel_id id;
  if (strchr(operand, '.')) {
    MXQ_TRY(mxq_kernel_id_parse(operand, &id));
    add(job, &id);
    return MXQ_OK;
  }
  struct mxq_variant *variants = NULL;
  size_t count = 0;
  MXQ_TRY(names_match(&operand, 1, &variants, &count));
  enum mxq_status status = MXQ_OK;
  for (size_t i = 0; i < count && status == MXQ_OK; i++) {
    status = mxq_kernel_id_default(&variants[i], job->arch, &id);
    if (status == MXQ_OK) add(job, &id);
  }
  free(variants);
  return status;
}

static enum mxq_status keep_files(const struct job *job, const struct mxq_image *image) {
  char *source = NULL;
  size_t length = 0;
  MXQ_FAIL_IF(mkdir(job->keep, 0777) && errno != EEXIST, MXQ_IO_ERROR, "%s: %s", job->keep,
              strerror(errno));
  MXQ_TRY(mxq_expand(&mxq_allocator_default, &image->kernel, job->arch, NULL, &source, &length));
  const struct kernel_name name = names_of_kernel(&image->kernel);
  char *stem = text_format("%s/%s.sm_%s", job->keep, name.text, job->arch->name);
  char *source_path = text_format("%s.cu", stem), *cubin_path = text_format("%s.cubin", stem);
  enum mxq_status status = output_file_write_whole(source_path, source, length);
  if (status == MXQ_OK)
    status = output_file_write_whole(cubin_path, image->cubin, image->cubin_size);
  free(stem);
  free(source_path);
  free(cubin_path);
  mxq_free(&mxq_allocator_default, source);
  return status;
}

static void print_row(struct job *job, const struct mxq_image *image, enum mxq_origin origin,
                      double milliseconds) {
  const struct mxq_resources *resources = &image->resources;
  const uint32_t spills = resources->spill_store_bytes + resources->spill_load_bytes;
  const struct kernel_name name = names_of_kernel(&image->kernel);
  char hash[17];
  snprintf(hash, sizeof hash, "%016" PRIx64, image->cubin_hash);
  if (!job->rows) {
    printf("%-*s  %-8s %8.2f ms  %3" PRIu32 " registers  %" PRIu32 " spill bytes  %s\n", job->width,
           name.text, mxq_origin_name(origin), milliseconds, resources->registers, spills, hash);
    return;
  }
  cJSON *row = json_object();
  json_add_string(row, "kernel", name.text);
  json_add_string(row, "variant", names_of(&image->kernel.variant).text);
  json_add_string(row, "arch", image->arch->name);
  json_add_string(row, "origin", mxq_origin_name(origin));
  json_add_number(row, "milliseconds", milliseconds);
  json_add_integer(row, "registers", resources->registers);
  json_add_integer(row, "spill_store_bytes", resources->spill_store_bytes);
  json_add_integer(row, "spill_load_bytes", resources->spill_load_bytes);
  json_add_integer(row, "stack_bytes", resources->stack_bytes);
  json_add_integer(row, "cubin_bytes", (int64_t)image->cubin_size);
  json_add_string(row, "cubin_hash", hash);
  json_add(job->rows, NULL, row);
}

static enum mxq_status compile_one(struct job *job, const struct mxq_kernel_id *id) {
  const struct mxq_image *image = NULL;
  enum mxq_origin origin = MXQ_ORIGIN_MEMORY;
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  MXQ_TRY(mxq_image_get(job->context, id, job->arch, &image, &origin));
  clock_gettime(CLOCK_MONOTONIC, &end);
  print_row(
      job, image, origin,
      (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
  return job->keep ? keep_files(job, image) : MXQ_OK;
}

/* One kernel's fault does not hide the others; what is missing for all of them ends the loop. */
static int compile_all(struct job *job) {
  int code = EXIT_DONE;
  for (size_t i = 0; i < job->count && code != EXIT_MISSING; i++) {
    report_progress("[%zu/%zu] %s", i + 1, job->count, names_of_kernel(&job->ids[i]).text);
    const enum mxq_status status = compile_one(job, &job->ids[i]);
    report_progress_end();
    if (!job->rows) fflush(stdout);
    if (status != MXQ_OK) code = report_status(status);
  }
  return code;
}

static int run(const struct arguments *arguments) {
  struct job job = {.keep = args_value(arguments, KEEP)};
  enum mxq_status status = target_arch(args_value(arguments, ARCH), &job.arch);
  for (size_t i = 0; i < arguments->count && status == MXQ_OK; i++)
    status = add_operand(&job, arguments->operands[i]);
  if (status == MXQ_OK) status = target_context(arguments, &job.context);
  int code = report_status(status);
  if (code == EXIT_DONE) {
    if (arguments->json) job.rows = json_array();
    code = compile_all(&job);
    if (job.rows) json_print(job.rows);
  }
  mxq_context_destroy(job.context);
  free(job.ids);
  return code;
}

const struct command command_compile = {
    .name = "compile",
    .operands = "NAME...",
    .summary = "compile kernels into the cache; no GPU needed",
    .details =
        "NAME is a variant, a shell glob of variants (quote it) or a kernel. Prints, for each\n"
        "kernel: its name, where it came from (compiled, disk, aot, memory), the time that took,\n"
        "registers of a thread, bytes spilled, and the hash of the cubin.\n",
    .examples =
        "  mxq compile quantize_bf16_e4m3_b32_rceil_colt_lin\n"
        "  mxq compile 'quantize_*' --arch 100a\n"
        "  mxq compile quantize_bf16_e4m3_b32_rceil_colt_lin --keep kernels\n",
    .options = options,
    .least = 1,
    .most = (size_t)-1,
    .json = 1,
    .run = run,
};
