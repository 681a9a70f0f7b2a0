/* SPDX-License-Identifier: MIT */
#include "check_cases.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "axes.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Smaller than a tile, whole tiles, parts of them, more matrices than a tile has, and what the
 * strides allow. */
static const struct check_case cases[] = {
    {"smallest", MXQ_FAMILY_TMA, 1, 32, 32, 0, 0, CHECK_DENSE, 0, CHECK_USUAL},
    {"parts of tiles", MXQ_FAMILY_TMA, 1, 96, 160, 0, 0, CHECK_DENSE, 0, CHECK_USUAL},
    {"full tiles and parts, three matrices", MXQ_FAMILY_TMA, 3, 288, 160, 0, 0, CHECK_DENSE, 0,
     CHECK_USUAL},
    {"a full tile and parts", MXQ_FAMILY_TMA, 1, 288, 544, 0, 0, CHECK_DENSE, 0, CHECK_LIGHT},
    {"padded strides", MXQ_FAMILY_TMA, 2, 160, 544, 1, 3, CHECK_DENSE, 0, CHECK_USUAL},
    {"many matrices", MXQ_FAMILY_TMA, 257, 32, 32, 0, 0, CHECK_DENSE, 0, CHECK_USUAL},
    {"matrices inside rows", MXQ_FAMILY_TMA, 3, 96, 64, 1, 0, CHECK_E_INSIDE_N, 0, CHECK_LIGHT},
    {"one matrix repeated", MXQ_FAMILY_TMA, 3, 64, 96, 0, 0, CHECK_REPEAT_E, 0, CHECK_USUAL},
    {"one row repeated", MXQ_FAMILY_TMA, 2, 64, 96, 0, 0, CHECK_REPEAT_N, 0, CHECK_USUAL},
    {"full tiles", MXQ_FAMILY_TMA, 2, 512, 1024, 0, 0, CHECK_DENSE, 0, CHECK_HEAVY},
    {"no rows", MXQ_FAMILY_ANY, 2, 0, 64, 0, 0, CHECK_DENSE, 0, CHECK_USUAL},
    {"no columns", MXQ_FAMILY_ANY, 2, 64, 0, 0, 0, CHECK_DENSE, 0, CHECK_USUAL},
    {"one element", MXQ_FAMILY_ANY, 1, 1, 1, 0, 0, CHECK_DENSE, 1, CHECK_LIGHT},
    {"odd lengths", MXQ_FAMILY_ANY, 3, 37, 71, 0, 0, CHECK_DENSE, 1, CHECK_LIGHT},
    {"full tiles and parts", MXQ_FAMILY_ANY, 2, 133, 197, 0, 0, CHECK_DENSE, 0, CHECK_USUAL},
    {"odd strides", MXQ_FAMILY_ANY, 3, 45, 77, 3, 5, CHECK_DENSE, 3, CHECK_LIGHT},
    {"a long row", MXQ_FAMILY_ANY, 1, 1, 3001, 0, 0, CHECK_DENSE, 0, CHECK_USUAL},
    {"a long column", MXQ_FAMILY_ANY, 1, 3001, 1, 0, 0, CHECK_DENSE, 0, CHECK_USUAL},
    {"matrices inside rows", MXQ_FAMILY_ANY, 3, 35, 49, 1, 0, CHECK_E_INSIDE_N, 0, CHECK_LIGHT},
    {"one matrix repeated", MXQ_FAMILY_ANY, 3, 41, 39, 0, 0, CHECK_REPEAT_E, 0, CHECK_USUAL},
    {"one row repeated", MXQ_FAMILY_ANY, 2, 41, 39, 0, 0, CHECK_REPEAT_N, 0, CHECK_USUAL},
    {"aligned all the same", MXQ_FAMILY_ANY, 2, 128, 256, 0, 0, CHECK_DENSE, 0, CHECK_USUAL},
    {"more matrices than 16 bits count", MXQ_FAMILY_ANY, 65539, 3, 3, 0, 0, CHECK_DENSE, 0,
     CHECK_HEAVY},
};

/* The two types of a variant. */
static unsigned code_bits(const struct mxq_variant *variant) {
  return mxq_type_facts(variant->op == MXQ_OP_QUANTIZE ? variant->out : variant->in)->bits;
}
static unsigned wide_bits(const struct mxq_variant *variant) {
  return mxq_type_facts(variant->op == MXQ_OP_QUANTIZE ? variant->in : variant->out)->bits;
}

const struct check_case *check_case_at(size_t index) {
  return index < COUNT(cases) ? &cases[index] : NULL;
}

int check_case_applies(const struct check_case *one, const struct mxq_kernel_id *id) {
  const int repeats = one->order == CHECK_REPEAT_E || one->order == CHECK_REPEAT_N;
  if (one->family != (enum mxq_family)id->family) return 0;
  if (one->weight == CHECK_HEAVY && XXH3_64bits(id, sizeof *id) % 16 != 0) return 0;
  return !repeats || id->variant.op == MXQ_OP_QUANTIZE;
}

/* Two codes share a byte: the contract wants an even length along the output's contiguous axis. */
static int64_t even_of(const struct mxq_variant *variant, int64_t length) {
  return code_bits(variant) == 4 ? length + length % 2 : length;
}

struct mxq_shape check_case_shape(const struct check_case *one, const struct mxq_variant *variant) {
  const int64_t unit = one->family == MXQ_FAMILY_TMA ? 128 / (int64_t)wide_bits(variant) : 1;
  struct mxq_shape shape = {
      .e = one->e, .n = even_of(variant, one->n), .k = even_of(variant, one->k)};
  const int64_t row = shape.k + one->gap_n * unit;
  shape.stride_n = row;
  shape.stride_e = shape.n * row + one->gap_e * unit;
  if (one->order == CHECK_E_INSIDE_N) {
    shape.stride_e = row;
    shape.stride_n = one->e * row;
  }
  if (one->order == CHECK_REPEAT_E) shape.stride_e = 0;
  if (one->order == CHECK_REPEAT_N) {
    shape.stride_n = 0;
    shape.stride_e = row;
  }
  return shape;
}
