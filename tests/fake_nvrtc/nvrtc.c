/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "fake_setting.h"

#define VARIABLE   "FAKE_NVRTC"
#define CUDA_ELF   190 /* EM_CUDA */
#define CODE_BYTES 8192

enum { success = 0, out_of_memory = 1, invalid_input = 3, compilation = 6, internal = 11 };

struct program {
  char *source;
  char symbol[256];
  char log[512];
  unsigned char *code;
  size_t size;
  unsigned arch; /* its number, 0x10000 more with a suffix */
};

static atomic_ulong calls, failing;
static atomic_long milliseconds; /* of a compile */
static atomic_long programs;     /* that were not destroyed */

void fake_nvrtc_fail(unsigned long nth);
void fake_nvrtc_fail(unsigned long nth) {
  atomic_store(&failing, nth);
  atomic_store(&calls, 0);
}
void fake_nvrtc_slow(long value);
void fake_nvrtc_slow(long value) { atomic_store(&milliseconds, value); }
long fake_nvrtc_programs(void);
long fake_nvrtc_programs(void) { return atomic_load(&programs); }
unsigned long fake_nvrtc_calls(void);
unsigned long fake_nvrtc_calls(void) { return atomic_load(&calls); }

static void __attribute__((constructor)) start(void) {
  fake_nvrtc_fail((unsigned long)fake_number(VARIABLE, "fail", 0));
  fake_nvrtc_slow(fake_number(VARIABLE, "milliseconds", 0));
}

/* Whether this call is the one that fails. */
static int fails(void) {
  const unsigned long number = atomic_fetch_add(&calls, 1) + 1;
  return number == atomic_load(&failing);
}
#define ENTER() \
  if (fails()) return internal

/* ---- What it is ---------------------------------------------------------------------------- */

static void version_file(char *text, size_t size) {
  static const char here;
  char path[PATH_MAX];
  Dl_info info;
  if (!dladdr(&here, &info) || !realpath(info.dli_fname, path)) return;
  char *slash = strrchr(path, '/');
  if (!slash) return;
  strcpy(slash + 1, "version");
  FILE *file = fopen(path, "re");
  if (!file) return;
  if (!fgets(text, (int)size, file)) text[0] = 0;
  fclose(file);
}

int nvrtcVersion(int *major, int *minor);
int nvrtcVersion(int *major, int *minor) {
  char text[32] = "";
  ENTER();
  if (!fake_setting(VARIABLE, "version", text, sizeof text)) version_file(text, sizeof text);
  if (sscanf(text, "%d.%d", major, minor) != 2) *major = 13, *minor = 0;
  return success;
}

const char *nvrtcGetErrorString(int result);
const char *nvrtcGetErrorString(int result) {
  static const struct {
    int result;
    const char *text;
  } rows[] = {{success, "NVRTC_SUCCESS"},
              {compilation, "NVRTC_ERROR_COMPILATION"},
              {internal, "NVRTC_ERROR_INTERNAL_ERROR"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].result == result) return rows[i].text;
  return "an error of the fake NVRTC";
}

static const int archs[] = {75, 80, 86, 89, 90, 100, 103, 120, 121};
enum { arch_count = sizeof archs / sizeof archs[0] };
int nvrtcGetNumSupportedArchs(int *count);
int nvrtcGetNumSupportedArchs(int *count) {
  ENTER();
  return *count = arch_count, success;
}
int nvrtcGetSupportedArchs(int *list);
int nvrtcGetSupportedArchs(int *list) {
  ENTER();
  return memcpy(list, archs, sizeof archs), success;
}

/* ---- Programs ------------------------------------------------------------------------------ */

int nvrtcDestroyProgram(struct program **program);
int nvrtcDestroyProgram(struct program **program) {
  free((*program)->source);
  free((*program)->code);
  free(*program);
  atomic_fetch_sub(&programs, 1);
  return *program = NULL, success;
}

int nvrtcCreateProgram(struct program **program, const char *source, const char *name, int headers,
                       const char *const *texts, const char *const *names);
