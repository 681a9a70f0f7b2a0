/* SPDX-License-Identifier: MIT */
#include "shape.h"

#include <inttypes.h>
#include <stddef.h>

#include "axes.h"
#include "checked.h"
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

/* Codes of less than a byte are packed along the contiguous axis of their output. */
static enum mxq_status check_packing(const struct mxq_variant *variant,
                                     const struct mxq_shape *shape) {
  const struct mxq_type_facts *type = mxq_type_facts(variant->out);
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

/* The last element's offset plus one. */
static int input_extent(const struct mxq_shape *shape, uint64_t *extent) {
  const uint64_t stride_e = shape->e > 1 ? (uint64_t)shape->stride_e : 0;
  const uint64_t stride_n = shape->n > 1 ? (uint64_t)shape->stride_n : 0;
  uint64_t last_e, last_n;
  return mxq_checked_multiply((uint64_t)shape->e - 1, stride_e, &last_e) &&
         mxq_checked_multiply((uint64_t)shape->n - 1, stride_n, &last_n) &&
         mxq_checked_add(last_e, last_n, extent) &&
         mxq_checked_add(*extent, (uint64_t)shape->k, extent);
}

static int measure_part(const struct mxq_variant *variant, const struct mxq_shape *shape,
                        unsigned part, struct mxq_byte_counts *bytes) {
  const struct mxq_type_facts *type = mxq_type_facts(variant->out);
  const struct mxq_mode_facts *mode = mxq_mode_facts(variant->mode);
  uint64_t matrix, count;
  if (mxq_layout_part(variant->layout, part) == MXQ_PART_NONE) return 1;
  if (!mxq_checked_multiply((uint64_t)shape->n, (uint64_t)shape->k, &matrix) ||
      !mxq_checked_multiply((uint64_t)shape->e, matrix, &count) ||
      !bytes_of(count, type->bits, &bytes->out[part]))
    return 0;
  return mxq_checked_multiply((uint64_t)shape->e, mxq_shape_scales(variant, shape, part), &count) &&
         bytes_of(count, mode->scale_bits, &bytes->scale[part]);
}

uint64_t mxq_shape_scales(const struct mxq_variant *variant, const struct mxq_shape *shape,
                          unsigned part) {
  const unsigned kind = mxq_layout_part(variant->layout, part);
  const uint64_t block_n = kind & MXQ_PART_ALONG_N ? variant->block : 1u;
  const uint64_t block_k = kind & MXQ_PART_ALONG_K ? variant->block : 1u;
  return mxq_ceil_div((uint64_t)shape->n, block_n) * mxq_ceil_div((uint64_t)shape->k, block_k);
}

enum mxq_status mxq_shape_measure(const struct mxq_variant *variant, const struct mxq_shape *shape,
                                  struct mxq_byte_counts *bytes) {
  struct mxq_byte_counts made = {0, {0, 0}, {0, 0}};
  uint64_t extent;
  MXQ_FAIL_IF(!shape, MXQ_INVALID_ARGUMENT, "shape is NULL; give a struct mxq_shape");
  MXQ_TRY(check_signs(shape));
  MXQ_TRY(check_packing(variant, shape));
  if (!mxq_shape_empty(shape)) {
    const int fits = input_extent(shape, &extent) &&
                     bytes_of(extent, mxq_type_facts(variant->in)->bits, &made.in) &&
                     measure_part(variant, shape, 0, &made) &&
                     measure_part(variant, shape, 1, &made);
    MXQ_FAIL_IF(!fits, MXQ_INVALID_ARGUMENT,
                SHAPE_FORMAT ": an offset in bytes is 2^63 or more; every tensor must end below",
                SHAPE_VALUES(shape));
  }
  *bytes = made;
  return MXQ_OK;
}

enum mxq_status mxq_shape_check(const struct mxq_variant *variant, const struct mxq_shape *shape) {
  struct mxq_byte_counts bytes;
  return mxq_shape_measure(variant, shape, &bytes);
}
