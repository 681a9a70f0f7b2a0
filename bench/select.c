/* SPDX-License-Identifier: MIT */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "schedule.h"

struct selection {
  const struct bench_options *options;
  unsigned char *matched; /* of each pattern */
  struct mxq_kernel_id *ids;
  size_t count, room;
};

/* A pattern of kernels, or of variants: those stand for the kernels that large tensors get. */
static int wanted(struct selection *selection, const char *kernel, const char *variant,
                  int preferred) {
  int found = preferred && selection->options->pattern_count == 0;
  for (size_t i = 0; i < selection->options->pattern_count; i++) {
    const char *pattern = selection->options->patterns[i];
    const int of_variants = !strchr(pattern, '.');
    if (of_variants && !preferred) continue;
    if (fnmatch(pattern, of_variants ? variant : kernel, 0)) continue;
    selection->matched[i] = 1;
    found = 1;
  }
  return found;
}

static int add(struct selection *selection, const struct mxq_kernel_id *id, int preferred) {
  char kernel[MXQ_KERNEL_NAME_SIZE], variant[MXQ_VARIANT_NAME_SIZE];
  if (mxq_kernel_id_name(id, kernel, sizeof kernel) != MXQ_OK ||
      mxq_variant_name(&id->variant, variant, sizeof variant) != MXQ_OK)
    return 0;
  if (!wanted(selection, kernel, variant, preferred)) return 1;
  if (selection->count == selection->room) {
    const size_t room = selection->room ? selection->room * 2 : 64;
    struct mxq_kernel_id *ids = realloc(selection->ids, room * sizeof *ids);
    if (!ids) return 0;
    selection->ids = ids;
    selection->room = room;
  }
  selection->ids[selection->count++] = *id;
  return 1;
}

static int add_family(struct selection *selection, const struct mxq_variant *variant,
                      enum mxq_family family, const struct mxq_arch *arch, int preferred) {
  struct mxq_kernel_id id;
  const struct mxq_schedule *schedule;
  if (mxq_kernel_id_choose(variant, family, arch, &id) != MXQ_OK) return 1;
  if (!selection->options->schedules) return add(selection, &id, preferred);
  for (size_t i = 0; (schedule = mxq_schedule_at(variant, family, i)) != NULL; i++) {
    id = mxq_schedule_kernel(variant, schedule);
    if (!add(selection, &id, preferred)) return 0;
  }
  return 1;
}

static int add_variant(struct selection *selection, const struct mxq_variant *variant,
                       const struct mxq_arch *arch) {
  const struct mxq_family_facts *family;
  int whole = 1;
  for (size_t i = 0; whole && (family = mxq_family_at(i)); i++)
    whole = add_family(selection, variant, family->family, arch, i == 0);
  return whole;
}

int bench_select(const struct bench_options *options, const struct mxq_arch *arch,
                 struct mxq_kernel_id **ids, size_t *count) {
  struct selection selection = {.options = options};
  struct mxq_variant variant;
  int whole = 1;
  selection.matched = calloc(options->pattern_count + 1, 1);
  if (!selection.matched) return BENCH_FAILED;
  memset(&variant, 0, sizeof variant);
  while (whole && mxq_variant_next(&variant)) whole = add_variant(&selection, &variant, arch);
  int status = whole && selection.count ? BENCH_DONE : BENCH_FAILED;
  for (size_t i = 0; whole && i < options->pattern_count; i++) {
    if (selection.matched[i]) continue;
    fprintf(stderr, "mxq-bench: no kernel matches '%s'; mxq list shows the variants\n",
            options->patterns[i]);
    status = BENCH_USAGE;
  }
  free(selection.matched);
  if (status != BENCH_DONE)
    free(selection.ids);
  else {
    *ids = selection.ids;
    *count = selection.count;
  }
  return status;
}
