/* SPDX-License-Identifier: MIT */
#ifndef MXQ_VARIANT_H
#define MXQ_VARIANT_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one output of a layout is: the axes that a block's elements lie along, and how the matrix
 * is stored. Blocks along both axes are square. */
#define MXQ_PART_NONE         0
#define MXQ_PART_ALONG_N      1
#define MXQ_PART_ALONG_K      2
#define MXQ_PART_COLUMN_MAJOR 4

#define MXQ_OP(NAME, token, number) MXQ_OP_##NAME = number,
enum mxq_op {
#include <mxq/axes.def>
  MXQ_OP_FORCE_8 = 255
};
#define MXQ_TYPE(NAME, token, number, ...) MXQ_TYPE_##NAME = number,
enum mxq_type {
#include <mxq/axes.def>
  MXQ_TYPE_FORCE_8 = 255
};
#define MXQ_MODE(NAME, token, number, ...) MXQ_MODE_##NAME = number,
enum mxq_mode {
#include <mxq/axes.def>
  MXQ_MODE_FORCE_8 = 255
};
#define MXQ_LAYOUT(NAME, token, number, first, second) MXQ_LAYOUT_##NAME = number,
enum mxq_layout {
#include <mxq/axes.def>
  MXQ_LAYOUT_FORCE_8 = 255
};
#define MXQ_SCALES(NAME, token, number) MXQ_SCALES_##NAME = number,
enum mxq_scales {
#include <mxq/axes.def>
  MXQ_SCALES_FORCE_8 = 255
};

/* One combination of axis values: which kernel family of functions is wanted. Exactly 32 bytes;
 * reserved bytes are zero. Two variants are equal when their bytes are.
 * Names: contract, section 1: <op>_<in>_<out>_b<block>_<mode>_<layout>_<scales>. */
struct mxq_variant {
  uint8_t op;     /* enum mxq_op */
  uint8_t in;     /* enum mxq_type: what is read */
  uint8_t out;    /* enum mxq_type: what is written */
  uint8_t mode;   /* enum mxq_mode */
  uint8_t layout; /* enum mxq_layout */
  uint8_t scales; /* enum mxq_scales */
  uint16_t block; /* elements along one axis of a block */
  uint8_t reserved[24];
};

/* The bytes that hold any variant's name and its final zero. */
#define MXQ_VARIANT_NAME_SIZE 64

/* Reads a name. MXQ_UNKNOWN_NAME names the part that is not a token and lists the tokens of its
 * axis; MXQ_REFUSED gives the reason of the first rule that refuses a well-formed name. */
MXQ_API enum mxq_status mxq_variant_parse(const char *name, struct mxq_variant *variant);

/* Writes the name of a legal variant and a zero into `name`, which has `size` bytes:
 * MXQ_VARIANT_NAME_SIZE is always enough. parse(name(v)) == v. */
MXQ_API enum mxq_status mxq_variant_name(const struct mxq_variant *variant, char *name,
                                         size_t size);

/* MXQ_OK for a legal variant. MXQ_INVALID_ARGUMENT: a field holds no value of its axis or a
 * reserved byte is not zero. MXQ_REFUSED: the reason of the first rule that refuses it. */
MXQ_API enum mxq_status mxq_variant_check(const struct mxq_variant *variant);

/* Steps through all legal variants in the order of `mxq list`. Start with an all-zero variant;
 * returns 0 at the end, 1 otherwise. */
MXQ_API int mxq_variant_next(struct mxq_variant *variant);

/* What output `part` (0 or 1) of a layout is: a sum of MXQ_PART_*, MXQ_PART_NONE if it has none. */
static inline unsigned mxq_layout_part(unsigned layout, unsigned part) {
  switch (layout) {
#define MXQ_LAYOUT(NAME, token, number, first, second) \
  case number:                                         \
    return part == 0 ? (unsigned)(first) : part == 1 ? (unsigned)(second) : 0u;
#include <mxq/axes.def>
    default: return MXQ_PART_NONE;
  }
}

/* Bits of a mode's scales: 8 (e8m0) or 32 (float32); 0 for a number that is no mode's. `scale_bits`
 * is the first fact of its row. */
static inline unsigned mxq_mode_scale_bits(unsigned mode) {
  struct {
    unsigned scale_bits;
  } facts = {0};
  switch (mode) {
#define MXQ_MODE(NAME, token, number, first, ...) \
  case number:                                    \
    facts first;                                  \
    break;
#include <mxq/axes.def>
    default: break;
  }
  return facts.scale_bits;
}

#ifdef __cplusplus
}
#endif

#endif
