/* SPDX-License-Identifier: MIT */
#include "kernel_cases.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "schedule.h"
#include "support.h"

/* The properties of a case are the axes of its variant, its family and tile, its arch and setting;
 * the values of each are numbered. */
enum { axis_tile = MXQ_AXIS_COUNT, axis_arch, axis_count, values_max = 32, tries = 200 };

struct candidate {
  struct mxq_kernel_id id;
  const struct mxq_arch *arch;
  unsigned narrow;
};

struct pairs {
  struct candidate *all;
  size_t count, capacity;
  int (*keep)(const struct mxq_kernel_id *id);
  unsigned char (*values)[axis_count];
  unsigned char open[axis_count][values_max][axis_count][values_max]; /* not covered yet */
  size_t open_count;
};

static void *grow(void *list, size_t bytes) {
  void *grown = realloc(list, bytes);
  if (grown) return grown;
  fprintf(stderr, "no memory for a list of %zu bytes\n", bytes);
  exit(1);
}

void kernel_cases_add(struct kernel_cases *cases, const struct mxq_kernel_id *id,
                      const struct mxq_arch *arch) {
  char name[MXQ_KERNEL_NAME_SIZE];
  if (cases->count == cases->capacity) {
    cases->capacity = 2 * cases->capacity + 256;
    cases->list = grow(cases->list, cases->capacity * sizeof *cases->list);
  }
  struct kernel_case *one = &cases->list[cases->count++];
  memset(one, 0, sizeof *one);
  one->id = *id;
  one->arch = *arch;
  if (mxq_kernel_id_name(id, name, sizeof name) != MXQ_OK) abort();
  snprintf(one->name, sizeof one->name, "%s %s%s", name, arch->name,
           arch->use_narrow ? " narrow" : "");
}

void kernel_cases_add_share(struct kernel_cases *cases, const char *arch_name,
                            const struct kernel_share *share) {
  static const enum mxq_family families[2] = {MXQ_FAMILY_TMA, MXQ_FAMILY_ANY};
  struct mxq_variant variant = {0};
  const struct mxq_arch *arch;
  struct mxq_kernel_id id;
  uint64_t random = 4; /* neighbours in the list are alike: they take turns as chance has it */
  unsigned taken = 0;
  if (mxq_arch_parse(arch_name, &arch) != MXQ_OK) abort();
  while (mxq_variant_next(&variant)) {
    const uint64_t number = support_random(&random) + share->turn;
    for (size_t f = 0; f < 2; f++)
      if (share->one_in[f] && number % share->one_in[f] == 0 &&
          mxq_kernel_id_choose(&variant, families[f], arch, &id) == MXQ_OK &&
          taken++ % share->parts == share->part)
        kernel_cases_add(cases, &id, arch);
  }
}

/* An arch without and with the hardware's conversions of narrow types. */
static void add_on_archs(struct pairs *pairs, const struct mxq_kernel_id *id) {
  const struct mxq_arch *arch;
  for (size_t i = 0; (arch = mxq_arch_at(i)); i++)
    for (unsigned narrow = 0; narrow <= arch->has_narrow; narrow++) {
      struct mxq_arch copy = *arch;
      copy.use_narrow = narrow;
      if (mxq_kernel_id_check_arch(id, &copy) != MXQ_OK) continue;
      if (pairs->count == pairs->capacity) {
        pairs->capacity = 2 * pairs->capacity + 256;
        pairs->all = grow(pairs->all, pairs->capacity * sizeof *pairs->all);
      }
      pairs->all[pairs->count++] = (struct candidate){*id, arch, narrow};
    }
}

static void add_everything(struct pairs *pairs) {
  struct mxq_variant variant = {0};
  const struct mxq_family_facts *family;
  const struct mxq_schedule *row;
  while (mxq_variant_next(&variant))
    for (size_t f = 0; (family = mxq_family_every(f)); f++)
      for (size_t i = 0; (row = mxq_schedule_at(&variant, family->family, i)); i++) {
        const struct mxq_kernel_id id = {.variant = variant,
                                         .family = (uint8_t)family->family,
                                         .tile_n = row->tile_n,
                                         .tile_k = row->tile_k};
        if (!pairs->keep || pairs->keep(&id)) add_on_archs(pairs, &id);
      }
}

static unsigned property(const struct candidate *one, int axis) {
  if (axis == axis_arch) return one->arch->number * 2 + one->narrow;
  if (axis == axis_tile)
    return (unsigned)one->id.family << 28 | (unsigned)one->id.tile_n << 14 | one->id.tile_k;
  return mxq_axis_get(&one->id.variant, (enum mxq_axis)axis);
}

/* Numbers the values of each property, and opens every pair that some kernel has. */
static void open_pairs(struct pairs *pairs) {
  unsigned seen[axis_count][values_max], counts[axis_count] = {0};
  for (size_t i = 0; i < pairs->count; i++)
    for (int axis = 0; axis < axis_count; axis++) {
      const unsigned value = property(&pairs->all[i], axis);
      unsigned at = 0;
      while (at < counts[axis] && seen[axis][at] != value) at++;
      if (at == values_max) abort();
      if (at == counts[axis]) seen[axis][counts[axis]++] = value;
      pairs->values[i][axis] = (unsigned char)at;
    }
  for (size_t i = 0; i < pairs->count; i++)
    for (int a = 0; a < axis_count; a++)
      for (int b = a + 1; b < axis_count; b++) {
        unsigned char *pair = &pairs->open[a][pairs->values[i][a]][b][pairs->values[i][b]];
        pairs->open_count += !*pair;
        *pair = 1;
      }
}

/* How many open pairs a candidate has; closes them if asked. */
static size_t gain_of(struct pairs *pairs, size_t candidate, int close) {
  const unsigned char *values = pairs->values[candidate];
  size_t gain = 0;
  for (int a = 0; a < axis_count; a++)
    for (int b = a + 1; b < axis_count; b++) {
      unsigned char *pair = &pairs->open[a][values[a]][b][values[b]];
      gain += *pair;
      if (close) *pair = 0;
    }
  return gain;
}

/* The best of some candidates, or the first of all that has an open pair. */
static size_t choose(struct pairs *pairs, uint64_t *random) {
  size_t best = 0, most = 0;
  for (int i = 0; i < tries; i++) {
    const size_t candidate = support_random(random) % pairs->count;
    const size_t gain = gain_of(pairs, candidate, 0);
    if (gain > most) most = gain, best = candidate;
  }
  while (!most && !(most = gain_of(pairs, best, 0))) best++;
  return best;
}

void kernel_cases_add_pairs(struct kernel_cases *cases, unsigned seed,
                            int (*keep)(const struct mxq_kernel_id *id)) {
  struct pairs *pairs = grow(NULL, sizeof *pairs);
  uint64_t random = seed;
  memset(pairs, 0, sizeof *pairs);
  pairs->keep = keep;
  add_everything(pairs);
  pairs->values = grow(NULL, pairs->count * sizeof *pairs->values);
  open_pairs(pairs);
  while (pairs->open_count) {
    const size_t best = choose(pairs, &random);
    pairs->open_count -= gain_of(pairs, best, 1);
    struct mxq_arch arch = *pairs->all[best].arch;
    arch.use_narrow = pairs->all[best].narrow;
    kernel_cases_add(cases, &pairs->all[best].id, &arch);
  }
  free(pairs->values);
  free(pairs->all);
  free(pairs);
}
