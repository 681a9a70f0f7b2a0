/* SPDX-License-Identifier: MIT
 *
 * What libmxq-aot has in place of templates, NVRTC and the disk cache: nothing is found there.
 */
#include <string.h>

#include "aot.h"
#include "build.h"
#include "status.h"

static const char reason[] = "this library (libmxq-aot) holds no compiler; libmxq does";

enum mxq_status mxq_nvrtc_search_read(const struct mxq_allocator *allocator,
                                      const char *config_path, struct mxq_nvrtc_search *search) {
  (void)allocator, (void)config_path;
  memset(search, 0, sizeof *search);
  return MXQ_OK;
}

void mxq_nvrtc_search_free(const struct mxq_allocator *allocator, struct mxq_nvrtc_search *search) {
  (void)allocator, (void)search;
}

enum mxq_status mxq_nvrtc_open(const struct mxq_nvrtc_search *search, struct mxq_nvrtc *nvrtc) {
  (void)search, (void)nvrtc;
  MXQ_FAIL(MXQ_NO_NVRTC, "%s", reason);
}

enum mxq_status mxq_store_init(const struct mxq_allocator *allocator, const char *dirs,
                               uint64_t size_bytes, struct mxq_store *store) {
  (void)allocator, (void)dirs, (void)size_bytes;
  memset(store, 0, sizeof *store);
  return MXQ_OK;
}

void mxq_store_free(const struct mxq_allocator *allocator, struct mxq_store *store) {
  (void)allocator, (void)store;
}

enum mxq_status mxq_build(struct mxq_context *context, const struct mxq_kernel_id *id,
                          const struct mxq_arch *arch, enum mxq_build_from from,
                          struct mxq_image *image) {
  (void)from, (void)image;
  return mxq_aot_missing(context, id, arch, "registered set", reason);
}
