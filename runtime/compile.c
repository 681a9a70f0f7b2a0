/* SPDX-License-Identifier: MIT */
#include "compile.h"

#include <stdio.h>
#include <string.h>

/* Without paths, so that two installations share a cache. -v makes the assembler print what
 * read_resources reads; it changes no byte of the cubin. */
const char mxq_compile_options[] =
    "--std=c++17 --ftz=false --prec-div=true --prec-sqrt=true --fmad=false -no-source-include "
    "--no-cache --minimal --ptxas-options=-v";

#define OPTIONS_MAX               16
#define LOG_SHOWN                 6000
#define OWN_OPTIONS               "\n// NVRTC: " /* a line of the source: options of its own */
#define OWN_OPTIONS_SIZE          128
#define NVRTC_ERROR_OUT_OF_MEMORY 1

struct job {
  const struct mxq_allocator *allocator;
  const struct mxq_nvrtc *nvrtc;
  const char *source;
  const char *name;
  const struct mxq_arch *arch;
  enum mxq_compile_output output;
  struct mxq_nvrtc_program *program;
  char *log;
};

static enum mxq_status no_memory(const struct job *job) {
  MXQ_FAIL(MXQ_OUT_OF_MEMORY, "no memory for compiling %s", job->name);
}

static enum mxq_status check_arch(const struct job *job) {
  int archs[64], count = 0;
  const struct mxq_nvrtc *nvrtc = job->nvrtc;
  if (nvrtc->nvrtcGetNumSupportedArchs(&count) != 0 || count < 1 || count > 64 ||
      nvrtc->nvrtcGetSupportedArchs(archs) != 0)
    return MXQ_OK; /* the compile will tell */
  for (int i = 0; i < count; ++i)
    if ((unsigned)archs[i] == job->arch->number) return MXQ_OK;
  MXQ_FAIL(MXQ_NO_NVRTC,
           "NVRTC %d.%d (%s) does not know the arch %s of %s; the newest it knows is %d: use a "
           "newer NVRTC",
           nvrtc->major, nvrtc->minor, nvrtc->path, job->arch->name, job->name, archs[count - 1]);
}

/* `options` gets pointers into `text`, which is cut at its spaces. How many; OPTIONS_MAX: perhaps
 * not all. */
static int split_options(char *text, const char *options[OPTIONS_MAX]) {
  char *rest = text;
  int count = 0;
  for (char *option; count < OPTIONS_MAX && (option = strtok_r(rest, " ", &rest)) != NULL;)
    options[count++] = option;
  return count;
}

static enum mxq_status read_log(struct job *job) {
  size_t size = 0;
  if (job->nvrtc->nvrtcGetProgramLogSize(job->program, &size) != 0) size = 0;
  job->log = mxq_allocate_zeroed(job->allocator, size + 1);
  if (!job->log) return no_memory(job);
  if (size && job->nvrtc->nvrtcGetProgramLog(job->program, job->log) != 0) job->log[0] = 0;
  return MXQ_OK;
}

static enum mxq_status refused(const struct job *job, int result) {
  const int variant_length = (int)strcspn(job->name, ".");
  if (result == NVRTC_ERROR_OUT_OF_MEMORY) return no_memory(job);
  MXQ_FAIL(MXQ_COMPILE_FAILED,
           "NVRTC %d.%d refused %s for %s: %s (%d)\n%.*s\nThe source: mxq source %.*s --arch %s "
           "--kernel %s",
           job->nvrtc->major, job->nvrtc->minor, job->name, job->arch->name,
           job->nvrtc->nvrtcGetErrorString(result), result, LOG_SHOWN, job->log, variant_length,
           job->name, job->arch->name, job->name);
}

static enum mxq_status translate(struct job *job) {
  char text[sizeof mxq_compile_options + 64 + OWN_OPTIONS_SIZE];
  const char *options[OPTIONS_MAX];
  const char *own = strstr(job->source, OWN_OPTIONS);
  own = own ? own + strlen(OWN_OPTIONS) : "";
  const size_t own_length = strcspn(own, "\n");
  MXQ_FAIL_IF(own_length >= OWN_OPTIONS_SIZE, MXQ_INTERNAL,
              "the line \"// NVRTC:\" of %s has %zu characters of options; at most %d", job->name,
              own_length, OWN_OPTIONS_SIZE - 1);
  snprintf(text, sizeof text, "--gpu-architecture=%s_%s %s %.*s",
           job->output == MXQ_COMPILE_PTX ? "compute" : "sm", job->arch->name, mxq_compile_options,
           (int)own_length, own);
  const int count = split_options(text, options);
  MXQ_FAIL_IF(count == OPTIONS_MAX, MXQ_INTERNAL, "%s has more than %d options", job->name,
              OPTIONS_MAX - 1);
  const int result = job->nvrtc->nvrtcCompileProgram(job->program, count, options);
  MXQ_TRY(read_log(job));
  return result == 0 ? MXQ_OK : refused(job, result);
}