int nvrtcCreateProgram(struct program **program, const char *source, const char *name, int headers,
                       const char *const *texts, const char *const *names) {
  ENTER();
  if (headers || texts || names || !source || !name) return invalid_input;
  struct program *made = calloc(1, sizeof *made);
  if (!made || !(made->source = strdup(source))) return free(made), out_of_memory;
  for (size_t i = 0; name[i] && strcmp(name + i, ".cu") && i + 1 < sizeof made->symbol; i++)
    made->symbol[i] = name[i] == '.' || name[i] == '-' ? '_' : name[i];
  atomic_fetch_add(&programs, 1);
  return *program = made, success;
}

static uint64_t hash(const char *text) {
  uint64_t value = 14695981039346656037u; /* FNV-1a */
  for (; *text; text++) value = (value ^ (unsigned char)*text) * 1099511628211u;
  return value;
}

/* Header, whose flags hold the arch (fake_driver/launch.c), two section headers, names, the symbol
 * and bytes that the source decides. */
static int assemble(struct program *program) {
  Elf64_Ehdr header = {
      .e_ident = ELFMAG, .e_machine = CUDA_ELF, .e_flags = program->arch, .e_shnum = 2};
  Elf64_Shdr sections[2] = {{0}, {.sh_type = SHT_STRTAB}};
  const size_t text = sizeof header + sizeof sections;
  uint64_t word = hash(program->source);
  program->size = text + sizeof program->symbol + CODE_BYTES;
  program->code = calloc(1, program->size);
  if (!program->code) return out_of_memory;
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof sections[0];
  sections[1].sh_offset = text;
  sections[1].sh_size = program->size - text;
  memcpy(program->code, &header, sizeof header);
  memcpy(program->code + sizeof header, sections, sizeof sections);
  memcpy(program->code + text, program->symbol, sizeof program->symbol);
  for (size_t at = text + sizeof program->symbol; at + 8 <= program->size; at += 8) {
    word = word * 6364136223846793005u + 1442695040888963407u;
    memcpy(program->code + at, &word, 8);
  }
  return success;
}

static void note_compile(void) {
  char path[PATH_MAX], line[32];
  const long pause = atomic_load(&milliseconds);
  const struct timespec time = {pause / 1000, pause % 1000 * 1000000};
  if (pause) nanosleep(&time, NULL);
  if (!fake_setting(VARIABLE, "log", path, sizeof path)) return;
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const int length = snprintf(line, sizeof line, "%d\n", (int)getpid());
  if (file < 0 || write(file, line, (size_t)length) != length) abort();
  close(file);
}

int nvrtcCompileProgram(struct program *program, int count, const char *const *options);
int nvrtcCompileProgram(struct program *program, int count, const char *const *options) {
  ENTER();
  char suffix = 0;
  for (int i = 0; i < count; i++)
    if (sscanf(options[i], "--gpu-architecture=%*[a-z]_%u%c", &program->arch, &suffix) >= 1)
      program->arch |= suffix ? 0x10000u : 0;
  note_compile();
  if (!program->arch) return invalid_input;
  if (strstr(program->source, "#error"))
    return snprintf(program->log, sizeof program->log, "error: #error in the source"), compilation;
  snprintf(program->log, sizeof program->log,
           "ptxas info    : Used 40 registers, used 1 barriers\n");
  return assemble(program);
}

/* ---- Results ------------------------------------------------------------------------------- */

int nvrtcGetProgramLogSize(struct program *program, size_t *size);
int nvrtcGetProgramLogSize(struct program *program, size_t *size) {
  ENTER();
  return *size = strlen(program->log) + 1, success;
}
int nvrtcGetProgramLog(struct program *program, char *log);
int nvrtcGetProgramLog(struct program *program, char *log) {
  ENTER();
  return strcpy(log, program->log), success;
}
int nvrtcGetCUBINSize(struct program *program, size_t *size);
int nvrtcGetCUBINSize(struct program *program, size_t *size) {
  ENTER();
  return *size = program->size, success;
}
int nvrtcGetCUBIN(struct program *program, char *cubin);
int nvrtcGetCUBIN(struct program *program, char *cubin) {
  ENTER();
  return memcpy(cubin, program->code, program->size), success;
}
int nvrtcGetPTXSize(struct program *program, size_t *size);
int nvrtcGetPTXSize(struct program *program, size_t *size) {
  return nvrtcGetCUBINSize(program, size);
}
int nvrtcGetPTX(struct program *program, char *ptx);
int nvrtcGetPTX(struct program *program, char *ptx) { return nvrtcGetCUBIN(program, ptx); }
