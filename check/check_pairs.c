/* SPDX-License-Identifier: MIT */
#include "check_pairs.h"

#include <stdlib.h>

#include "check_fill.h"
#include "status.h"

enum { TRIES = 200, AXES = CHECK_PAIRS_PROPERTIES, VALUES = CHECK_PAIRS_VALUES };

struct pairs {
  unsigned width;
  size_t candidates;
  unsigned char (*values)[AXES];                  /* numbered from 0, of each property */
  unsigned char open[AXES][VALUES][AXES][VALUES]; /* pairs not covered yet */
  size_t open_count;
  uint64_t random;
};

static enum mxq_status number_values(struct pairs *pairs, const uint32_t *properties) {
  uint32_t seen[AXES][VALUES];
  unsigned counts[AXES] = {0};
  for (size_t i = 0; i < pairs->candidates; i++)
    for (unsigned axis = 0; axis < pairs->width; axis++) {
      const uint32_t value = properties[i * pairs->width + axis];
      unsigned at = 0;
      while (at < counts[axis] && seen[axis][at] != value) at++;
      MXQ_FAIL_IF(at == VALUES, MXQ_INTERNAL, "property %u has more than %d values", axis, VALUES);
      if (at == counts[axis]) seen[axis][counts[axis]++] = value;
      pairs->values[i][axis] = (unsigned char)at;
    }
  return MXQ_OK;
}

static unsigned char *pair_of(struct pairs *pairs, size_t candidate, unsigned a, unsigned b) {
  const unsigned char *values = pairs->values[candidate];
  return &pairs->open[a][values[a]][b][values[b]];
}

/* Opens, or closes, the pairs of a candidate; how many changed. */
static size_t set_open(struct pairs *pairs, size_t candidate, unsigned char open) {
  size_t changed = 0;
  for (unsigned a = 0; a < pairs->width; a++)
    for (unsigned b = a + 1; b < pairs->width; b++) {
      unsigned char *pair = pair_of(pairs, candidate, a, b);
      changed += *pair != open;
      *pair = open;
    }
  return changed;
}

static size_t gain_of(struct pairs *pairs, size_t candidate) {
  size_t gain = 0;
  for (unsigned a = 0; a < pairs->width; a++)
    for (unsigned b = a + 1; b < pairs->width; b++) gain += *pair_of(pairs, candidate, a, b);
  return gain;
}

/* The best of some candidates, or the first of all that has an open pair. */
static size_t choose(struct pairs *pairs) {
  size_t best = 0, most = 0;
  for (int i = 0; i < TRIES; i++) {
    const size_t candidate = check_random(&pairs->random) % pairs->candidates;
    const size_t gain = gain_of(pairs, candidate);
    if (gain > most) most = gain, best = candidate;
  }
  while (!most && !(most = gain_of(pairs, best))) best++;
  return best;
}

enum mxq_status check_pairs_pick(const uint32_t *properties, size_t candidates, unsigned width,
                                 uint64_t seed, size_t *picked, size_t *count) {
  MXQ_FAIL_IF(width < 2 || width > AXES, MXQ_INTERNAL, "%u properties; allowed: 2 to %d", width,
              AXES);
  struct pairs *pairs = calloc(1, sizeof *pairs);
  if (pairs) pairs->values = calloc(candidates + 1, sizeof *pairs->values);
  enum mxq_status status = MXQ_OK;
  size_t found = 0;
  if (!pairs || !pairs->values)
    status = mxq_status_set(MXQ_OUT_OF_MEMORY, "no memory to pick among %zu kernels", candidates);
  if (status == MXQ_OK) {
    pairs->width = width;
    pairs->candidates = candidates;
    pairs->random = seed;
    status = number_values(pairs, properties);
  }
  for (size_t i = 0; status == MXQ_OK && i < candidates; i++)
    pairs->open_count += set_open(pairs, i, 1);
  while (status == MXQ_OK && pairs->open_count) {
    picked[found] = choose(pairs);
    pairs->open_count -= set_open(pairs, picked[found++], 0);
  }
  if (status == MXQ_OK) *count = found;
  if (pairs) free(pairs->values);
  free(pairs);
  return status;
}
