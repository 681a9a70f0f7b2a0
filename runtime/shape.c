/* SPDX-License-Identifier: MIT */
#include "shape.h"

#include <inttypes.h>
#include <stddef.h>

#include "axes.h"
#include "checked.h"
#include "overlap.h"
#include "status.h"
#include "tensor_plan.h"

#define SHAPE_FORMAT                                                                        \
  "shape (E, N, K) = (%" PRId64 ", %" PRId64 ", %" PRId64 "), strides of E and N (%" PRId64 \
  ", %" PRId64 ")"
#define SHAPE_VALUES(s) (s)->e, (s)->n, (s)->k, (s)->stride_e, (s)->stride_n

static enum mxq_status check_signs(const struct mxq_shape *shape) {
  MXQ_FAIL_IF(shape->e < 0 || shape->n < 0 || shape->k < 0, MXQ_INVALID_ARGUMENT,
              SHAPE_FORMAT ": a length is negative; lengths are 0 or more", SHAPE_VALUES(shape));
  MXQ_FAIL_IF((shape->e > 1 && shape->stride_e < 0) || (shape->n > 1 && shape->stride_n < 0),
              MXQ_INVALID_ARGUMENT,
              SHAPE_FORMAT
              ": a stride is negative; strides are 0 or more, in elements (of a dense "
              "tensor N*K and K, which must fit in 63 bits)",
              SHAPE_VALUES(shape));
  return MXQ_OK;
}

/* The two types of a variant. */
static const struct mxq_type_facts *code_type(const struct mxq_variant *variant) {
  return mxq_type_facts(variant->op == MXQ_OP_QUANTIZE ? variant->out : variant->in);
}
static const struct mxq_type_facts *wide_type(const struct mxq_variant *variant) {
  return mxq_type_facts(variant->op == MXQ_OP_QUANTIZE ? variant->in : variant->out);
}

/* Codes of less than a byte are packed along their contiguous axis. */
static enum mxq_status check_packing(const struct mxq_variant *variant,
                                     const struct mxq_shape *shape) {
  const struct mxq_type_facts *type = code_type(variant);
  const int64_t codes = type->bits < 8 ? (int64_t)(8 / type->bits) : 1;
  for (unsigned part = 0; part < 2; part++) {
    const unsigned kind = mxq_layout_part(variant->layout, part);
    const int along_n = (kind & MXQ_PART_COLUMN_MAJOR) != 0;
    const int64_t length = along_n ? shape->n : shape->k;
    MXQ_FAIL_IF(kind != MXQ_PART_NONE && length % codes != 0, MXQ_INVALID_ARGUMENT,
                SHAPE_FORMAT ": %s codes are packed along %s, which must be a multiple of %" PRId64,
                SHAPE_VALUES(shape), type->token, along_n ? "N" : "K", codes);
  }
  return MXQ_OK;
}

/* Bytes of `count` values of `bits` bits. */
static int bytes_of(uint64_t count, unsigned bits, uint64_t *bytes) {
  if (!mxq_checked_multiply(count, bits < 8 ? 1 : bits / 8, bytes)) return 0;
  if (bits < 8) *bytes = mxq_ceil_div(*bytes, 8 / bits);
  return 1;
}

/* The last element's offset plus one, in bytes. */
static int measure_wide(const struct mxq_variant *variant, const struct mxq_shape *shape,
                        uint64_t *bytes) {
  const uint64_t stride_e = shape->e > 1 ? (uint64_t)shape->stride_e : 0;
  const uint64_t stride_n = shape->n > 1 ? (uint64_t)shape->stride_n : 0;
  uint64_t last_e, last_n, extent;
  return mxq_checked_multiply((uint64_t)shape->e - 1, stride_e, &last_e) &&
         mxq_checked_multiply((uint64_t)shape->n - 1, stride_n, &last_n) &&
         mxq_checked_add(last_e, last_n, &extent) &&
         mxq_checked_add(extent, (uint64_t)shape->k, &extent) &&
         bytes_of(extent, wide_type(variant)->bits, bytes);
}

static int measure_codes(const struct mxq_variant *variant, const struct mxq_shape *shape,
                         unsigned part, uint64_t *bytes) {
  uint64_t matrix, count;
  if (mxq_layout_part(variant->layout, part) == MXQ_PART_NONE) return 1;
  return mxq_checked_multiply((uint64_t)shape->n, (uint64_t)shape->k, &matrix) &&
         mxq_checked_multiply((uint64_t)shape->e, matrix, &count) &&
         bytes_of(count, code_type(variant)->bits, bytes);
}

