/* SPDX-License-Identifier: MIT */
#include "kernel_list.h"

#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "selectable.h"
#include "status.h"
#include "text.h"

/* Variants share kernels that move scales. */
static int is_listed(const struct kernel_list *list, const struct mxq_kernel_id *id,
                     const struct mxq_arch *arch) {
  if (id->family != MXQ_FAMILY_RELAYOUT) return 0;
  for (size_t i = list->count; i-- > 0 && list->kernels[i].arch == arch;)
    if (memcmp(&list->kernels[i].id, id, sizeof *id) == 0) return 1;
  return 0;
}

static enum mxq_status add(struct kernel_list *list, size_t *capacity,
                           const struct mxq_variant *variant, const struct mxq_arch *arch) {
  struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST];
  size_t count = 0;
  const enum mxq_status status = mxq_selectable(variant, arch, ids, &count);
  if (status != MXQ_OK)
    return mxq_status_set(status, "%s: %s", names_of(variant).text, mxq_last_error());
  for (size_t i = 0; i < count; i++) {
    if (is_listed(list, &ids[i], arch)) continue;
    list->kernels = text_grow(list->kernels, list->count, capacity, sizeof *list->kernels);
    list->kernels[list->count++] = (struct listed_kernel){ids[i], arch};
  }
  return MXQ_OK;
}

static enum mxq_status fill(struct kernel_list *list, const char *manifest, const char *archs) {
  size_t capacity = 0;
  MXQ_TRY(manifest_read(manifest, &list->manifest));
  MXQ_TRY(manifest_archs(&list->manifest, archs, &list->archs, &list->arch_count));
  for (size_t a = 0; a < list->arch_count; a++)
    for (size_t v = 0; v < list->manifest.count; v++)
      MXQ_TRY(add(list, &capacity, &list->manifest.variants[v], list->archs[a]));
  return MXQ_OK;
}

enum mxq_status kernel_list_read(const char *manifest, const char *archs,
                                 struct kernel_list *list) {
  struct kernel_list made = {0};
  const enum mxq_status status = fill(&made, manifest, archs);
  if (status != MXQ_OK)
    kernel_list_free(&made);
  else
    *list = made;
  return status;
}

void kernel_list_free(struct kernel_list *list) {
  manifest_free(&list->manifest);
  free(list->archs);
  free(list->kernels);
  *list = (struct kernel_list){0};
}
