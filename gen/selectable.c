/* SPDX-License-Identifier: MIT */
#include "selectable.h"

#include <string.h>

#include "schedule.h"
#include "status.h"
#include "tune.h"

static int is_listed(const struct mxq_kernel_id *ids, size_t count,
                     const struct mxq_kernel_id *id) {
  for (size_t i = 0; i < count; ++i)
    if (memcmp(&ids[i], id, sizeof *id) == 0) return 1;
  return 0;
}

/* Adds what tensors of each size get, the large ones' first. */
static enum mxq_status add_family(const struct mxq_variant *variant, enum mxq_family family,
                                  const struct mxq_arch *arch, struct mxq_kernel_id *ids,
                                  size_t *count) {
  for (unsigned size = MXQ_SIZE_CLASSES; size-- > 0;) {
    MXQ_TRY(mxq_tune_choose(variant, family, arch, (enum mxq_size_class)size, &ids[*count]));
    if (!is_listed(ids, *count, &ids[*count])) ++*count;
  }
  return MXQ_OK;
}

enum mxq_status mxq_selectable_by_plans(const struct mxq_variant *variant,
                                        const struct mxq_arch *arch,
                                        struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST],
                                        size_t *count) {
  const struct mxq_family_facts *family;
  struct mxq_kept_error kept;
  enum mxq_status status = MXQ_OK;
  size_t found = 0;
  mxq_error_keep(&kept);
  MXQ_TRY(mxq_variant_check(variant));
  for (size_t i = 0; (family = mxq_family_at(i)) != NULL; ++i) {
    status = add_family(variant, family->family, arch, ids, &found);
    if (status != MXQ_UNSUPPORTED) MXQ_TRY(status);
  }
  if (!found) return status;
  mxq_error_restore(&kept);
  *count = found;
  return MXQ_OK;
}

enum mxq_status mxq_selectable(const struct mxq_variant *variant, const struct mxq_arch *arch,
                               struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST], size_t *count) {
  size_t found = 0;
  MXQ_TRY(mxq_selectable_by_plans(variant, arch, ids, &found));
  if (variant->scales != MXQ_SCALES_LIN) {
    const struct mxq_variant moves =
        mxq_relayout_variant(mxq_mode_scale_bits(variant->mode), variant->scales);
    MXQ_TRY(mxq_kernel_id_choose(&moves, MXQ_FAMILY_RELAYOUT, arch, &ids[found++]));
  }
  *count = found;
  return MXQ_OK;
}
