/* SPDX-License-Identifier: MIT */
#include "schedule.h"

#include <string.h>

#include "axes.h"

#define COUNT(table)           (sizeof(table) / sizeof((table)[0]))
#define SWIZZLE_SPAN           128u  /* bytes of a row of a swizzled tile */
#define SWIZZLE_ALIGN          1024u /* its pattern repeats after eight rows */
#define BLOCK_RESERVE          1024u /* shared memory that the system takes from every block */
#define MULTIPROCESSOR_SHARED  (228u * 1024u)
#define MULTIPROCESSOR_THREADS 2048u
#define BLOCKS_MOST            8u

static const struct mxq_family_facts families[] = {{MXQ_FAMILY_TMA, "tma", "colt.tma.cu", 1}};

/* In the order of preference (docs/performance.md). */
static const struct mxq_schedule schedules[] = {
    {MXQ_FAMILY_TMA, 16, 128, 128}, {MXQ_FAMILY_TMA, 16, 128, 64}, {MXQ_FAMILY_TMA, 16, 256, 64},
    {MXQ_FAMILY_TMA, 32, 128, 64},  {MXQ_FAMILY_TMA, 32, 256, 64},
};

static unsigned align_up(unsigned value, unsigned to) { return (value + to - 1) / to * to; }
static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

const struct mxq_family_facts *mxq_family_at(size_t index) {
  return index < COUNT(families) ? &families[index] : NULL;
}

const struct mxq_family_facts *mxq_family_facts(unsigned family) {
  for (size_t i = 0; i < COUNT(families); ++i)
    if ((unsigned)families[i].family == family) return &families[i];
  return NULL;
}

const struct mxq_schedule *mxq_schedule_at(const struct mxq_variant *variant,
                                           enum mxq_family family, size_t index) {
  const struct mxq_type_facts *in = mxq_type_facts(variant->in);
  for (size_t i = 0; in && i < COUNT(schedules); ++i) {
    if (schedules[i].family != family || schedules[i].in_bits != in->bits) continue;
    if (index-- == 0) return &schedules[i];
  }
  return NULL;
}

void mxq_geometry_of(const struct mxq_kernel_id *id, struct mxq_geometry *geometry) {
  const unsigned in_bytes = mxq_type_facts(id->variant.in)->bits / 8;
  const unsigned out_bits = mxq_type_facts(id->variant.out)->bits;
  struct mxq_geometry made = {.tile_n = id->tile_n, .tile_k = id->tile_k};
  made.columns_per_thread = 4 / in_bytes;
  made.rows_per_thread = id->variant.block;
  made.threads = made.tile_k / made.columns_per_thread * (made.tile_n / made.rows_per_thread);
  made.in_bytes = made.tile_n * made.tile_k * in_bytes;
  made.out_offset = align_up(made.in_offset + made.in_bytes, SWIZZLE_ALIGN);
  made.out_bytes = align_up(made.tile_n * out_bits / 8, SWIZZLE_SPAN) * made.tile_k;
  made.barrier_offset = align_up(made.out_offset + made.out_bytes, 8);
  made.shared_bytes = made.barrier_offset + 8;
  made.blocks_per_sm =
      least(BLOCKS_MOST, least(MULTIPROCESSOR_THREADS / made.threads,
                               MULTIPROCESSOR_SHARED / (made.shared_bytes + BLOCK_RESERVE)));
  *geometry = made;
}
