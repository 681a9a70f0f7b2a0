/* SPDX-License-Identifier: MIT */
#include "tune.h"

#include <string.h>

#include "schedule.h"
#include "status.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct mxq_tune_row rows[] = {
#define MXQ_TUNE(arch, SIZE, OP, LAYOUT, in_bits, out_bits, tile_n, tile_k, PATH) \
  {arch,     MXQ_SIZE_##SIZE, MXQ_OP_##OP, MXQ_LAYOUT_##LAYOUT, in_bits,          \
   out_bits, tile_n,          tile_k,      MXQ_PATH_##PATH},
#include "tune.def"
#undef MXQ_TUNE
};

const char *mxq_size_class_name(unsigned size) {
  static const char *const names[MXQ_SIZE_CLASSES] = {"tiny", "cached", "large"};
  return size < MXQ_SIZE_CLASSES ? names[size] : "unknown";
}

enum mxq_size_class mxq_size_class_of(uint64_t bytes, const struct mxq_capacity *capacity) {
  if (bytes <= (uint64_t)capacity->multiprocessors * MXQ_TINY_BYTES) return MXQ_SIZE_TINY;
  return bytes <= capacity->l2_bytes / MXQ_CACHED_PART ? MXQ_SIZE_CACHED : MXQ_SIZE_LARGE;
}

const struct mxq_tune_row *mxq_tune_at(size_t index) {
  return index < COUNT(rows) ? &rows[index] : NULL;
}

static int is_for(const struct mxq_tune_row *row, const struct mxq_variant *variant,
                  const struct mxq_traits *traits, const struct mxq_arch *arch,
                  enum mxq_size_class size) {
  return row->arch == arch->number && row->size == size && (unsigned)row->op == variant->op &&
         (unsigned)row->layout == variant->layout && row->in_bits == traits->in_bits &&
         row->out_bits == traits->out_bits;
}

static const struct mxq_tune_row *find(const struct mxq_variant *variant,
                                       const struct mxq_traits *traits, const struct mxq_arch *arch,
                                       enum mxq_size_class size) {
  for (size_t i = 0; i < COUNT(rows); ++i)
    if (is_for(&rows[i], variant, traits, arch, size)) return &rows[i];
  return NULL;
}

/* Bytes of codes that lie together in memory, of a row of a tile. */
static unsigned row_bytes(const struct mxq_traits *traits, const struct mxq_schedule *row) {
  return (traits->column_major ? row->tile_n : row->tile_k) * traits->out_bits / 8;
}

/* Whether all tiles of cached tensors can be on the device at once and still move by whole lines:
 * 4096 elements, 64 bytes of codes. */
static int is_for_cache(const struct mxq_traits *traits, const struct mxq_schedule *row) {
  return row->path == MXQ_PATH_USUAL && (unsigned)row->tile_n * row->tile_k >= 4096 &&
         (traits->dequantize || row_bytes(traits, row) >= 64);
}

/* The rule for what was not measured. A launch takes the latency of one tile, then the larger of
 * bytes / bandwidth and instructions / issue rate (docs/performance.md).
 *   large   the latency does not count: the first in the order of preference, which moves the most
 *           bytes at a time for the fewest instructions.
 *   cached  one wave of blocks, so the latency counts once, and grows with what a block does: the
 *           smallest tile of is_for_cache.
 *   tiny    nothing but latency: a direct schedule, whose threads have the fewest steps one after
 *           the other though the most instructions in all, else the smallest tile.
 * Generic kernels are all for what nothing else takes, so they have one schedule for all sizes. */
static int is_better(const struct mxq_traits *traits, const struct mxq_schedule *row,
                     const struct mxq_schedule *than, enum mxq_size_class size) {
  const unsigned mine = (unsigned)row->tile_n * row->tile_k;
  const unsigned its = (unsigned)than->tile_n * than->tile_k;
  if (size == MXQ_SIZE_LARGE || row->family != MXQ_FAMILY_TMA) return 0;
  if (size == MXQ_SIZE_CACHED) return is_for_cache(traits, row) && mine < its;
  if (row->path != than->path) return row->path == MXQ_PATH_DIRECT;
  return mine < its;
}

static int is_of(const struct mxq_schedule *schedule, const struct mxq_tune_row *row) {
  return row && row->tile_n == schedule->tile_n && row->tile_k == schedule->tile_k &&
         row->path == schedule->path;
}

enum mxq_status mxq_tune_choose(const struct mxq_variant *variant, enum mxq_family family,
                                const struct mxq_arch *arch, enum mxq_size_class size,
                                struct mxq_kernel_id *id) {
  const struct mxq_traits traits = mxq_traits_of(variant);
  const struct mxq_tune_row *tuned =
      family == MXQ_FAMILY_TMA ? find(variant, &traits, arch, size) : NULL;
  const struct mxq_schedule *row = NULL, *best = NULL;
  enum mxq_status status = MXQ_UNSUPPORTED;
  while ((row = mxq_schedule_after(variant, &traits, family, row))) {
    if (best && !is_of(row, tuned) && !is_better(&traits, row, best, size)) continue;
    const struct mxq_kernel_id candidate = mxq_schedule_kernel(variant, row);
    const enum mxq_status runs = mxq_kernel_id_check_arch(&candidate, arch);
    if (runs != MXQ_OK && !best) status = runs;
    if (runs != MXQ_OK) continue;
    *id = candidate;
    if (is_of(row, tuned)) return MXQ_OK;
    best = row;
    status = MXQ_OK;
  }
  return status;
}

void mxq_tune_choose_all(const struct mxq_variant *variant, const struct mxq_arch *arch,
                         struct mxq_choices *choices) {
  const struct mxq_family_facts *family;
  struct mxq_kept_error kept;
  mxq_error_keep(&kept);
  memset(choices, 0, sizeof *choices);
  for (size_t i = 0; (family = mxq_family_at(i)); i++)
    for (unsigned size = 0; size < MXQ_SIZE_CLASSES; size++)
      (void)mxq_tune_choose(variant, family->family, arch, (enum mxq_size_class)size,
                            &choices->kernels[i][size]);
  mxq_error_restore(&kept);
}
