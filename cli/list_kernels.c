/* SPDX-License-Identifier: MIT */
#include "list_kernels.h"

#include "image.h"
#include "report.h"
#include "schedule.h"
#include "selectable.h"
#include "target.h"

enum { at_once = 16 }; /* variants between two lines of progress */

static void add_resources(cJSON *row, const struct mxq_resources *used) {
  const struct {
    const char *key;
    uint32_t value;
  } facts[] = {{"registers", used ? used->registers : 0},
               {"spill_store_bytes", used ? used->spill_store_bytes : 0},
               {"spill_load_bytes", used ? used->spill_load_bytes : 0},
               {"stack_bytes", used ? used->stack_bytes : 0}};
  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
    if (used)
      json_add_integer(row, facts[i].key, facts[i].value);
    else
      json_add_string(row, facts[i].key, NULL);
}

static void add_kernel(const struct list_kernels *kernels, const struct mxq_kernel_id *id,
                       const struct mxq_arch *arch, cJSON *rows) {
  char name[MXQ_KERNEL_NAME_SIZE] = "";
  struct mxq_geometry geometry;
  const struct mxq_image *image = NULL;
  const enum mxq_status status = mxq_image_get(kernels->context, id, arch, &image, NULL);
  cJSON *row = json_object();
  mxq_kernel_id_name(id, name, sizeof name);
  mxq_geometry_of(id, &geometry);
  json_add_string(row, "kernel", name);
  json_add_string(row, "arch", arch->name);
  json_add_string(row, "family", mxq_family_facts(id->family)->token);
  json_add_integer(row, "tile_n", geometry.tile_n);
  json_add_integer(row, "tile_k", geometry.tile_k);
  json_add_integer(row, "threads", geometry.threads);
  json_add_integer(row, "shared_bytes", mxq_geometry_asks(&geometry, arch));
  json_add_integer(row, "shared_allowed", arch->shared_max);
  add_resources(row, status == MXQ_OK ? &image->resources : NULL);
  json_add(rows, NULL, row);
}

static int has_arch(const struct list_kernels *kernels, const struct mxq_arch *arch) {
  for (size_t i = 0; i < kernels->arch_count; i++)
    if (kernels->archs[i] == arch) return 1;
  return 0;
}

static enum mxq_status add_arch(struct list_kernels *kernels, const char *name) {
  const struct mxq_arch *arch = NULL;
  const enum mxq_status status = target_arch(name, &arch);
  if (status == MXQ_OK && !has_arch(kernels, arch) && kernels->arch_count < LIST_ARCHS)
    kernels->archs[kernels->arch_count++] = arch;
  return status;
}

int list_kernels_begin(const struct arguments *arguments, size_t arch, int compile,
                       struct list_kernels *kernels) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  enum mxq_status status = MXQ_OK;
  *kernels = (struct list_kernels){.context = NULL};
  for (size_t i = 0; status == MXQ_OK && i < arguments->given_count; i++)
    if (arguments->given[i].option == arch) status = add_arch(kernels, arguments->given[i].value);
  if (status == MXQ_OK && !kernels->arch_count) status = add_arch(kernels, NULL);
  if (status != MXQ_OK) return report_status(status);
  if (compile) return report_status(target_context(arguments, &kernels->context));
  config.jit = MXQ_JIT_CACHE;
  return report_status(mxq_context_create(&config, &kernels->context));
}

void list_kernels_end(struct list_kernels *kernels) { mxq_context_destroy(kernels->context); }

int list_kernels_compile(const struct list_kernels *kernels, const struct mxq_variant *variants,
                         size_t count) {
  int code = EXIT_DONE;
  for (size_t a = 0; a < kernels->arch_count; a++)
    for (size_t i = 0; i < count && code != EXIT_MISSING; i += at_once) {
      const size_t some = count - i < at_once ? count - i : at_once;
      const char *arch = kernels->archs[a]->name;
      report_progress("[%zu/%zu] compiling for %s", i, count, arch);
      const enum mxq_status status = mxq_prepare(kernels->context, arch, variants + i, some);
      report_progress_end();
      if (status != MXQ_OK) code = report_status(status);
    }
  return code;
}

void list_kernels_add(const struct list_kernels *kernels, const struct mxq_variant *variant,
                      cJSON *row) {
  struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST];
  cJSON *rows = json_array();
  for (size_t a = 0; a < kernels->arch_count; a++) {
    size_t count = 0;
    if (mxq_selectable_by_plans(variant, kernels->archs[a], ids, &count) != MXQ_OK) continue;
    for (size_t i = 0; i < count; i++) add_kernel(kernels, &ids[i], kernels->archs[a], rows);
  }
  json_add(row, "kernels", rows);
}
