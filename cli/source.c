/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "args.h"
#include "expand.h"
#include "memory.h"
#include "report.h"
#include "target.h"

enum { ARCH, KERNEL };
static const struct option_row options[] = {
    [ARCH] = {"arch", 0, "A", "the architecture; 90a if not given", 0},
    [KERNEL] = {"kernel", 0, "K", "a kernel of the variant: its full name, or what follows the dot",
                0},
    {0},
};

static int run(const struct arguments *arguments) {
  const struct mxq_arch *arch = NULL;
  struct mxq_kernel_id id;
  enum mxq_status status = target_arch(args_value(arguments, ARCH), &arch);
  if (status == MXQ_OK)
    status = target_kernel(arguments->operands[0], args_value(arguments, KERNEL), arch, &id);
  char *source = NULL;
  size_t length = 0;
  if (status == MXQ_OK)
    status = mxq_expand(&mxq_allocator_default, &id, arch, NULL, &source, &length);
  if (status != MXQ_OK) return report_status(status);
  fwrite(source, 1, length, stdout);
  mxq_free(&mxq_allocator_default, source);
  return EXIT_DONE;
}

const struct command command_source = {
    .name = "source",
    .operands = "NAME",
    .summary = "the CUDA source of a kernel",
    .details =
        "Prints one self-contained source: what NVRTC gets, to the byte. NAME is a variant,\n"
        "which gives the kernel that a large aligned tensor gets, or a kernel.\n",
    .examples =
        "  mxq source quantize_bf16_e4m3_b32_rceil_colt_lin\n"
        "  mxq source quantize_bf16_e4m3_b32_rceil_colt_lin --arch 100a > kernel.cu\n"
        "  mxq source quantize_bf16_e4m3_b32_rceil_colt_lin --kernel tma-128x128\n",
    .options = options,
    .least = 1,
    .most = 1,
    .run = run,
};
