/* SPDX-License-Identifier: MIT */
#include "verify_sweep.h"

#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "text.h"

struct verify_blocks verify_blocks_of(const struct mxq_variant *variant,
                                      const struct mxq_shape *shape) {
  struct verify_blocks blocks = {.grid = mxq_scale_grid_of(variant, shape, 0)};
  blocks.elements = (uint64_t)blocks.grid.block_n * blocks.grid.block_k;
  blocks.count = blocks.grid.blocks_n * blocks.grid.blocks_k;
  return blocks;
}

void verify_fill_wide(const struct check_region *region, unsigned char *base,
                      verify_bits_fn bits_of, void *user) {
  const struct verify_blocks blocks = verify_blocks_of(&region->variant, &region->shape);
  const size_t size = mxq_type_facts(region->variant.in)->bits / 8;
  unsigned char *at = base + region->offsets[0];
  const uint64_t block_k = (uint64_t)blocks.grid.block_k, row_k = (uint64_t)region->shape.k;
  for (uint64_t n = 0; n < (uint64_t)region->shape.n; n++) {
    const uint64_t element = verify_element_at(&blocks, n, 0);
    uint64_t block = verify_block_at(&blocks, n, 0);
    for (uint64_t k = 0; k < row_k; block++) /* no division for each of 2^32 elements */
      for (uint64_t i = 0; i < block_k && k < row_k; i++, k++, at += size) {
        const uint32_t bits = bits_of(user, block, element + i);
        memcpy(at, &bits, size); /* little-endian */
      }
  }
}

enum mxq_status verify_sweep_run(struct verify_runner *runner, const struct verify_sweep *sweep,
                                 struct verify_task *task) {
  const struct mxq_shape shape = mxq_shape_dense(1, sweep->n, sweep->k);
  struct verify_batch *batch = text_allocate(1, sizeof *batch);
  struct verify_slot slot = {.what = sweep->what, .fill = sweep->fill};
  enum mxq_status status = check_region_plan(&task->id.variant, &shape, 0, &slot.region);
  if (status == MXQ_OK) status = verify_batch_add(batch, &slot);
  for (uint64_t seed = sweep->first; seed < sweep->end && status == MXQ_OK && !task->details;
       seed += sweep->step) {
    batch->slots[0].seed = seed;
    status = verify_batch_run(runner, batch, task);
  }
  free(batch);
  return status;
}

/* Scale layouts, block lengths and second parts change nothing of how a value is computed. */
unsigned verify_parts(const struct mxq_kernel_id *id, enum verify_check check) {
  const struct mxq_variant *variant = &id->variant;
  const unsigned kind = mxq_layout_part(variant->layout, 0);
  const int square = kind & MXQ_PART_ALONG_N && kind & MXQ_PART_ALONG_K;
  const int plain = variant->scales == MXQ_SCALES_LIN && !mxq_layout_part(variant->layout, 1);
  const int quantize = variant->op == MXQ_OP_QUANTIZE;
  if (check == VERIFY_SCALES) return verify_scale_parts(id);
  if (id->family == MXQ_FAMILY_RELAYOUT) return 0;
  if (check == VERIFY_SHAPES) return 1;
  if (!plain) return 0;
  if (check == VERIFY_MAXIMA) return quantize && variant->block == (square ? 16 : 32);
  if (check == VERIFY_CODES) return !quantize && variant->block == 32;
  const int moves = variant->layout == MXQ_LAYOUT_ROW ||
                    (variant->layout == MXQ_LAYOUT_COLT && id->family == MXQ_FAMILY_TMA);
  const int casts = quantize && variant->in == MXQ_TYPE_F32 && variant->mode == MXQ_MODE_FLOOR;
  return casts && moves && variant->block == VERIFY_CAST_BLOCK ? VERIFY_CAST_PARTS : 0;
}
