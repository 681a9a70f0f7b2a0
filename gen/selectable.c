/* SPDX-License-Identifier: MIT */
#include "selectable.h"

#include "schedule.h"
#include "status.h"

enum mxq_status mxq_selectable(const struct mxq_variant *variant, const struct mxq_arch *arch,
                               struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST], size_t *count) {
  const struct mxq_family_facts *family;
  enum mxq_status status = MXQ_OK;
  size_t found = 0;
  for (size_t i = 0; (family = mxq_family_at(i)) != NULL; ++i) {
    if (family->family == MXQ_FAMILY_RELAYOUT) continue; /* not for planning: below */
    status = mxq_kernel_id_choose(variant, family->family, arch, &ids[found]);
    if (status == MXQ_UNSUPPORTED) continue;
    MXQ_TRY(status);
    ++found;
  }
  if (!found) return status;
  if (variant->scales != MXQ_SCALES_LIN) {
    const struct mxq_variant moves =
        mxq_relayout_variant(mxq_mode_scale_bits(variant->mode), variant->scales);
    MXQ_TRY(mxq_kernel_id_choose(&moves, MXQ_FAMILY_RELAYOUT, arch, &ids[found++]));
  }
  *count = found;
  return MXQ_OK;
}
