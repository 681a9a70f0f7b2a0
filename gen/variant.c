/* SPDX-License-Identifier: MIT */
#include <mxq/variant.h>

#include <stdio.h>
#include <string.h>

#include "axes.h"
#include "quote.h"
#include "rules.h"
#include "status.h"
#include "token.h"

_Static_assert(sizeof(struct mxq_variant) == 32, "the variant is a key of 32 bytes");

#define PATTERN "<op>_<in>_<out>_b<block>_<mode>_<layout>_<scales>"

/* Cuts a name at its underscores into the first MXQ_AXIS_COUNT parts; returns how many it has. */
static size_t split(const char *name, struct mxq_token parts[MXQ_AXIS_COUNT]) {
  size_t count = 0;
  for (;;) {
    const size_t length = strcspn(name, "_");
    if (count < MXQ_AXIS_COUNT) parts[count] = (struct mxq_token){name, length};
    ++count;
    if (!name[length]) return count;
    name += length + 1;
  }
}

static enum mxq_status wrong_count(const char *name, const struct mxq_token *parts, size_t count) {
  unsigned op = 0;
  int axis = 0;
  for (; axis < MXQ_AXIS_COUNT && (size_t)axis < count; ++axis) {
    const struct mxq_axis_value *value = mxq_token_find(parts[axis], (enum mxq_axis)axis, op);
    if (!value) break;
    if (axis == MXQ_AXIS_OP) op = value->number;
  }
  if (axis == MXQ_AXIS_COUNT)
    return mxq_status_set(MXQ_UNKNOWN_NAME,
                          "%s has %zu parts, a name has %d, " PATTERN
                          ": nothing follows the scale layout",
                          mxq_quote(name).text, count, MXQ_AXIS_COUNT);
  char allowed[256];
  mxq_token_list((enum mxq_axis)axis, op, allowed, sizeof allowed);
  return mxq_status_set(MXQ_UNKNOWN_NAME,
                        "%s has %zu part%s, a name has %d, " PATTERN
                        ": part %d is no %s; allowed there: %s",
                        mxq_quote(name).text, count, count == 1 ? "" : "s", MXQ_AXIS_COUNT,
                        axis + 1, mxq_axis_name((enum mxq_axis)axis), allowed);
}

/* The place of a variant's value among those of its axis; -1 if it has none. */
static int index_of(const struct mxq_variant *variant, enum mxq_axis axis) {
  const unsigned op = axis == MXQ_AXIS_OP ? 0 : variant->op;
  const struct mxq_axis_value *value;
  for (int i = 0; (value = mxq_axis_at(axis, op, (size_t)i)); ++i)
    if (value->number == mxq_axis_get(variant, axis)) return i;
  return -1;
}

/* The fields hold values of their axes: what is left is whether the combination has a meaning. */
static const struct mxq_rule *refusing(const struct mxq_variant *variant) {
  const struct mxq_type_facts *in = mxq_type_facts(variant->in);
  const struct mxq_rule_subject subject = {
      .op = variant->op,
      .scales = variant->scales,
      .code = in->wide ? mxq_type_facts(variant->out) : in,
      .mode = mxq_mode_facts(variant->mode),
      .parts = {mxq_layout_part(variant->layout, 0), mxq_layout_part(variant->layout, 1)},
  };
  return mxq_rule_refusing(&subject);
}

/* The tokens of a variant whose fields hold values of their axes. */
static void spell(const struct mxq_variant *variant, char name[MXQ_VARIANT_NAME_SIZE]) {
  size_t used = 0;
  for (int axis = 0; axis < MXQ_AXIS_COUNT; ++axis) {
    const unsigned op = axis == MXQ_AXIS_OP ? 0 : variant->op;
    const int index = index_of(variant, (enum mxq_axis)axis);
    const char *token = mxq_axis_at((enum mxq_axis)axis, op, (size_t)index)->token;
    used +=
        (size_t)snprintf(name + used, MXQ_VARIANT_NAME_SIZE - used, "%s%s", axis ? "_" : "", token);
  }
}

/* The first value on every axis from `axis` on. 0 if an axis has none. */
static int restart(struct mxq_variant *variant, int axis) {
  for (; axis < MXQ_AXIS_COUNT; ++axis) {
    const unsigned op = axis == MXQ_AXIS_OP ? 0 : variant->op;
    const struct mxq_axis_value *value = mxq_axis_at((enum mxq_axis)axis, op, 0);
    if (!value) return 0;
    mxq_axis_set(variant, (enum mxq_axis)axis, value->number);
  }
  return 1;
}

