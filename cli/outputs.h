/* SPDX-License-Identifier: MIT
 *
 * The tensors of a file that one quantized tensor becomes. Contract, sections 3, 4 and 6.
 */
#ifndef MXQ_CLI_OUTPUTS_H
#define MXQ_CLI_OUTPUTS_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/mxq.h>

#include "axes.h"

#define OUTPUTS_MOST 4

struct output {
  char *name;
  const char *dtype;
  uint64_t dims[3];
  size_t rank;
  uint64_t bytes;
};

struct outputs {
  struct output list[OUTPUTS_MOST]; /* data, scale of the first part, then of the second */
  size_t count;
};

/* `rank` is the input's, 2 or 3. */
enum mxq_status outputs_describe(const struct mxq_variant *variant, const struct mxq_shape *shape,
                                 const char *name, size_t rank, struct outputs *outputs);
/* The layout whose only part is of this kind: what a part of a layout of two is called. */
const struct mxq_axis_value *outputs_layout_of(unsigned kind);

void outputs_free(struct outputs *outputs);

#endif
