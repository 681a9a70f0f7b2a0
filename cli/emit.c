/* SPDX-License-Identifier: MIT */
#include "emit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "args.h"
#include "context.h"
#include "image.h"
#include "kernel_list.h"
#include "output_file.h"
#include "report.h"
#include "status.h"
#include "target.h"
#include "text.h"

enum { ARCHS, OUTPUT, NAME, DEPFILE };
static const struct option_row options[] = {
    [ARCHS] = {"archs", 0, "A,B", "architectures; the manifest's own if not given", 0},
    [OUTPUT] = {"output", 'o', "DIR", "where the files go; made if it is not there", 0},
    [NAME] = {"name", 0, "N", "of the files and of the set; \"kernels\" if not given", 0},
    [DEPFILE] = {"depfile", 0, "FILE", "write there what the files were made from, for make", 0},
    {0},
};

struct job {
  const char *manifest, *folder, *name, *depfile;
  struct mxq_context *context;
  struct kernel_list list;
  struct mxq_emit_kernel *kernels;
  struct mxq_emit_file files[MXQ_EMIT_FILES];
};

/* The disk cache serves, but only with what this very NVRTC made: the bytes must not depend on who
 * compiled before. */
static enum mxq_status open_context(const struct arguments *arguments, struct job *job) {
  const struct mxq_nvrtc *nvrtc = NULL;
  MXQ_TRY(target_context(arguments, &job->context));
  job->context->jit = MXQ_JIT_ON;
  job->context->cache_strict = 1;
  return mxq_context_nvrtc(job->context, &nvrtc);
}

static enum mxq_status compile(struct job *job) {
  const struct mxq_image *image = NULL;
  const struct manifest *manifest = &job->list.manifest;
  for (size_t i = 0; i < job->list.arch_count; i++) {
    report_progress("compiling %zu variants for %s", manifest->count, job->list.archs[i]->name);
    MXQ_TRY(
        mxq_prepare(job->context, job->list.archs[i]->name, manifest->variants, manifest->count));
  }
  job->kernels = text_allocate(job->list.count, sizeof *job->kernels);
  for (size_t i = 0; i < job->list.count; i++) {
    const struct listed_kernel *kernel = &job->list.kernels[i];
    MXQ_TRY(mxq_image_get(job->context, &kernel->id, kernel->arch, &image, NULL));
    job->kernels[i] = (struct mxq_emit_kernel){kernel->id,
                                               kernel->arch,
                                               image->resources.registers,
                                               image->resources.spill_store_bytes,
                                               image->resources.spill_load_bytes,
                                               image->resources.stack_bytes,
                                               image->cubin,
                                               image->cubin_size};
  }
  return MXQ_OK;
}

static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The command without any folder: two builds of one manifest give the same bytes. Without a slash
 * nothing in it ends the comment that it stands in. */
static char *command_of(const struct job *job) {
  struct text shown = {0}, command = {0};
  const char *manifest = file_name(job->manifest);
  text_visible(&shown, manifest, strlen(manifest));
  text_print(&command, "mxq emit %s --archs ", shown.data ? shown.data : "");
  for (size_t i = 0; i < job->list.arch_count; i++)
    text_print(&command, "%s%s", i ? "," : "", job->list.archs[i]->name);
  text_print(&command, " --name %s -o .", job->name);
  text_free(&shown);
  return command.data;
}

static enum mxq_status make(struct job *job) {
  char *command = command_of(job);
  char *compiler = text_format("NVRTC %d.%d", job->context->nvrtc.major, job->context->nvrtc.minor);
  const struct mxq_emit_words words = {job->name, command, compiler};
  const enum mxq_status status =
      mxq_emit(&mxq_allocator_default, job->kernels, job->list.count, &words, job->files);
  free(compiler);
  free(command);
  return status;
}

static void depend(struct text *text, const char *path) {
  for (; *path; path++) {
    if (strchr(" #\\", *path)) text_append(text, "\\", 1);
    if (*path == '$') text_append(text, "$", 1);
    text_append(text, path, 1);
  }
}

/* "FILES: MANIFEST NVRTC", as make and ninja read it. */
static enum mxq_status write_depfile(const struct job *job) {
  struct text text = {0};
  for (size_t i = 0; i < MXQ_EMIT_FILES; i++) {
    char *path = text_format("%s/%s%s", job->folder, job->name, mxq_emit_suffixes[i]);
    if (i) text_append(&text, " ", 1);
    depend(&text, path);
    free(path);
  }
  text_append(&text, ": ", 2);
  depend(&text, job->manifest);
  if (job->context->nvrtc.path[0] == '/') {
    text_append(&text, " ", 1);
    depend(&text, job->context->nvrtc.path);
  }
  text_append(&text, "\n", 1);
  const enum mxq_status status = output_file_write_whole(job->depfile, text.data, text.length);
  text_free(&text);
  return status;
}

static enum mxq_status write_files(const struct job *job) {
  MXQ_FAIL_IF(mkdir(job->folder, 0777) && errno != EEXIST, MXQ_IO_ERROR, "%s: %s", job->folder,
              strerror(errno));
  for (size_t i = 0; i < MXQ_EMIT_FILES; i++) {
    char *path = text_format("%s/%s%s", job->folder, job->name, mxq_emit_suffixes[i]);
    const enum mxq_status status =
        output_file_write_whole(path, job->files[i].bytes, job->files[i].size);
    free(path);
    MXQ_TRY(status);
  }
  return job->depfile ? write_depfile(job) : MXQ_OK;
}

static enum mxq_status emit(const struct arguments *arguments, struct job *job) {
  MXQ_TRY(mxq_emit_check_name(job->name));
  MXQ_TRY(kernel_list_read(job->manifest, args_value(arguments, ARCHS), &job->list));
  MXQ_TRY(open_context(arguments, job));
  MXQ_TRY(compile(job));
  MXQ_TRY(make(job));
  return write_files(job);
}

static int run(const struct arguments *arguments) {
  struct job job = {.manifest = arguments->operands[0],
                    .folder = args_value(arguments, OUTPUT),
                    .name = args_value(arguments, NAME),
                    .depfile = args_value(arguments, DEPFILE)};
  if (!job.folder) return report_usage(arguments->command, "-o DIR is needed");
  if (!job.name) job.name = "kernels";
  const enum mxq_status status = emit(arguments, &job);
  report_progress_end();
  if (status == MXQ_OK)
    printf("%s/%s.blob: %zu kernels of %zu variants, %zu bytes\n", job.folder, job.name,
           job.list.count, job.list.manifest.count, job.files[MXQ_EMIT_BLOB].size);
  const int code = report_status(status);
  mxq_emit_free(&mxq_allocator_default, job.files);
  free(job.kernels);
  kernel_list_free(&job.list);
  mxq_context_destroy(job.context);
  return code;
}

const struct command command_emit = {
    .name = "emit",
    .operands = "MANIFEST",
    .summary = "compile a manifest's kernels into files for a C build; no GPU needed",
    .details =
        "Writes N.blob (the kernels), N_registry.c (which takes the blob in) and N.h (which\n"
        "declares the set for mxq_context_add_kernels). The set holds every kernel that planning\n"
        "can select for the variants on the architectures. The same manifest and NVRTC give the\n"
        "same bytes in any folder. From CMake, use mxq_add_kernels() of the package mxq.\n",
    .examples =
        "  mxq emit engine.manifest --archs 90a,100a -o generated --name engine_kernels\n"
        "  cc -c -Wa,-Igenerated generated/engine_kernels_registry.c\n",
    .options = options,
    .least = 1,
    .most = 1,
    .run = run,
};
