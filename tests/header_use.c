/* SPDX-License-Identifier: MIT
 *
 * Compiled as C99 and as C++17, with no folder of CUDA's: what the public headers must work as.
 */
#include <mxq/mxq.h>

uint64_t use_headers(const struct mxq_variant *variant);

uint64_t use_headers(const struct mxq_variant *variant) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_shape shape = mxq_shape_dense(2, 3, 4);
  mxq_stream stream = NULL;
  enum mxq_status (*create)(const struct mxq_config *, struct mxq_context **) = mxq_context_create;
  return config.size + mxq_data_offset(variant, &shape, 0, 1, 2, 3) +
         mxq_scale_offset(variant, &shape, 0, 1, 2, 3) + (stream == NULL) + (create != NULL) +
         mxq_layout_part(MXQ_LAYOUT_COLT, 0) + MXQ_VERSION_MAJOR;
}