/* The next combination, legal or not: the last axis moves fastest. */
static int advance(struct mxq_variant *variant) {
  for (int axis = MXQ_AXIS_COUNT - 1; axis >= 0; --axis) {
    const unsigned op = axis == MXQ_AXIS_OP ? 0 : variant->op;
    const int index = index_of(variant, (enum mxq_axis)axis);
    const struct mxq_axis_value *value = mxq_axis_at((enum mxq_axis)axis, op, (size_t)index + 1);
    if (!value) continue;
    mxq_axis_set(variant, (enum mxq_axis)axis, value->number);
    if (restart(variant, axis + 1)) return 1;
  }
  return 0;
}

static int is_zero(const struct mxq_variant *variant) {
  static const struct mxq_variant zero;
  return memcmp(variant, &zero, sizeof zero) == 0;
}

enum mxq_status mxq_variant_parse(const char *name, struct mxq_variant *variant) {
  struct mxq_token parts[MXQ_AXIS_COUNT];
  struct mxq_variant parsed = {0};
  MXQ_FAIL_IF(!name || !variant, MXQ_INVALID_ARGUMENT,
              "mxq_variant_parse: the %s is NULL; give a name " PATTERN
              " and a place for the result",
              name ? "variant" : "name");
  const size_t count = split(name, parts);
  if (count != MXQ_AXIS_COUNT) return wrong_count(name, parts, count);
  for (int axis = 0; axis < MXQ_AXIS_COUNT; ++axis) {
    const struct mxq_axis_value *value =
        mxq_token_find(parts[axis], (enum mxq_axis)axis, parsed.op);
    if (!value) return mxq_token_unknown(name, parts[axis], (enum mxq_axis)axis, parsed.op);
    mxq_axis_set(&parsed, (enum mxq_axis)axis, value->number);
  }
  MXQ_TRY(mxq_variant_check(&parsed));
  *variant = parsed;
  return MXQ_OK;
}

enum mxq_status mxq_variant_name(const struct mxq_variant *variant, char *name, size_t size) {
  char spelled[MXQ_VARIANT_NAME_SIZE];
  MXQ_TRY(mxq_variant_check(variant));
  spell(variant, spelled);
  MXQ_FAIL_IF(!name || size <= strlen(spelled), MXQ_INVALID_ARGUMENT,
              "mxq_variant_name: %zu bytes at %s for the name %s; MXQ_VARIANT_NAME_SIZE (%d) is "
              "always enough",
              size, name ? "the given place" : "NULL", spelled, MXQ_VARIANT_NAME_SIZE);
  memcpy(name, spelled, strlen(spelled) + 1);
  return MXQ_OK;
}

enum mxq_status mxq_variant_check(const struct mxq_variant *variant) {
  char name[MXQ_VARIANT_NAME_SIZE];
  MXQ_FAIL_IF(!variant, MXQ_INVALID_ARGUMENT, "mxq_variant_check: the variant is NULL");
  for (int axis = 0; axis < MXQ_AXIS_COUNT; ++axis) {
    if (index_of(variant, (enum mxq_axis)axis) >= 0) continue;
    char allowed[256];
    mxq_token_list((enum mxq_axis)axis, axis == MXQ_AXIS_OP ? 0 : variant->op, allowed,
                   sizeof allowed);
    MXQ_FAIL(
        MXQ_INVALID_ARGUMENT, "struct mxq_variant: %u is no number of a %s; allowed: those of %s",
        mxq_axis_get(variant, (enum mxq_axis)axis), mxq_axis_name((enum mxq_axis)axis), allowed);
  }
  for (size_t i = 0; i < sizeof variant->reserved; ++i)
    MXQ_FAIL_IF(variant->reserved[i], MXQ_INVALID_ARGUMENT,
                "struct mxq_variant: reserved byte %zu is %u; start from an all-zero variant", i,
                (unsigned)variant->reserved[i]);
  const struct mxq_rule *rule = refusing(variant);
  if (!rule) return MXQ_OK;
  spell(variant, name);
  MXQ_FAIL(MXQ_REFUSED, "%s: %s", name, rule->reason);
}

int mxq_variant_next(struct mxq_variant *variant) {
  struct mxq_variant next;
  if (!variant) return 0;
  next = *variant;
  for (int axis = 0; axis < MXQ_AXIS_COUNT && !is_zero(variant); ++axis)
    if (index_of(&next, (enum mxq_axis)axis) < 0) return 0;
  int more = is_zero(variant) ? restart(&next, 0) : advance(&next);
  while (more && refusing(&next)) more = advance(&next);
  if (more) *variant = next;
  return more;
}
