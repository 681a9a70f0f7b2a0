/* SPDX-License-Identifier: MIT */
#include "kernel_cases.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "check_pairs.h"
#include "schedule.h"
#include "selectable.h"
#include "support.h"

/* The properties of a case are the axes of its variant, its family and tile, its arch and setting.
 */
enum { axis_tile = MXQ_AXIS_COUNT, axis_arch, axis_count };

struct candidate {
  struct mxq_kernel_id id;
  const struct mxq_arch *arch;
  unsigned narrow;
};

struct pairs {
  struct candidate *all;
  size_t count, capacity;
  int (*keep)(const struct mxq_kernel_id *id);
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
  struct mxq_variant variant = {0};
  struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST];
  const struct mxq_arch *arch;
  uint64_t random = 4; /* neighbours in the list are alike: they take turns as chance has it */
  unsigned taken = 0;
  if (mxq_arch_parse(arch_name, &arch) != MXQ_OK) abort();
  while (mxq_variant_next(&variant)) {
    const uint64_t number = support_random(&random) + share->turn;
    size_t count = 0;
    if (mxq_selectable_by_plans(&variant, arch, ids, &count) != MXQ_OK) continue;
    for (size_t i = 0; i < count; i++) {
      const unsigned one_in = share->one_in[i > 0];
      if (!one_in || number % one_in != 0 || taken++ % share->parts != share->part) continue;
      kernel_cases_add(cases, &ids[i], arch);
      cases->list[cases->count - 1].quickly = number % share->whole != 0;
    }
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
        const struct mxq_kernel_id id = mxq_schedule_kernel(&variant, row);
        if (!pairs->keep || pairs->keep(&id)) add_on_archs(pairs, &id);
      }
}

static unsigned property(const struct candidate *one, int axis) {
  if (axis == axis_arch) return one->arch->number * 2 + one->narrow;
  if (axis == axis_tile)
    return (unsigned)one->id.family << 29 | (unsigned)one->id.path << 28 |
           (unsigned)one->id.tile_n << 14 | one->id.tile_k;
  return mxq_axis_get(&one->id.variant, (enum mxq_axis)axis);
}

static void add_picked(struct kernel_cases *cases, const struct pairs *pairs, unsigned seed) {
  uint32_t *properties = grow(NULL, pairs->count * axis_count * sizeof *properties);
  size_t *picked = grow(NULL, pairs->count * sizeof *picked), count = 0;
  for (size_t i = 0; i < pairs->count * axis_count; i++)
    properties[i] = property(&pairs->all[i / axis_count], (int)(i % axis_count));
  if (check_pairs_pick(properties, pairs->count, axis_count, seed, picked, &count) != MXQ_OK) {
    fprintf(stderr, "%s\n", mxq_last_error());
    exit(1);
  }
  for (size_t i = 0; i < count; i++) {
    const struct candidate *one = &pairs->all[picked[i]];
    struct mxq_arch arch = *one->arch;
    arch.use_narrow = one->narrow;
    kernel_cases_add(cases, &one->id, &arch);
  }
  free(picked);
  free(properties);
}

void kernel_cases_add_pairs(struct kernel_cases *cases, unsigned seed,
                            int (*keep)(const struct mxq_kernel_id *id)) {
  struct pairs pairs = {.keep = keep};
  add_everything(&pairs);
  add_picked(cases, &pairs, seed);
  free(pairs.all);
}
