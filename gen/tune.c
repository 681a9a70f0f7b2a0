/* SPDX-License-Identifier: MIT */
#include "tune.h"

#include "schedule.h"
#include "status.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct mxq_tune_row rows[] = {
#define MXQ_TUNE(arch, SIZE, OP, LAYOUT, in_bits, out_bits, tile_n, tile_k, PATH)         \
  {arch,    MXQ_SIZE_##SIZE, MXQ_OP_##OP,    MXQ_LAYOUT_##LAYOUT, in_bits, out_bits, tile_n, \
   tile_k, MXQ_PATH_##PATH},
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
                                       const struct mxq_arch *arch, enum mxq_size_class size) {
  const struct mxq_traits traits = mxq_traits_of(variant);
  for (size_t i = 0; i < COUNT(rows); ++i)
    if (is_for(&rows[i], variant, &traits, arch, size)) return &rows[i];
  return NULL;
}

/* The rule for what was not measured. A launch takes the latency of one tile and then the larger of
 * bytes / bandwidth and instructions / issue rate. Large: latency does not count, and the first
 * schedule in the order of preference moves the most bytes at a time in the longest rows. Cached: all tiles
 * are on the device at once, so that the latency counts once, and grows with the tile; small ones go on, as long as rows have
 * 64 bytes. Tiny: the fewest steps one after the other, so a direct schedule, the smallest. */
static int is_better(const struct mxq_schedule *row, const struct mxq_schedule *than,
                     enum mxq_size_class size) {
  const unsigned mine = (unsigned)row->tile_n * row->tile_k;
  const unsigned its = (unsigned)than->tile_n * than->tile_k;
  if (size == MXQ_SIZE_LARGE) return 0;
  if (row->path != than->path) return (row->path == MXQ_PATH_DIRECT) == (size == MXQ_SIZE_TINY);
  return mine < its;
}

static int is_of(const struct mxq_schedule *schedule, const struct mxq_tune_row *row) {
  return row && row->tile_n == schedule->tile_n && row->tile_k == schedule->tile_k &&
         row->path == schedule->path;
}

/* The schedule of `tuned`, where the variant has it and the arch can run it, else the rule's. */
static enum mxq_status choose(const struct mxq_variant *variant, enum mxq_family family,
                              const struct mxq_arch *arch, enum mxq_size_class size,
                              const struct mxq_tune_row *tuned, struct mxq_kernel_id *id) {
  const struct mxq_schedule *row, *best = NULL;
  enum mxq_status status = MXQ_UNSUPPORTED;
  for (size_t i = 0; (row = mxq_schedule_at(variant, family, i)); ++i) {
    const struct mxq_kernel_id candidate = mxq_schedule_kernel(variant, row);
    const enum mxq_status runs = mxq_kernel_id_check_arch(&candidate, arch);
    if (runs != MXQ_OK && !best) status = runs;
    if (runs != MXQ_OK || (best && !is_of(row, tuned) && !is_better(row, best, size))) continue;
    *id = candidate;
    if (is_of(row, tuned)) return MXQ_OK;
    best = row;
    status = MXQ_OK;
  }
  return status;
}

enum mxq_status mxq_tune_choose(const struct mxq_variant *variant, enum mxq_family family,
                                const struct mxq_arch *arch, enum mxq_size_class size,
                                struct mxq_kernel_id *id) {
  const struct mxq_tune_row *tuned =
      family == MXQ_FAMILY_TMA ? find(variant, arch, size) : NULL;
  return choose(variant, family, arch, size, tuned, id);
}

enum mxq_status mxq_tune_by_rule(const struct mxq_variant *variant, enum mxq_family family,
                                 const struct mxq_arch *arch, enum mxq_size_class size,
                                 struct mxq_kernel_id *id) {
  return choose(variant, family, arch, size, NULL, id);
}
