/* SPDX-License-Identifier: MIT */
#include "outputs.h"

#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "safetensors.h"
#include "status.h"
#include "text.h"

static void add(struct outputs *outputs, char *name, const char *dtype, uint64_t bytes, size_t rank,
                const uint64_t dims[3]) {
  struct output *output = &outputs->list[outputs->count++];
  *output = (struct output){.name = name, .dtype = dtype, .rank = rank, .bytes = bytes};
  memcpy(output->dims, dims + (3 - rank), rank * sizeof *dims);
}

/* Contract, sections 4 and 6: the type of scales and their lengths, of each matrix. */
static const char *scale_shape(const struct mxq_variant *variant, const struct mxq_shape *shape,
                               unsigned part, uint64_t lengths[2]) {
  const struct mxq_scale_grid grid = mxq_scale_grid_of(variant, shape, part);
  const int floats = mxq_mode_scale_bits(variant->mode) == 32;
  const char *dtype = floats ? "F32" : "F8_E8M0";
  const uint64_t quads = mxq_ceil_div(grid.columns, 4);
  lengths[0] = grid.blocks_n;
  lengths[1] = grid.blocks_k;
  if (variant->scales == MXQ_SCALES_LIN) return dtype;
  if (variant->scales == MXQ_SCALES_BLK) {
    lengths[0] = mxq_ceil_div(grid.rows, 128) * 128;
    lengths[1] = quads * 4;
    return dtype;
  }
  lengths[0] = floats ? grid.columns : quads;
  lengths[1] = mxq_ceil_div(grid.rows, 4) * 4;
  if (floats && grid.block_n > 1 && grid.block_k > 1) { /* once for a square, not in each row */
    lengths[0] = grid.rows_along_k ? grid.blocks_k : grid.blocks_n;
    lengths[1] = quads * 4;
  }
  return floats ? dtype : "I32";
}

/* Data in the order it is stored, and its scales. */
static void add_part(struct outputs *outputs, const struct mxq_variant *variant,
                     const struct mxq_shape *shape, const struct mxq_byte_counts *bytes,
                     unsigned part, size_t rank, const char *name) {
  const uint64_t e = (uint64_t)shape->e, n = (uint64_t)shape->n, k = (uint64_t)shape->k;
  const int column_major = (mxq_layout_part(variant->layout, part) & MXQ_PART_COLUMN_MAJOR) != 0;
  const uint64_t data[3] = {e, column_major ? k : n, column_major ? n : k};
  uint64_t scale[3] = {e, 0, 0};
  const char *scale_dtype = scale_shape(variant, shape, part, scale + 1);
  add(outputs, text_format("%s", name), mxq_type_facts(variant->out)->dtype, bytes->out[part], rank,
      data);
  add(outputs, text_format("%s.scale", name), scale_dtype, bytes->scale[part], rank, scale);
}

/* The header's shapes and the library's bytes come from two places: they must agree. */
static enum mxq_status check_bytes(const struct outputs *outputs) {
  for (size_t i = 0; i < outputs->count; i++) {
    const struct output *output = &outputs->list[i];
    uint64_t bytes = 0;
    MXQ_TRY(safetensors_bytes(safetensors_dtype_bits(output->dtype), output->dims, output->rank,
                              &bytes));
    MXQ_FAIL_IF(bytes != output->bytes, MXQ_INTERNAL,
                "%s: %llu bytes by its shape, %llu by the library", output->name,
                (unsigned long long)bytes, (unsigned long long)output->bytes);
  }
  return MXQ_OK;
}

enum mxq_status outputs_describe(const struct mxq_variant *variant, const struct mxq_shape *shape,
                                 const char *name, size_t rank, struct outputs *outputs) {
  struct outputs described = {.count = 0};
  struct mxq_byte_counts bytes;
  MXQ_TRY(mxq_sizes(variant, shape, &bytes));
  const int two = mxq_layout_part(variant->layout, 1) != MXQ_PART_NONE;
  for (unsigned part = 0; part < (two ? 2u : 1u); part++) {
    const char *token = outputs_layout_of(mxq_layout_part(variant->layout, part))->token;
    char *stem = two ? text_format("%s.%s", name, token) : text_format("%s", name);
    add_part(&described, variant, shape, &bytes, part, rank, stem);
    free(stem);
  }
  const enum mxq_status status = check_bytes(&described);
  if (status != MXQ_OK)
    outputs_free(&described);
  else
    *outputs = described;
  return status;
}

const struct mxq_axis_value *outputs_layout_of(unsigned kind) {
  const struct mxq_axis_value *value;
  for (size_t i = 0; (value = mxq_axis_at(MXQ_AXIS_LAYOUT, 0, i)); i++)
    if (mxq_layout_part(value->number, 0) == kind &&
        mxq_layout_part(value->number, 1) == MXQ_PART_NONE)
      return value;
  return NULL;
}

void outputs_free(struct outputs *outputs) {
  for (size_t i = 0; i < outputs->count; i++) free(outputs->list[i].name);
  outputs->count = 0;
}
