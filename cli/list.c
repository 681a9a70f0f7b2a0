/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "axes.h"
#include "json.h"
#include "list_kernels.h"
#include "names.h"
#include "report.h"
#include "suggest.h"
#include "text.h"

/* The options are the axes, in their order, and these. */
enum { ARCH = MXQ_AXIS_COUNT, COMPILE };
static const struct option_row options[] = {
    [MXQ_AXIS_OP] = {"op", 0, "O", "only this operation, such as quantize", 1},
    [MXQ_AXIS_IN] = {"in", 0, "T", "only this input type, such as bf16", 1},
    [MXQ_AXIS_OUT] = {"out", 0, "T", "only this output type, such as e4m3", 1},
    [MXQ_AXIS_BLOCK] = {"block", 0, "B", "only this block size, such as b32", 1},
    [MXQ_AXIS_MODE] = {"mode", 0, "M", "only this scaling mode, such as rceil", 1},
    [MXQ_AXIS_LAYOUT] = {"layout", 0, "L", "only this layout, such as colt", 1},
    [MXQ_AXIS_SCALES] = {"scales", 0, "S", "only this scale layout, such as lin", 1},
    [ARCH] = {"arch", 0, "A", "with --json, kernels for this architecture; 90a if not given", 1},
    [COMPILE] = {"compile", 0, NULL, "with --json, compile kernels that no cache has", 0},
    {0},
};

static int token_matches(enum mxq_axis axis, const char *token, const char *given) {
  return !strcmp(token, given) || (axis == MXQ_AXIS_BLOCK && !strcmp(token + 1, given));
}

/* Whether an operation's names may use the value. */
static int is_usable(enum mxq_axis axis, unsigned op, const char *token) {
  const struct mxq_axis_value *value;
  for (size_t i = 0; (value = mxq_axis_at(axis, op, i)); i++)
    if (!strcmp(value->token, token)) return 1;
  return 0;
}

static int is_used(enum mxq_axis axis, const char *token) {
  const struct mxq_axis_value *op;
  if (axis == MXQ_AXIS_OP) return 1;
  for (size_t i = 0; (op = mxq_axis_at(MXQ_AXIS_OP, 0, i)); i++)
    if (is_usable(axis, op->number, token)) return 1;
  return 0;
}

static int check_token(const struct command *command, enum mxq_axis axis, const char *given) {
  struct suggest suggest = suggest_begin(given);
  struct text allowed = {0};
  int known = 0;
  const struct mxq_axis_value *value;
  for (size_t i = 0; (value = mxq_axis_at(axis, 0, i)); i++) {
    if (!is_used(axis, value->token)) continue;
    known |= token_matches(axis, value->token, given);
    suggest_offer(&suggest, value->token);
    text_print(&allowed, "%s%s", allowed.length ? ", " : "", value->token);
  }
  int code = EXIT_DONE;
  if (!known)
    code = report_usage(command, "--%s: unknown %s \"%s\"; allowed: %s%s", options[axis].name,
                        mxq_axis_name(axis), given, allowed.data, suggest_end(&suggest));
  text_free(&allowed);
  return code;
}

static const char *token_of(const struct mxq_variant *variant, enum mxq_axis axis) {
  const struct mxq_axis_value *value;
  for (size_t i = 0; (value = mxq_axis_at(axis, 0, i)); i++)
    if (value->number == mxq_axis_get(variant, axis)) return value->token;
  return NULL;
}

/* Values of one axis are alternatives, axes add up. */
static int passes(const struct arguments *arguments, const struct mxq_variant *variant) {
  unsigned asked = 0, met = 0;
  for (size_t i = 0; i < arguments->given_count; i++) {
    const struct given_option *given = &arguments->given[i];
    const enum mxq_axis axis = (enum mxq_axis)given->option;
    if (given->option >= MXQ_AXIS_COUNT) continue;
    asked |= 1u << axis;
    if (token_matches(axis, token_of(variant, axis), given->value)) met |= 1u << axis;
  }
  return asked == met;
}

static void add_row(const struct list_kernels *kernels, const struct mxq_variant *variant,
                    cJSON *rows) {
  cJSON *row = json_object();
  json_add_string(row, "name", names_of(variant).text);
  for (int axis = 0; axis < MXQ_AXIS_COUNT; axis++) {
    if (axis == MXQ_AXIS_BLOCK)
      json_add_integer(row, "block", variant->block);
    else
      json_add_string(row, options[axis].name, token_of(variant, (enum mxq_axis)axis));
  }
  list_kernels_add(kernels, variant, row);
  json_add(rows, NULL, row);
}

static int print_json(const struct arguments *arguments, const struct mxq_variant *variants,
                      size_t count) {
  const int compile = args_value(arguments, COMPILE) != NULL;
  struct list_kernels kernels;
  int code = list_kernels_begin(arguments, ARCH, compile, &kernels);
  if (code == EXIT_DONE && compile) code = list_kernels_compile(&kernels, variants, count);
  if (code == EXIT_DONE) {
    cJSON *rows = json_array();
    for (size_t i = 0; i < count; i++) add_row(&kernels, &variants[i], rows);
    json_print(rows);
  }
  list_kernels_end(&kernels);
  return code;
}

static int check_options(const struct arguments *arguments) {
  int code = EXIT_DONE;
  for (size_t i = 0; code == EXIT_DONE && i < arguments->given_count; i++) {
    const struct given_option *given = &arguments->given[i];
    if (given->option < MXQ_AXIS_COUNT)
      code = check_token(arguments->command, (enum mxq_axis)given->option, given->value);
    else if (!arguments->json)
      code = report_usage(arguments->command, "--%s tells of kernels, which only --json lists",
                          options[given->option].name);
  }
  return code;
}

static int run(const struct arguments *arguments) {
  struct mxq_variant *variants = NULL;
  size_t found = 0, kept = 0;
  int code = check_options(arguments);
  if (code != EXIT_DONE) return code;
  const enum mxq_status status =
      names_match(arguments->operands, arguments->count, &variants, &found);
  if (status != MXQ_OK) return report_status(status);
  for (size_t i = 0; i < found; i++)
    if (passes(arguments, &variants[i])) variants[kept++] = variants[i];
  if (!kept)
    code = report_usage(arguments->command, "no variant passes all of these filters");
  else if (arguments->json)
    code = print_json(arguments, variants, kept);
  else
    for (size_t i = 0; i < kept; i++) puts(names_of(&variants[i]).text);
  free(variants);
  return code;
}

const struct command command_list = {
    .name = "list",
    .operands = "[PATTERN...]",
    .summary = "names of variants, one a line",
    .details =
        "A PATTERN is a shell glob on the whole name (quote it); several are alternatives,\n"
        "and so are several values of one filter. Filters of different axes add up.\n"
        "A pattern that matches nothing is an error. --json adds what is known of the kernels\n"
        "of each variant: tile, threads, shared memory and, of those that a cache holds,\n"
        "registers and spills, which are null otherwise. --compile compiles those first.\n",
    .examples =
        "  mxq list\n"
        "  mxq list 'quantize_bf16_*'\n"
        "  mxq list --in bf16 --in f16 --out e4m3\n"
        "  mxq list --mode rceil --json\n"
        "  mxq list '*_bf16_e4m3_b32_rceil_colt_*' --json --arch 90a --arch 120a --compile\n",
    .options = options,
    .most = (size_t)-1,
    .json = 1,
    .run = run,
};