static enum mxq_status fetch(const struct job *job, int ptx, char **code, size_t *size) {
  const struct mxq_nvrtc *nvrtc = job->nvrtc;
  int result = ptx ? nvrtc->nvrtcGetPTXSize(job->program, size)
                   : nvrtc->nvrtcGetCUBINSize(job->program, size);
  if (result != 0 || *size == 0) return refused(job, result);
  char *bytes = mxq_resize(job->allocator, NULL, *size);
  if (!bytes) return no_memory(job);
  result =
      ptx ? nvrtc->nvrtcGetPTX(job->program, bytes) : nvrtc->nvrtcGetCUBIN(job->program, bytes);
  if (result == 0) {
    *code = bytes;
    return MXQ_OK;
  }
  mxq_free(job->allocator, bytes);
  return refused(job, result);
}

static enum mxq_status fetch_all(const struct job *job, struct mxq_compiled *compiled) {
  struct mxq_compiled made = {.code = NULL};
  size_t ptx_size = 0;
  MXQ_TRY(fetch(job, job->output == MXQ_COMPILE_PTX, &made.code, &made.size));
  const enum mxq_status status =
      job->output == MXQ_COMPILE_BOTH ? fetch(job, 1, &made.ptx, &ptx_size) : MXQ_OK;
  if (status != MXQ_OK) {
    mxq_free(job->allocator, made.code);
    return status;
  }
  *compiled = made;
  return MXQ_OK;
}

static void keep_largest(uint32_t *value, unsigned found) {
  if (found > *value) *value = found;
}

/* The assembler's lines, for example
 *   ptxas         .     256 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
 *   ptxas info    : Used 40 registers, used 0 barriers, 256 bytes cumulative stack size */
static void read_resources(const char *log, struct mxq_resources *resources) {
  memset(resources, 0, sizeof *resources);
  for (const char *line = log; line; line = strchr(line, '\n')) {
    unsigned stack = 0, stores = 0, loads = 0, registers = 0;
    line += *line == '\n';
    const char *tail = strpbrk(line, ":.\n");
    if (!tail || *tail == '\n') continue;
    if (sscanf(tail + 1, " %u bytes stack frame, %u bytes spill stores, %u bytes spill loads",
               &stack, &stores, &loads) == 3) {
      keep_largest(&resources->stack_bytes, stack);
      keep_largest(&resources->spill_store_bytes, stores);
      keep_largest(&resources->spill_load_bytes, loads);
    }
    if (sscanf(tail + 1, " Used %u registers", &registers) == 1)
      keep_largest(&resources->registers, registers);
  }
}

enum mxq_status mxq_compile(const struct mxq_allocator *allocator, const struct mxq_nvrtc *nvrtc,
                            const char *source, const char *name, const struct mxq_arch *arch,
                            enum mxq_compile_output output, struct mxq_compiled *compiled) {
  struct job job = {allocator, nvrtc, source, name, arch, output, NULL, NULL};
  char file[MXQ_KERNEL_NAME_SIZE + 8];
  MXQ_TRY(check_arch(&job));
  snprintf(file, sizeof file, "%s.cu", name);
  const int result = nvrtc->nvrtcCreateProgram(&job.program, source, file, 0, NULL, NULL);
  MXQ_FAIL_IF(result != 0, MXQ_COMPILE_FAILED, "NVRTC %d.%d took no program for %s: %s (%d)",
              nvrtc->major, nvrtc->minor, name, nvrtc->nvrtcGetErrorString(result), result);
  enum mxq_status status = translate(&job);
  if (status == MXQ_OK) status = fetch_all(&job, compiled);
  if (status == MXQ_OK) read_resources(job.log, &compiled->resources);
  mxq_free(allocator, job.log);
  nvrtc->nvrtcDestroyProgram(&job.program);
  return status;
}
