/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const struct bench_shape default_shapes[] = {
#define MXQ_BENCH_SHAPE(e, n, k, source) {e, n, k, source},
#include "shapes.def"
};

static const char help[] =
    "mxq-bench [PATTERN...] [options]\n"
    "\n"
    "Times kernels beside a straight kernel that reads and writes as many bytes with plain "
    "16-byte\n"
    "loads and stores, and beside copies of the same traffic, interleaved in one run: medians of\n"
    "graphs of many launches over rotating buffers of random numbers.\n"
    "\n"
    "Examples\n"
    "  mxq-bench --main                              what docs/performance.md promises, beside "
    "its\n"
    "                                                targets: main variants, sizes, dequantize,\n"
    "                                                generic kernels, a sample of the rest\n"
    "  mxq-bench --main 'quantize_f32_*'             what of it a shell glob matches\n"
    "  mxq-bench --main --save result.json           the table, and everything in a file\n"
    "  mxq-bench --main --list                       what that would measure; no GPU needed\n"
    "  mxq-bench --from result.json --missed         measures anew what misses its target there\n"
    "  mxq-bench --from result.json --show --reasons reasons.json\n"
    "                                                its table, with what bench/ncu_reasons.py "
    "found;\n"
    "                                                no GPU needed\n"
    "  mxq-bench                                     every variant at the default shapes\n"
    "  mxq-bench 'quantize_bf16_e4m3_b32_*_colt_*'   the variants that a shell glob matches\n"
    "  mxq-bench --shape 8,8192,5120 --shape 1,2048,2048 quantize_bf16_*\n"
    "                                                at given shapes E,N,K\n"
    "  mxq-bench --json > result.json                everything, the raw times too\n"
    "  mxq-bench --schedules quantize_f32_e4m3_*     all schedules, not only the chosen ones\n"
    "  mxq-bench '*.tma-256x64' --schedules          the kernels of one tile\n"
    "  mxq-bench --tune > tune.def                   measures all schedules of representative\n"
    "                                                variants, and prints the table of choices\n"
    "                                                (gen/tune.def); progress on standard error\n"
    "  mxq-bench --tune 'quantize_f32_*' > tune.def  some of them; the other lines stay\n"
    "  mxq-bench --tune --list                       the table as it is; no GPU needed\n"
    "  mxq-bench --reps 31 --device 1                more repetitions (default 9), another GPU\n"
    "  mxq-bench --once PATTERN                      launches each straight kernel and kernel "
    "once:\n"
    "                                                for a profiler\n"
    "  mxq-bench --host                              what the host's side costs: lookups, first\n"
    "                                                use, cold starts, launches; no GPU needed\n"
    "  mxq-bench --cpu                               the CPU path on one core, and the same "
    "sources\n"
    "                                                compiled without vectors; no GPU needed\n"
    "\n"
    "Columns: microseconds of a launch, terabytes a second moved, time of the straight kernel,\n"
    "its time in percent of the kernel's, time of copies of the same traffic, the spread of the\n"
    "kernel's times in percent of their median; what the kernel should reach, if that is said, "
    "and\n"
    "whether it did. Kernels are compiled beforehand, on all processors.\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 usage or nothing matches, 3 no driver, NVRTC or device.\n";

static int usage(const char *format, const char *given) {
  fputs("mxq-bench: ", stderr);
  fprintf(stderr, format, given);
  fputs("; mxq-bench --help shows examples\n", stderr);
  return BENCH_USAGE;
}

/* A number from `least` to `most` at *text, which moves past it. */
static int read_number(const char **text, long long least, long long most, long long *value) {
  char *end = NULL;
  if (**text < '0' || **text > '9') return 0;
  errno = 0;
  *value = strtoll(*text, &end, 10);
  *text = end;
  return errno == 0 && *value >= least && *value <= most;
}

static int read_shape(const char *given, struct bench_options *options) {
  long long lengths[3];
  const char *text = given;
  for (int i = 0; i < 3; i++) {
    if (i > 0 && *text++ != ',') return usage("'%s' is no shape: E,N,K, three numbers", given);
    if (!read_number(&text, 1, INT64_MAX, &lengths[i]))
      return usage("'%s' is no shape: E,N,K, three numbers of at least 1", given);
  }
  if (*text) return usage("'%s' is no shape: E,N,K, three numbers", given);
  if (options->shape_count == BENCH_SHAPES_MAX) return usage("%s: more than 64 shapes", given);
  options->shapes[options->shape_count++] =
      (struct bench_shape){lengths[0], lengths[1], lengths[2], "given"};
  return BENCH_DONE;
}

