/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include <mxq/mxq.h>

#include "args.h"
#include "json.h"
#include "report.h"

static int run(const struct arguments *arguments) {
  const char *name = arguments->operands[0];
  struct mxq_variant variant;
  const enum mxq_status status = mxq_variant_parse(name, &variant);
  if (status != MXQ_OK && status != MXQ_REFUSED) return report_status(status);
  const char *reason = status == MXQ_OK ? NULL : mxq_last_error();
  if (!arguments->json) {
    puts(reason ? reason : "legal");
    return EXIT_DONE;
  }
  cJSON *answer = json_object();
  json_add_string(answer, "name", name);
  json_add_bool(answer, "legal", !reason);
  json_add_string(answer, "reason", reason);
  json_print(answer);
  return EXIT_DONE;
}

const struct command command_why = {
    .name = "why",
    .operands = "NAME",
    .summary = "the rule that refuses a variant, or \"legal\"",
    .details =
        "Prints the reason of the first rule that refuses the combination. A name with a\n"
        "part that is no token at all is an error that lists the tokens (exit code 2).\n",
    .examples = "  mxq why quantize_bf16_e4m3_b32_rceil_colt_lin\n",
    .least = 1,
    .most = 1,
    .json = 1,
    .run = run,
};
