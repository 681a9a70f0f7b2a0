/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "args.h"
#include "quantize_task.h"
#include "report.h"
#include "text.h"
#include "seconds.h"

#define DEFAULT_VARIANT "quantize_*_e4m3_b32_rceil_row_lin"

enum { OUT, VARIANT, TENSOR, DEVICE };
static const struct option_row options[] = {
    [OUT] = {"out", 'o', "OUT", "the file, folder or index to write (needed)", 0},
    [VARIANT] = {"variant", 0, "NAME", "the variant; " DEFAULT_VARIANT " if not given", 0},
    [TENSOR] = {"tensor", 0, "GLOB", "only tensors whose name matches", 1},
    [DEVICE] = {"device", 0, "D", "auto (if not given), cpu or cuda:N", 0},
    {0},
};

static enum mxq_status decide(const struct arguments *arguments, const char **globs,
                              struct quantize *quantize) {
  const char *variant = args_value(arguments, VARIANT);
  struct checkpoint *in = NULL;
  struct selection selection;
  size_t count = 0;
  for (size_t i = 0; i < arguments->given_count; i++)
    if (arguments->given[i].option == TENSOR) globs[count++] = arguments->given[i].value;
  enum mxq_status status =
      selection_read(variant ? variant : DEFAULT_VARIANT, globs, count, &selection);
  if (status == MXQ_OK) status = checkpoint_open(arguments->operands[0], &in);
  if (status == MXQ_OK)
    status = quantize_decide(in, &selection, args_value(arguments, OUT), quantize);
  return status;
}

/* Why nothing was quantized, in the words of the tensors: the reason of the first that came
 * furthest, and how many others there are. */
static void note_nothing(const struct quantize *quantize) {
  const struct task *nearest = NULL;
  for (size_t i = 0; i < quantize->count; i++)
    if (!nearest || quantize->tasks[i].refused > nearest->refused) nearest = &quantize->tasks[i];
  if (!nearest)
    report_note("nothing was quantized: there is no tensor");
  else if (quantize->count == 1)
    report_note("nothing was quantized: \"%.200s\": %s", nearest->tensor->name, nearest->skip);
  else
    report_note("nothing was quantized: \"%.200s\": %s; for the %zu others see the table",
                nearest->tensor->name, nearest->skip, quantize->count - 1);
}

static void print(const struct arguments *arguments, const struct quantize *quantize,
                  double seconds) {
  if (!quantize->selected) note_nothing(quantize);
  if (arguments->json)
    quantize_print_json(quantize, seconds);
  else
    quantize_print(quantize, seconds);
}

static int run(const struct arguments *arguments) {
  const double begin = seconds_now();
  const char *device = args_value(arguments, DEVICE) ? args_value(arguments, DEVICE) : "auto";
  struct quantize quantize = {0};
  struct engine *engine = NULL;
  if (!args_value(arguments, OUT))
    return report_usage(arguments->command, "where to? -o OUT is needed");
  const char **globs = text_allocate(arguments->given_count + 1, sizeof *globs);
  enum mxq_status status = engine_check_name(device);
  if (status == MXQ_OK) status = decide(arguments, globs, &quantize);
  if (status == MXQ_OK) status = engine_open(arguments, device, &engine);
  if (status == MXQ_OK) status = quantize_write(&quantize, engine);
  if (status == MXQ_OK) print(arguments, &quantize, seconds_now() - begin);
  const int code = report_status(status);
  engine_close(engine);
  quantize_free(&quantize);
  free(globs);
  return code;
}

const struct command command_quantize = {
    .name = "quantize",
    .operands = "IN -o OUT",
    .summary = "quantize the weights of a safetensors checkpoint",
    .details =
        "IN is a .safetensors file or the index of a sharded checkpoint (*.index.json). Each\n"
        "tensor of 2 or 3 axes of the variant's input type becomes NAME (the data) and "
        "NAME.scale;\n"
        "layouts of two parts give NAME.row, NAME.row.scale, NAME.colt and so on. Others are\n"
        "copied. A * as the variant's input type means each tensor's own type.\n"
        "For an index, OUT is an index or a folder, and gets a file for each shard, or it is a\n"
        ".safetensors file, which gets everything. Nothing has the name OUT before it is "
        "complete.\n"
        "With --device auto a GPU is used where there is one, else the CPU; the table tells for\n"
        "each tensor. The table's time is the kernel's alone, without transfers and files; its\n"
        "relative error is 1 where a value was so small beside its block that it became 0.\n",
    .examples =
        "  mxq quantize model.safetensors -o quantized.safetensors\n"
        "  mxq quantize model.safetensors -o experts.safetensors --tensor '*.experts.*'\n"
        "  mxq quantize model.safetensors.index.json -o quantized/ --device cuda:1\n"
        "  mxq quantize model.safetensors -o q.safetensors --device cpu \\\n"
        "      --variant quantize_bf16_e2m1_b32_floor_colt_lin\n",
    .options = options,
    .least = 1,
    .most = 1,
    .json = 1,
    .run = run,
};
