/* SPDX-License-Identifier: MIT */
#include <mxq/mxq.h>

#include "shape.h"
#include "status.h"

enum mxq_status mxq_sizes(const struct mxq_variant *variant, const struct mxq_shape *shape,
                          struct mxq_byte_counts *bytes) {
  MXQ_FAIL_IF(!variant || !bytes, MXQ_INVALID_ARGUMENT, "%s is NULL; mxq_sizes needs it",
              variant ? "bytes" : "variant");
  MXQ_TRY(mxq_variant_check(variant));
  return mxq_shape_measure(variant, shape, bytes);
}
