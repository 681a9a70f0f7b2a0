/* SPDX-License-Identifier: MIT
 *
 * Somebody's shared library with a copy of mxq inside it, or linked to it. COPY is the name of its
 * only function.
 */
#include <mxq/mxq.h>

#include "copy.h"

__attribute__((visibility("default"))) int COPY(const char *name, struct copy_result *result) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_context *context = 0;
  struct mxq_variant variant;
  config.cache_dirs = "/dev/null/there is no cache"; /* nothing comes from another copy */
  if (mxq_variant_parse(name, &variant) != MXQ_OK) return 1;
  if (mxq_context_create(&config, &context) != MXQ_OK) return 2;
  result->prepared = mxq_prepare(context, "90a", &variant, 1);
  result->error = mxq_last_error();
  result->version = mxq_version();
  mxq_context_destroy(context);
  return 0;
}