static int read_reps(const char *given, struct bench_options *options) {
  long long value = 0;
  const char *text = given;
  if (!read_number(&text, 1, BENCH_REPS_MAX, &value) || *text)
    return usage("--reps takes 1 to 99, not '%s'", given);
  options->reps = (unsigned)value;
  return BENCH_DONE;
}

static int read_device(const char *given, struct bench_options *options) {
  long long value = 0;
  const char *text = given;
  if (!read_number(&text, 0, 4095, &value) || *text)
    return usage("--device takes the number of a CUDA device, not '%s'", given);
  options->device = (int)value;
  return BENCH_DONE;
}

static int read_save(const char *given, struct bench_options *options) {
  options->save = given;
  return BENCH_DONE;
}

static int read_from(const char *given, struct bench_options *options) {
  options->from = given;
  return BENCH_DONE;
}

static int read_reasons(const char *given, struct bench_options *options) {
  options->reasons = given;
  return BENCH_DONE;
}

static const struct {
  const char *name;
  int (*read)(const char *given, struct bench_options *options);
} valued[] = {{"--save", read_save},   {"--from", read_from}, {"--reasons", read_reasons},
              {"--shape", read_shape}, {"--reps", read_reps}, {"--device", read_device}};

static int read_flag(const char *argument, struct bench_options *options) {
  if (!strcmp(argument, "--json")) return options->json = 1;
  if (!strcmp(argument, "--schedules")) return options->schedules = 1;
  if (!strcmp(argument, "--tune")) return options->tune = 1;
  if (!strcmp(argument, "--host")) return options->host = 1;
  if (!strcmp(argument, "--main")) return options->main = 1;
  if (!strcmp(argument, "--cpu")) return options->cpu = 1;
  if (!strcmp(argument, "--missed")) return options->missed = 1;
  if (!strcmp(argument, "--show")) return options->show = 1;
  if (!strcmp(argument, "--once")) return options->once = 1;
  if (!strcmp(argument, "--list")) return options->list = 1;
  if (!strcmp(argument, "--help") || !strcmp(argument, "-h")) return options->help = 1;
  return 0;
}

/* --name VALUE and --name=VALUE. Moves *i past the value. */
static int read_valued(int argc, char **argv, int *i, struct bench_options *options) {
  const char *argument = argv[*i];
  const size_t length = strcspn(argument, "=");
  for (size_t v = 0; v < sizeof valued / sizeof valued[0]; v++) {
    if (strlen(valued[v].name) != length || strncmp(argument, valued[v].name, length)) continue;
    if (argument[length]) return valued[v].read(argument + length + 1, options);
    if (*i + 1 == argc) return usage("%s needs a value", argument);
    return valued[v].read(argv[++*i], options);
  }
  return usage("unknown option '%s'", argument);
}

int bench_options_read(int argc, char **argv, struct bench_options *options) {
  const size_t defaults = sizeof default_shapes / sizeof default_shapes[0];
  memset(options, 0, sizeof *options);
  options->reps = 9;
  options->argc = argc;
  options->argv = argv;
  options->patterns = calloc((size_t)argc, sizeof *options->patterns);
  if (!options->patterns) return usage("%s", "no memory");
  for (int i = 1; i < argc; i++) {
    int status = BENCH_DONE;
    if (argv[i][0] != '-')
      options->patterns[options->pattern_count++] = argv[i];
    else if (!read_flag(argv[i], options))
      status = read_valued(argc, argv, &i, options);
    if (status != BENCH_DONE) return status;
  }
  if (options->main && options->shape_count) return usage("%s", "--main has shapes of its own");
  if (options->main && options->schedules)
    return usage("%s", "--main measures the kernels that plans choose, --schedules all");
  if (options->tune && (options->shape_count || options->json || options->main))
    return usage("%s", "--tune has shapes and an output of its own");
  if (options->from && (options->shape_count || options->main || options->tune || options->host ||
                        options->cpu || options->schedules))
    return usage("%s", "--from has kernels and shapes of its own");
  if (options->show && (options->json || options->save || options->list || options->once))
    return usage("%s", "--show prints the table of a saved result, and nothing else");
  if (options->once && (options->json || options->save))
    return usage("%s", "--once measures nothing: there is nothing for --json and --save");
  if (!options->from && (options->show || options->missed))
    return usage("%s", "--show and --missed tell of a saved result: --from FILE");
  if (options->shape_count) return BENCH_DONE;
  memcpy(options->shapes, default_shapes, sizeof default_shapes);
  options->shape_count = defaults;
  return BENCH_DONE;
}

void bench_help(void) { fputs(help, stdout); }
