/* SPDX-License-Identifier: MIT
 *
 * mxq-emulate: runs kernels with no GPU, and holds them to the CPU path. docs/emulator.md.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulate.h"
#include "machine.h"
#include "memory.h"

static const char help[] =
    "usage: mxq-emulate PATTERN...|FILE.cu|--pairs [options]\n"
    "\n"
    "Runs kernels on the CPU, the same source that NVRTC compiles, under a scheduler and a copy\n"
    "engine that do what the hardware may do at worst, and compares with the CPU path bit for "
    "bit.\n"
    "PATTERN is a shell glob on variant names, which stand for the fast and the generic kernel, "
    "on\n"
    "VARIANT.FAMILY, which stands for one of the two (tma, any), or on kernel names, such as\n"
    "VARIANT.tma-128x64. FILE.cu is the output of `mxq source`, perhaps edited.\n"
    "\n"
    "  --pairs            kernels of all archs in which every pair of properties occurs: types,\n"
    "                     block, mode, layout, scales, family and tile, arch and --narrow\n"
    "  --one-in COUNT     of those kernels a sample: one in so many, by the seed\n"
    "  --part I/N         of those, every N-th, from the I-th on: N calls run all of them\n"
    "  --arch A           the arch that kernels are expanded for; 90a if not given\n"
    "  --narrow           with the hardware's conversions to e2m3, e3m2, e2m1 and e8m0, which "
    "sm_100a\n"
    "                     and newer have; not the default anywhere yet\n"
    "  --shape E,N,K      this shape instead of seven or nine with ragged ends and few blocks\n"
    "  --small            only the smallest of them\n"
    "  --strides E,N      the input's strides of E and N in elements; with --shape\n"
    "  --ahead COUNT      so many elements the tensors of generic kernels begin behind a multiple "
    "of\n"
    "                     16 bytes, at most 4; with --shape\n"
    "  --grid BLOCKS      so many blocks; 0 is one for each tile, as kernels that walk over no "
    "others\n"
    "                     always get\n"
    "  --seed S           of inputs and scheduling; 1 if not given\n"
    "  --seeds COUNT      so many seeds, from S on\n"
    "  --seconds COUNT    processor time that one launch may take; 300 if not given. As much, or\n"
    "                     ten seconds, without a primitive of the device is too long as well\n"
    "  --jobs COUNT       so many processes at once; the number of processors if not given\n"
    "  --templates DIR    expand the templates of a folder instead of the built-in ones\n"
    "  --fault NAME       change the host's plan (for tests/mutants); `--fault list` lists\n"
    "  --quiet            print only what is not clean, and the totals\n"
    "\n"
    "Exit: 0 clean, 1 failed (such as a compile error), 2 usage, an unknown name, or a shape that "
    "a\n"
    "kernel does not take, 4 a hazard or a difference, with the template's line, block, thread, "
    "and\n"
    "the command that repeats it.\n"
    "\n"
    "  mxq-emulate 'quantize_bf16_*' --small\n"
    "  mxq-emulate 'quantize_*_e2m1_*.any' --arch 120a --narrow\n"
    "  mxq source quantize_bf16_e4m3_b32_rceil_colt_lin | sed '/fence_async/d' >edited.cu\n"
    "  mxq-emulate edited.cu --shape 1,256,256\n";

static const struct option options[] = {
    {"pairs", no_argument, NULL, 'p'},
    {"one-in", required_argument, NULL, 'o'},
    {"part", required_argument, NULL, 'P'},
    {"arch", required_argument, NULL, 'a'},
    {"narrow", no_argument, NULL, 'n'},
    {"small", no_argument, NULL, 'S'},
    {"shape", required_argument, NULL, 's'},
    {"strides", required_argument, NULL, 't'},
    {"ahead", required_argument, NULL, 'A'},
    {"grid", required_argument, NULL, 'g'},
    {"seed", required_argument, NULL, 'd'},
    {"seeds", required_argument, NULL, 'c'},
    {"seconds", required_argument, NULL, 'w'},
    {"templates", required_argument, NULL, 'T'},
    {"fault", required_argument, NULL, 'f'},
    {"jobs", required_argument, NULL, 'j'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

enum { exit_failed = 1, exit_usage = 2 };

/* Reads `count` whole numbers with commas between them. */
static int read_numbers(const char *text, int64_t *numbers, int count) {
  char *end;
  for (int i = 0; i < count; i++) {
    if (*text < '0' || *text > '9') return 0;
    errno = 0;
    numbers[i] = strtoll(text, &end, 10);
    if (errno || *end != (i + 1 < count ? ',' : 0)) return 0;
    text = end + 1;
  }
  return 1;
}

static int bad(const char *option, const char *given, const char *allowed) {
  fprintf(stderr, "mxq-emulate: --%s %s: %s\n", option, given, allowed);
  return 0;
}

