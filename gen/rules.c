/* SPDX-License-Identifier: MIT */
#include "rules.h"

static int float_scales_of_small_codes(const struct mxq_rule_subject *subject) {
  return subject->mode->scale_bits == 32 && subject->code->number != MXQ_TYPE_E4M3 &&
         subject->code->number != MXQ_TYPE_E5M2;
}

static int tiles_of_float_scales(const struct mxq_rule_subject *subject) {
  return subject->scales == MXQ_SCALES_BLK && subject->mode->scale_bits != 8;
}

static int dequantize_of_two_parts(const struct mxq_rule_subject *subject) {
  return subject->op != MXQ_OP_QUANTIZE && subject->parts[1] != MXQ_PART_NONE;
}

static const struct mxq_rule rules[] = {
    {"float-scales", float_scales_of_small_codes,
     "float32 scales exist only for e4m3 and e5m2: codes of six or four bits take a power-of-two "
     "(e8m0) scale"},
    {"blk-scales", tiles_of_float_scales,
     "blk, the scales in tiles of 128 x 4 bytes, exists only for e8m0: float32 scales take lin or "
     "mn"},
    {"two-parts", dequantize_of_two_parts,
     "dequantize reads one output: use the single layout that either part of a two-part layout "
     "has"},
};

const struct mxq_rule *mxq_rule_at(size_t index) {
  return index < sizeof rules / sizeof rules[0] ? &rules[index] : NULL;
}

const struct mxq_rule *mxq_rule_refusing(const struct mxq_rule_subject *subject) {
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; ++i)
    if (rules[i].refuses(subject)) return &rules[i];
  return NULL;
}
