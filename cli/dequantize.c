/* SPDX-License-Identifier: MIT */

#include "args.h"
#include "dequantize_task.h"
#include "report.h"
#include "seconds.h"
#include "status.h"

enum { OUT, DEVICE };
static const struct option_row options[] = {
    [OUT] = {"out", 'o', "OUT", "the file, folder or index to write (needed)", 0},
    [DEVICE] = {"device", 0, "D", "auto (if not given), cpu or cuda:N", 0},
    {0},
};

static enum mxq_status decide(const struct arguments *arguments, struct quantize *quantize) {
  struct checkpoint *in = NULL;
  MXQ_TRY(checkpoint_open(arguments->operands[0], &in));
  return dequantize_decide(in, args_value(arguments, OUT), quantize);
}

static int run(const struct arguments *arguments) {
  const double begin = seconds_now();
  const char *device = args_value(arguments, DEVICE) ? args_value(arguments, DEVICE) : "auto";
  struct quantize quantize = {0};
  struct engine *engine = NULL;
  if (!args_value(arguments, OUT))
    return report_usage(arguments->command, "where to? -o OUT is needed");
  enum mxq_status status = engine_check_name(device);
  if (status == MXQ_OK) status = decide(arguments, &quantize);
  if (status == MXQ_OK) status = engine_open(arguments, device, &engine);
  if (status == MXQ_OK) status = quantize_write(&quantize, engine);
  if (status == MXQ_OK && arguments->json)
    dequantize_print_json(&quantize, seconds_now() - begin);
  else if (status == MXQ_OK)
    dequantize_print(&quantize, seconds_now() - begin);
  const int code = report_status(status);
  engine_close(engine);
  quantize_free(&quantize);
  return code;
}

const struct command command_dequantize = {
    .name = "dequantize",
    .operands = "IN -o OUT",
    .summary = "turn a file of mxq quantize back into ordinary weights",
    .details =
        "IN is a .safetensors file or an index (*.index.json) that mxq quantize wrote. Its\n"
        "metadata tells which tensors were quantized, by which variant, and from which type: each\n"
        "NAME and NAME.scale become NAME of that type and shape again. Others are copied. What\n"
        "quantizing rounded away does not come back: mxq compare tells how much that is.\n"
        "Files of a layout with two parts (rowcol, rowcolt, sqsqt) hold every tensor twice and "
        "are\n"
        "refused.\n",
    .examples =
        "  mxq dequantize quantized.safetensors -o restored.safetensors\n"
        "  mxq dequantize quantized/model.safetensors.index.json -o restored/ --device cpu\n",
    .options = options,
    .least = 1,
    .most = 1,
    .json = 1,
    .run = run,
};
