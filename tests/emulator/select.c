/* SPDX-License-Identifier: MIT */
#include "select.h"

#include <fnmatch.h>
#include <string.h>

#include "schedule.h"
#include "support.h"

/* Steps through the kernels of an arch; the first of a variant's family is its default. Stops where
 * `visit` returns 0. */
static void each_kernel(int (*visit)(void *context, const struct mxq_kernel_id *kernel,
                                     int is_default),
                        const struct mxq_arch *arch, void *context) {
  struct mxq_kernel_id kernel;
  const struct mxq_family_facts *family;
  const struct mxq_schedule *row;
  memset(&kernel, 0, sizeof kernel);
  while (mxq_variant_next(&kernel.variant))
    for (size_t f = 0; (family = mxq_family_every(f)); f++) {
      int is_default = 1;
      for (size_t i = 0; (row = mxq_schedule_at(&kernel.variant, family->family, i)); i++) {
        kernel = mxq_schedule_kernel(&kernel.variant, row);
        if (mxq_kernel_id_check_arch(&kernel, arch) != MXQ_OK) continue;
        if (!visit(context, &kernel, is_default)) return;
        is_default = 0;
      }
    }
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

size_t emu_select_pattern(struct kernel_cases *cases, const char *pattern,
                          const struct mxq_arch *arch) {
  struct match wanted = {pattern, arch, cases, 0};
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
