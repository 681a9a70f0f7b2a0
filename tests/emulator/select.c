/* SPDX-License-Identifier: MIT */
#include "select.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "schedule.h"
#include "support.h"

typedef int visit_fn(void *context, const struct mxq_kernel_id *kernel, int is_default);

/* Steps through the kernels of a variant on an arch; the first of a family is its default. 0 where
 * `visit` returns 0, and stops there. */
static int each_of_variant(visit_fn *visit, const struct mxq_variant *variant,
                           const struct mxq_arch *arch, void *context) {
  const struct mxq_family_facts *family;
  const struct mxq_schedule *row;
  for (size_t f = 0; (family = mxq_family_every(f)); f++) {
    int is_default = 1;
    for (size_t i = 0; (row = mxq_schedule_at(variant, family->family, i)); i++) {
      const struct mxq_kernel_id kernel = mxq_schedule_kernel(variant, row);
      if (mxq_kernel_id_check_arch(&kernel, arch) != MXQ_OK) continue;
      if (!visit(context, &kernel, is_default)) return 0;
      is_default = 0;
    }
  }
  return 1;
}

static void each_kernel(visit_fn *visit, const struct mxq_arch *arch, void *context) {
  struct mxq_variant variant = {0};
  while (mxq_variant_next(&variant))
    if (!each_of_variant(visit, &variant, arch, context)) return;
}

struct match {
  const char *pattern;
  const struct mxq_arch *arch;
  struct kernel_cases *cases;
  size_t found;
};

/* Writes what the pattern is matched with: <variant>, <variant>.<family> or the whole name. 0 where
 * it means defaults only, and this is none. */
static int name_for(const struct match *wanted, const struct mxq_kernel_id *kernel, int is_default,
                    char name[MXQ_KERNEL_NAME_SIZE]) {
  const char *dot = strchr(wanted->pattern, '.');
  const int whole = dot && strchr(dot, '-');
  if (!whole && !is_default) return 0;
  if (mxq_kernel_id_name(kernel, name, MXQ_KERNEL_NAME_SIZE) != MXQ_OK) return 0;
  if (!dot) name[strcspn(name, ".")] = 0;
  if (!whole) name[strcspn(name, "-")] = 0;
  return 1;
}

static int match(void *context, const struct mxq_kernel_id *kernel, int is_default) {
  struct match *wanted = context;
  char name[MXQ_KERNEL_NAME_SIZE];
  if (!name_for(wanted, kernel, is_default, name)) return 1;
  if (fnmatch(wanted->pattern, name, 0) != 0) return 1;
  kernel_cases_add(wanted->cases, kernel, wanted->arch);
  wanted->found++;
  return 1;
}

/* Whether the pattern names one variant: the others need not be looked at then. */
static int names_variant(const char *pattern, struct mxq_variant *variant) {
  char name[MXQ_KERNEL_NAME_SIZE];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(pattern, "."), pattern);
  return mxq_variant_parse(name, variant) == MXQ_OK;
}

size_t emu_select_pattern(struct kernel_cases *cases, const char *pattern,
                          const struct mxq_arch *arch) {
  struct match wanted = {pattern, arch, cases, 0};
  struct mxq_variant variant;
  if (names_variant(pattern, &variant))
    each_of_variant(match, &variant, arch, &wanted);
  else
    each_kernel(match, arch, &wanted);
  return wanted.found;
}

void emu_select_sample(struct kernel_cases *cases, uint64_t one_in, uint64_t seed) {
  size_t kept = 0;
  for (size_t i = 0; i < cases->count; i++)
    if (support_random(&seed) % one_in == 0) cases->list[kept++] = cases->list[i];
  cases->count = kept;
}

void emu_select_part(struct kernel_cases *cases, size_t part, size_t parts) {
  size_t kept = 0;
  for (size_t i = 0; i < cases->count; i++)
    if (i % parts == part - 1) cases->list[kept++] = cases->list[i];
  cases->count = kept;
}

struct symbol {
  const char *text;
  size_t length;
  struct mxq_kernel_id *kernel;
  int found;
};

static int match_symbol(void *context, const struct mxq_kernel_id *kernel, int is_default) {
  struct symbol *wanted = context;
  char symbol[MXQ_KERNEL_NAME_SIZE];
  (void)is_default;
  if (mxq_kernel_id_symbol(kernel, symbol, sizeof symbol) != MXQ_OK) return 1;
  if (strlen(symbol) != wanted->length || memcmp(symbol, wanted->text, wanted->length) != 0)
    return 1;
  *wanted->kernel = *kernel;
  wanted->found = 1;
  return 0;
}

int emu_select_source(const char *text, const struct mxq_arch *arch, struct mxq_kernel_id *kernel) {
  static const char entry[] = "\nMXQ_KERNEL(";
  const char *at = strstr(text, entry);
  if (!at) return 0;
  at += sizeof entry - 1;
  at += strspn(at, " \t\n");
  struct symbol wanted = {at, strcspn(at, " \t\n,)"), kernel, 0};
  each_kernel(match_symbol, arch, &wanted);
  return wanted.found;
}
