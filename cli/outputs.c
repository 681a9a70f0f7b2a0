/* SPDX-License-Identifier: MIT */
#include "outputs.h"

#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "safetensors.h"
#include "status.h"
#include "text.h"

/* The layout whose only part is of this kind: its token names a part of a layout of two. */
static const char *part_token(unsigned kind) {
  const struct mxq_axis_value *value;
  for (size_t i = 0; (value = mxq_axis_at(MXQ_AXIS_LAYOUT, 0, i)); i++)
    if (mxq_layout_part(value->number, 0) == kind &&
        mxq_layout_part(value->number, 1) == MXQ_PART_NONE)
      return value->token;
  return NULL;
}

static void add(struct outputs *outputs, char *name, const char *dtype, uint64_t bytes, size_t rank,
                const uint64_t dims[3]) {
  struct output *output = &outputs->list[outputs->count++];
  *output = (struct output){.name = name, .dtype = dtype, .rank = rank, .bytes = bytes};
  memcpy(output->dims, dims + (3 - rank), rank * sizeof *dims);
}

/* Data in the order it is stored, scales `lin` (contract, section 4). */
static void add_part(struct outputs *outputs, const struct mxq_variant *variant,
                     const struct mxq_shape *shape, const struct mxq_byte_counts *bytes,
                     unsigned part, size_t rank, const char *name) {
  const unsigned kind = mxq_layout_part(variant->layout, part);
  const uint64_t e = (uint64_t)shape->e, n = (uint64_t)shape->n, k = (uint64_t)shape->k;
  const uint64_t block_n = kind & MXQ_PART_ALONG_N ? variant->block : 1;
  const uint64_t block_k = kind & MXQ_PART_ALONG_K ? variant->block : 1;
  const int column_major = kind & MXQ_PART_COLUMN_MAJOR;
  const uint64_t data[3] = {e, column_major ? k : n, column_major ? n : k};
  const uint64_t scale[3] = {e, mxq_ceil_div(n, block_n), mxq_ceil_div(k, block_k)};
  const unsigned scale_bits = mxq_mode_facts(variant->mode)->scale_bits;
  add(outputs, text_format("%s", name), mxq_type_facts(variant->out)->dtype, bytes->out[part], rank,
      data);
  add(outputs, text_format("%s.scale", name), scale_bits == 8 ? "F8_E8M0" : "F32",
      bytes->scale[part], rank, scale);
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
    const char *token = part_token(mxq_layout_part(variant->layout, part));
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

void outputs_free(struct outputs *outputs) {
  for (size_t i = 0; i < outputs->count; i++) free(outputs->list[i].name);
  outputs->count = 0;
}
