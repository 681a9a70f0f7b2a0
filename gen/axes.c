/* SPDX-License-Identifier: MIT */
#include "axes.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct mxq_type_facts type_facts[] = {
#define MXQ_TYPE(NAME, token_, number_, ...) {.token = #token_, .number = number_, __VA_ARGS__},
#include <mxq/axes.def>
};

static const struct mxq_mode_facts mode_facts[] = {
#define MXQ_MODE(NAME, token_, number_, ...) {.token = #token_, .number = number_, __VA_ARGS__},
#include <mxq/axes.def>
};

static const struct mxq_axis_value op_values[] = {
#define MXQ_OP(NAME, token, number) {#token, number},
#include <mxq/axes.def>
};
static const struct mxq_axis_value type_values[] = {
#define MXQ_TYPE(NAME, token, number, ...) {#token, number},
#include <mxq/axes.def>
};
static const struct mxq_axis_value block_values[] = {
#define MXQ_BLOCK(NAME, token, number) {#token, number},
#include <mxq/axes.def>
};
static const struct mxq_axis_value mode_values[] = {
#define MXQ_MODE(NAME, token, number, ...) {#token, number},
#include <mxq/axes.def>
};
static const struct mxq_axis_value layout_values[] = {
#define MXQ_LAYOUT(NAME, token, number, ...) {#token, number},
#include <mxq/axes.def>
};
static const struct mxq_axis_value scales_values[] = {
#define MXQ_SCALES(NAME, token, number) {#token, number},
#include <mxq/axes.def>
};

/* What an operation reads and what it writes: wide types or coded ones. */
static int used_as_in(unsigned op, unsigned type) {
  return mxq_type_facts(type)->wide == (op == MXQ_OP_QUANTIZE);
}
static int used_as_out(unsigned op, unsigned type) {
  return mxq_type_facts(type)->wide != (op == MXQ_OP_QUANTIZE);
}
static int used_as_mode(unsigned op, unsigned mode) { return mxq_mode_facts(mode)->op == op; }

static const struct {
  const char *name;
  const struct mxq_axis_value *values;
  size_t count;
  int (*used)(unsigned op, unsigned number); /* NULL: by every operation */
} axes[MXQ_AXIS_COUNT] = {
    [MXQ_AXIS_OP] = {"operation", op_values, COUNT(op_values), NULL},
    [MXQ_AXIS_IN] = {"input type", type_values, COUNT(type_values), used_as_in},
    [MXQ_AXIS_OUT] = {"output type", type_values, COUNT(type_values), used_as_out},
    [MXQ_AXIS_BLOCK] = {"block", block_values, COUNT(block_values), NULL},
    [MXQ_AXIS_MODE] = {"mode", mode_values, COUNT(mode_values), used_as_mode},
    [MXQ_AXIS_LAYOUT] = {"layout", layout_values, COUNT(layout_values), NULL},
    [MXQ_AXIS_SCALES] = {"scale layout", scales_values, COUNT(scales_values), NULL},
};

const struct mxq_type_facts *mxq_type_facts(unsigned type) {
  for (size_t i = 0; i < COUNT(type_facts); ++i)
    if (type_facts[i].number == type) return &type_facts[i];
  return NULL;
}

const struct mxq_mode_facts *mxq_mode_facts(unsigned mode) {
  for (size_t i = 0; i < COUNT(mode_facts); ++i)
    if (mode_facts[i].number == mode) return &mode_facts[i];
  return NULL;
}

const char *mxq_axis_name(enum mxq_axis axis) { return axes[axis].name; }

const struct mxq_axis_value *mxq_axis_at(enum mxq_axis axis, unsigned op, size_t index) {
  for (size_t i = 0; i < axes[axis].count; ++i) {
    const struct mxq_axis_value *value = &axes[axis].values[i];
    if (op && axes[axis].used && !axes[axis].used(op, value->number)) continue;
    if (index-- == 0) return value;
  }
  return NULL;
}

unsigned mxq_axis_get(const struct mxq_variant *variant, enum mxq_axis axis) {
  const unsigned fields[MXQ_AXIS_COUNT] = {
      [MXQ_AXIS_OP] = variant->op,         [MXQ_AXIS_IN] = variant->in,
      [MXQ_AXIS_OUT] = variant->out,       [MXQ_AXIS_BLOCK] = variant->block,
      [MXQ_AXIS_MODE] = variant->mode,     [MXQ_AXIS_LAYOUT] = variant->layout,
      [MXQ_AXIS_SCALES] = variant->scales,
  };
  return fields[axis];
}

void mxq_axis_set(struct mxq_variant *variant, enum mxq_axis axis, unsigned number) {
  uint8_t *const fields[MXQ_AXIS_COUNT] = {
      [MXQ_AXIS_OP] = &variant->op,         [MXQ_AXIS_IN] = &variant->in,
      [MXQ_AXIS_OUT] = &variant->out,       [MXQ_AXIS_MODE] = &variant->mode,
      [MXQ_AXIS_LAYOUT] = &variant->layout, [MXQ_AXIS_SCALES] = &variant->scales,
  };
  if (axis == MXQ_AXIS_BLOCK)
    variant->block = (uint16_t)number;
  else
    *fields[axis] = (uint8_t)number;
}