/* The two lengths whose product is the scales of a matrix. Contract, section 4. */
static void scale_lengths(const struct mxq_variant *variant, const struct mxq_shape *shape,
                          unsigned part, uint64_t lengths[2]) {
  const struct mxq_scale_grid grid = mxq_scale_grid_of(variant, shape, part);
  const int floats = mxq_mode_scale_bits(variant->mode) == 32;
  const int square = grid.block_n > 1 && grid.block_k > 1;
  lengths[0] = grid.blocks_n;
  lengths[1] = grid.blocks_k;
  if (variant->scales == MXQ_SCALES_LIN) return;
  lengths[0] = grid.rows;
  lengths[1] = grid.columns;
  if (variant->scales == MXQ_SCALES_MN && floats) {
    if (square) lengths[0] = grid.rows_along_k ? grid.blocks_k : grid.blocks_n;
    lengths[square] = mxq_round_up(lengths[square], 4);
    return;
  }
  lengths[0] = mxq_round_up(lengths[0], variant->scales == MXQ_SCALES_BLK ? 128 : 4);
  lengths[1] = mxq_round_up(lengths[1], 4);
}

static int measure_scales(const struct mxq_variant *variant, const struct mxq_shape *shape,
                          unsigned part, uint64_t *bytes) {
  uint64_t lengths[2], matrix, count;
  if (mxq_layout_part(variant->layout, part) == MXQ_PART_NONE) return 1;
  scale_lengths(variant, shape, part, lengths);
  return mxq_checked_multiply(lengths[0], lengths[1], &matrix) &&
         mxq_checked_multiply((uint64_t)shape->e, matrix, &count) &&
         bytes_of(count, mxq_mode_scale_bits(variant->mode), bytes);
}

static int measure(const struct mxq_variant *variant, const struct mxq_shape *shape,
                   struct mxq_byte_counts *bytes) {
  if (variant->op == MXQ_OP_DEQUANTIZE)
    return measure_codes(variant, shape, 0, &bytes->in) &&
           measure_scales(variant, shape, 0, &bytes->in_scale) &&
           measure_wide(variant, shape, &bytes->out[0]);
  for (unsigned part = 0; part < 2; part++)
    if (!measure_codes(variant, shape, part, &bytes->out[part]) ||
        !measure_scales(variant, shape, part, &bytes->scale[part]))
      return 0;
  return measure_wide(variant, shape, &bytes->in);
}

static enum mxq_status fail_size(const struct mxq_shape *shape) {
  return mxq_status_set(MXQ_INVALID_ARGUMENT,
                        SHAPE_FORMAT
                        ": an offset in bytes is 2^63 or more; every tensor must end below",
                        SHAPE_VALUES(shape));
}

uint64_t mxq_shape_scales(const struct mxq_variant *variant, const struct mxq_shape *shape,
                          unsigned part) {
  uint64_t lengths[2];
  scale_lengths(variant, shape, part, lengths);
  return lengths[0] * lengths[1];
}

enum mxq_status mxq_shape_scale_bytes(const struct mxq_variant *variant,
                                      const struct mxq_shape *shape, unsigned part,
                                      uint64_t *bytes) {
  uint64_t made = 0;
  MXQ_FAIL_IF(shape->e < 0 || shape->n < 0 || shape->k < 0, MXQ_INVALID_ARGUMENT,
              SHAPE_FORMAT ": a length is negative; lengths are 0 or more", SHAPE_VALUES(shape));
  if (!mxq_shape_empty(shape) && !measure_scales(variant, shape, part, &made))
    return fail_size(shape);
  *bytes = made;
  return MXQ_OK;
}

enum mxq_status mxq_shape_measure(const struct mxq_variant *variant, const struct mxq_shape *shape,
                                  struct mxq_byte_counts *bytes) {
  struct mxq_byte_counts made = {0, 0, {0, 0}, {0, 0}};
  MXQ_FAIL_IF(!shape, MXQ_INVALID_ARGUMENT, "shape is NULL; give a struct mxq_shape");
  MXQ_TRY(check_signs(shape));
  MXQ_TRY(check_packing(variant, shape));
  if (!mxq_shape_empty(shape)) {
    if (!measure(variant, shape, &made)) return fail_size(shape);
    MXQ_FAIL_IF(variant->op == MXQ_OP_DEQUANTIZE && mxq_overlap(shape), MXQ_INVALID_ARGUMENT,
                SHAPE_FORMAT
                ": two elements of the output share a place; strides of an output keep all "
                "elements apart (dense: N*K and K)",
                SHAPE_VALUES(shape));
  }
  *bytes = made;
  return MXQ_OK;
}

enum mxq_status mxq_shape_check(const struct mxq_variant *variant, const struct mxq_shape *shape) {
  struct mxq_byte_counts bytes;
  return mxq_shape_measure(variant, shape, &bytes);
}
