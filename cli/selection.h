/* SPDX-License-Identifier: MIT
 *
 * Which tensors are quantized, and by which variant.
 */
#ifndef MXQ_CLI_SELECTION_H
#define MXQ_CLI_SELECTION_H

#include <stddef.h>

#include <mxq/mxq.h>

#include "safetensors.h"

#define SELECTION_CHOICES 8

/* A variant for each input type: one, or those that `*` in the name's type stands for. */
struct selection {
  const char *name; /* as given */
  const char *const *globs;
  size_t glob_count; /* 0: every tensor */
  struct {
    struct mxq_variant variant;
    const char *dtype;
  } choices[SELECTION_CHOICES];
  size_t count;
};

/* Reads a variant's name or a pattern such as quantize_*_e4m3_b32_rceil_row_lin. */
enum mxq_status selection_read(const char *name, const char *const *globs, size_t glob_count,
                               struct selection *selection);

/* Whether a tensor's name matches a glob. */
int selection_names(const struct selection *selection, const char *tensor);

/* How far a tensor came that is not quantized. */
enum selection_refusal {
  SELECTION_OTHER, /* not asked for, or quantized before */
  SELECTION_TYPE,
  SELECTION_RANK,
  SELECTION_SHAPE,
};

/* The variant and shape for a tensor; NULL, or why it is not quantized (the caller frees that). */
char *selection_take(const struct selection *selection, const struct safetensors_tensor *tensor,
                     struct mxq_variant *variant, struct mxq_shape *shape,
                     enum selection_refusal *refused);

#endif