static int read_shape(struct emu_request *request) {
  int64_t lengths[3];
  if (!read_numbers(optarg, lengths, 3))
    return bad("shape", optarg, "give E,N,K, such as 1,256,256");
  request->shape = mxq_shape_dense(lengths[0], lengths[1], lengths[2]);
  request->has_shape = 1;
  return 1;
}

static int read_arch(struct emu_request *request) {
  const struct mxq_arch *arch;
  const unsigned narrow = request->arch.use_narrow;
  if (mxq_arch_parse(optarg, &arch) != MXQ_OK) return bad("arch", optarg, mxq_last_error());
  request->arch = *arch;
  request->arch.use_narrow |= narrow;
  return 1;
}

static int read_number(const char *option, int64_t least, int64_t *number) {
  if (read_numbers(optarg, number, 1) && *number >= least) return 1;
  return bad(option, optarg, "give a whole number that is not too small");
}

static int read_part(struct emu_request *request) {
  char text[64];
  char *slash;
  snprintf(text, sizeof text, "%s", optarg);
  slash = strchr(text, '/');
  if (slash) *slash = ',';
  if (slash && read_numbers(text, request->part, 2) && request->part[0] >= 1 &&
      request->part[0] <= request->part[1])
    return 1;
  return bad("part", optarg, "give I/N, I from 1 to N");
}

static int read_grid(struct emu_request *request) {
  if (read_numbers(optarg, &request->grid, 1) && request->grid <= EMU_GRID_MAX) return 1;
  return bad("grid", optarg, "give a number of blocks from 0 to 1048576");
}

static int read_seconds(struct emu_request *request) {
  int64_t seconds;
  if (!read_numbers(optarg, &seconds, 1) || seconds < 1 || seconds > 86400)
    return bad("seconds", optarg, "give a number from 1 to 86400");
  request->seconds = (unsigned)seconds;
  return 1;
}

static int read_fault(struct emu_request *request) {
  if (strcmp(optarg, "list") == 0) {
    emu_fault_list(stdout);
    exit(0);
  }
  request->fault = emu_fault_find(optarg);
  return request->fault ? 1 : bad("fault", optarg, "unknown; `--fault list` lists them");
}

static int read_ahead(struct emu_request *request) {
  if (read_numbers(optarg, &request->ahead, 1) && request->ahead <= 4) return 1;
  return bad("ahead", optarg, "give a number of elements up to 4");
}

static int read_option(int letter, struct emu_request *request, int64_t strides[2]) {
  switch (letter) {
    case 'p': request->pairs = 1; return 1;
    case 'P': return read_part(request);
    case 'a': return read_arch(request);
    case 'n': request->arch.use_narrow = 1; return 1;
    case 'S': request->small = 1; return 1;
    case 's': return read_shape(request);
    case 't':
      return read_numbers(optarg, strides, 2) ? 1 : bad("strides", optarg, "give E,N, two numbers");
    case 'A': return read_ahead(request);
    case 'g': return read_grid(request);
    case 'w': return read_seconds(request);
    case 'd': return read_number("seed", 0, &request->seed);
    case 'c': return read_number("seeds", 1, &request->seeds);
    case 'o': return read_number("one-in", 1, &request->one_in);
    case 'j': return read_number("jobs", 1, &request->jobs);
    case 'T': request->templates = optarg; return 1;
    case 'f': return read_fault(request);
    case 'q': request->quiet = 1; return 1;
    case 'h': fputs(help, stdout); exit(0);
    default: return 0;
  }
}

/* What single options cannot tell. */
static int check(const struct emu_request *request, const int64_t strides[2]) {
  if (strides[0] >= 0 && !request->has_shape) {
    fprintf(stderr, "mxq-emulate: --strides needs --shape\n");
    return 0;
  }
  if (request->ahead && !request->has_shape) {
    fprintf(stderr, "mxq-emulate: --ahead needs --shape\n");
    return 0;
  }
  if (request->arch.use_narrow && !request->arch.has_narrow)
    return bad("narrow", "",
               "the arch has no such conversions; give --arch 100a, 103a, 120a or 121a");
  if (!request->name_count && !request->pairs) fputs(help, stderr);
  return request->name_count || request->pairs;
}

int main(int count, char **arguments) {
  struct emu_request request = {.grid = -1,
                                .seconds = 300,
                                .seed = 1,
                                .seeds = 1,
                                .one_in = 1,
                                .part = {1, 1},
                                .jobs = sysconf(_SC_NPROCESSORS_ONLN)};
  const struct mxq_arch *arch;
  int64_t strides[2] = {-1, -1};
  int letter;
  if (mxq_arch_parse("90a", &arch) != MXQ_OK) return exit_failed;
  request.arch = *arch;
  while ((letter = getopt_long(count, arguments, "h", options, NULL)) != -1)
    if (!read_option(letter, &request, strides)) return exit_usage;
  request.names = arguments + optind;
  request.name_count = count - optind;
  if (!check(&request, strides)) return exit_usage;
  if (strides[0] >= 0) {
    request.shape.stride_e = strides[0];
    request.shape.stride_n = strides[1];
  }
  return emu_emulate(&request);
}
