/* SPDX-License-Identifier: MIT
 *
 * A seeded pairwise sample of all variants: every two values of two axes that any variant has occur
 * together in one of the sample.
 */
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "bench.h"
#include "status.h"

enum { axes = MXQ_AXIS_COUNT, values_max = 16, draws = 200 };

struct sampling {
  struct mxq_variant *all;
  unsigned char (*values)[axes]; /* of each variant: the index of its value on each axis */
  size_t count;
  unsigned char open[axes][values_max][axes][values_max]; /* pairs that no chosen variant has */
  size_t open_count;
  uint64_t state;
};

/* Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014). */
static uint64_t next(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

static unsigned char value_of(const struct mxq_variant *variant, enum mxq_axis axis) {
  const unsigned number = mxq_axis_get(variant, axis);
  const struct mxq_axis_value *value;
  for (size_t i = 0; i < values_max && (value = mxq_axis_at(axis, 0, i)); i++)
    if (value->number == number) return (unsigned char)i;
  return 0;
}

/* The pairs of a variant that are still open; with `close`, no longer. */
static size_t pairs_of(struct sampling *sampling, size_t index, int close) {
  const unsigned char *values = sampling->values[index];
  size_t found = 0;
  for (unsigned a = 0; a < axes; a++)
    for (unsigned b = a + 1; b < axes; b++) {
      unsigned char *pair = &sampling->open[a][values[a]][b][values[b]];
      found += *pair;
      if (close) *pair = 0;
    }
  return found;
}

static void open_pairs(struct sampling *sampling) {
  for (size_t i = 0; i < sampling->count; i++)
    for (unsigned a = 0; a < axes; a++) {
      const unsigned char *values = sampling->values[i];
      for (unsigned b = a + 1; b < axes; b++) {
        unsigned char *pair = &sampling->open[a][values[a]][b][values[b]];
        sampling->open_count += !*pair;
        *pair = 1;
      }
    }
}

/* The best of some variants drawn; the first that helps where none of them does. */
static size_t choose(struct sampling *sampling) {
  size_t best = 0, best_pairs = 0;
  for (unsigned i = 0; i < draws; i++) {
    const size_t index = next(&sampling->state) % sampling->count;
    const size_t pairs = pairs_of(sampling, index, 0);
    if (pairs <= best_pairs) continue;
    best = index;
    best_pairs = pairs;
  }
  for (size_t i = 0; !best_pairs && i < sampling->count; i++)
    if ((best_pairs = pairs_of(sampling, i, 0)) > 0) best = i;
  return best;
}

static enum mxq_status list_all(struct sampling *sampling) {
  struct mxq_variant variant = {0};
  size_t count = 0;
  while (mxq_variant_next(&variant)) count++;
  sampling->all = calloc(count, sizeof *sampling->all);
  sampling->values = calloc(count, sizeof *sampling->values);
  MXQ_FAIL_IF(!sampling->all || !sampling->values, MXQ_OUT_OF_MEMORY, "no memory for a sample");
  memset(&variant, 0, sizeof variant);
  for (; mxq_variant_next(&variant); sampling->count++) {
    sampling->all[sampling->count] = variant;
    for (unsigned axis = 0; axis < axes; axis++)
      sampling->values[sampling->count][axis] = value_of(&variant, (enum mxq_axis)axis);
  }
  return MXQ_OK;
}

enum mxq_status bench_sample_make(uint64_t seed, struct mxq_variant **sample, size_t *count) {
  struct sampling *sampling = calloc(1, sizeof *sampling);
  MXQ_FAIL_IF(!sampling, MXQ_OUT_OF_MEMORY, "no memory for a sample");
  sampling->state = seed;
  const enum mxq_status status = list_all(sampling);
  size_t chosen = 0;
  if (status == MXQ_OK) open_pairs(sampling);
  /* The chosen ones move to the front. */
  for (; sampling->open_count; chosen++) {
    const size_t best = choose(sampling);
    const struct mxq_variant variant = sampling->all[best];
    unsigned char values[axes];
    sampling->open_count -= pairs_of(sampling, best, 1);
    memcpy(values, sampling->values[best], sizeof values);
    sampling->all[best] = sampling->all[chosen];
    memcpy(sampling->values[best], sampling->values[chosen], sizeof values);
    sampling->all[chosen] = variant;
    memcpy(sampling->values[chosen], values, sizeof values);
  }
  free(sampling->values);
  if (status == MXQ_OK) {
    *sample = sampling->all;
    *count = chosen;
  } else {
    free(sampling->all);
  }
  free(sampling);
  return status;
}
