/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "compare.h"
#include "status.h"

/* Elements that are the same count as exact, infinities and NaN too; other pairs whose difference
 * is not finite are left out. */
static void add_pair(double x, double y, struct quality *q) {
  const double size = fabs(x), error = fabs(x - y);
  if (isnan(error) || isinf(error)) {
    const int same = (isnan(x) && isnan(y)) || (!isnan(x) && !isnan(y) && !(x < y) && !(x > y));
    *(same ? &q->elements : &q->excluded) += 1;
    return;
  }
  q->elements++;
  q->signal += x * x;
  q->noise += error * error;
  q->largest_error = fmax(q->largest_error, error);
  q->largest_input = fmax(q->largest_input, size);
  if (size > 0) q->largest_relative = fmax(q->largest_relative, error / size);
}

static void compare_all(const struct values_reader *a, const struct values_reader *b,
                        struct quality *quality) {
  static double x[VALUES_AT_ONCE], y[VALUES_AT_ONCE];
  uint64_t total = 1;
  for (size_t i = 0; i < a->values->rank; i++) total *= a->values->dims[i];
  for (uint64_t first = 0; first < total; first += VALUES_AT_ONCE) {
    const uint64_t left = total - first;
    const size_t count = left < VALUES_AT_ONCE ? (size_t)left : VALUES_AT_ONCE;
    struct quality some = {0}; /* sums of sums: less rounding */
    values_read(a, first, count, x);
    values_read(b, first, count, y);
    for (size_t i = 0; i < count; i++) add_pair(x[i], y[i], &some);
    quality_add(quality, &some);
  }
}

static enum mxq_status compare_numbers(struct comparison *comparison, struct mxq_context *context) {
  struct values_reader a = {0}, b = {0};
  enum mxq_status status = values_reader_open(comparison->a, context, &a);
  if (status == MXQ_OK) status = values_reader_open(comparison->b, context, &b);
  if (status == MXQ_OK) compare_all(&a, &b, &comparison->quality);
  values_reader_close(&a);
  values_reader_close(&b);
  return status;
}

enum mxq_status compare_one(struct comparison *comparison, struct mxq_context *context) {
  const struct values *a = comparison->a, *b = comparison->b;
  if (!a || !b) {
    comparison->kind = a ? COMPARE_NOT_IN_B : COMPARE_NOT_IN_A;
    return MXQ_OK;
  }
  if (a->rank != b->rank || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims)) {
    comparison->kind = COMPARE_SHAPES;
    return MXQ_OK;
  }
  if (values_are_numbers(a) && values_are_numbers(b)) {
    comparison->kind = COMPARE_NUMBERS;
    return compare_numbers(comparison, context);
  }
  const int equal = !strcmp(a->dtype, b->dtype) && a->tensor->bytes == b->tensor->bytes &&
                    !memcmp(a->tensor->data, b->tensor->data, (size_t)a->tensor->bytes);
  comparison->kind = equal ? COMPARE_EQUAL : COMPARE_DIFFERENT;
  return MXQ_OK;
}

int compare_is_mismatch(const struct comparison *comparison) {
  return comparison->kind != COMPARE_NUMBERS && comparison->kind != COMPARE_EQUAL;
}
