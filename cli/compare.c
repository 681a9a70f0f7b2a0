/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "report.h"
#include "target.h"
#include "text.h"

static int by_name(const void *a, const void *b) {
  return strcmp((*(const struct values *const *)a)->name, (*(const struct values *const *)b)->name);
}

/* A list's tensors by name. */
static const struct values **sorted(const struct values_list *list) {
  const struct values **index = text_allocate(list->count, sizeof(struct values *));
  for (size_t i = 0; i < list->count; i++) index[i] = &list->list[i];
  qsort(index, list->count, sizeof *index, by_name);
  return index;
}

static const struct values *look_up(const struct values **index, size_t count,
                                    const struct values *wanted) {
  const struct values **found =
      count ? bsearch(&wanted, index, count, sizeof *index, by_name) : NULL;
  return found ? *found : NULL;
}

/* The tensors of A in its order, then those that B alone has in its. */
static struct comparison *pair(const struct values_list *a, const struct values_list *b,
                               size_t *count) {
  const struct values **in_a = sorted(a), **in_b = sorted(b);
  struct comparison *pairs = text_allocate(a->count + b->count, sizeof *pairs);
  size_t paired = 0;
  for (size_t i = 0; i < a->count; i++, paired++) {
    pairs[paired].a = &a->list[i];
    pairs[paired].b = look_up(in_b, b->count, &a->list[i]);
  }
  for (size_t i = 0; i < b->count; i++)
    if (!look_up(in_a, a->count, &b->list[i])) pairs[paired++].b = &b->list[i];
  free(in_a);
  free(in_b);
  *count = paired;
  return pairs;
}

static int compare_lists(const struct arguments *arguments, const struct values_list lists[2]) {
  struct mxq_context *context = NULL;
  size_t count = 0;
  int code = EXIT_DONE;
  struct comparison *pairs = pair(&lists[0], &lists[1], &count);
  enum mxq_status status = target_context(arguments, &context);
  for (size_t i = 0; i < count && status == MXQ_OK; i++) {
    report_progress("[%zu/%zu] %.60s", i + 1, count, (pairs[i].a ? pairs[i].a : pairs[i].b)->name);
    status = compare_one(&pairs[i], context);
    if (compare_is_mismatch(&pairs[i])) code = EXIT_MISMATCH;
  }
  report_progress_end();
  if (status == MXQ_OK && arguments->json)
    compare_print_json(arguments->operands, pairs, count);
  else if (status == MXQ_OK)
    compare_print(arguments->operands, pairs, count);
  if (status != MXQ_OK) code = report_status(status);
  mxq_context_destroy(context);
  free(pairs);
  return code;
}

static int run(const struct arguments *arguments) {
  struct values_list lists[2] = {{0}, {0}};
  enum mxq_status status = values_open(arguments->operands[0], &lists[0]);
  if (status == MXQ_OK) status = values_open(arguments->operands[1], &lists[1]);
  const int code = status == MXQ_OK ? compare_lists(arguments, lists) : report_status(status);
  values_close(&lists[0]);
  values_close(&lists[1]);
  return code;
}

const struct command command_compare = {
    .name = "compare",
    .operands = "A B",
    .summary = "how far two checkpoints are from each other, a tensor at a time",
    .details =
        "A and B are .safetensors files or indexes (*.index.json), plain or quantized by mxq\n"
        "quantize. Quantized tensors are read back first (of two parts, the first) and go by the\n"
        "name that they had. Numbers of any of the types F64, F32, BF16 and F16 are compared as\n"
        "numbers, with A as the original: signal-to-noise ratio, largest error, largest error\n"
        "relative to the element. Other tensors are equal or not. A tensor that one side lacks,\n"
        "another shape, and other bytes are mismatches: exit code 4. Rounding is none.\n",
    .examples =
        "  mxq compare model.safetensors quantized.safetensors\n"
        "  mxq compare model.safetensors.index.json restored.safetensors --json\n",
    .options = NULL,
    .least = 2,
    .most = 2,
    .json = 1,
    .run = run,
};
