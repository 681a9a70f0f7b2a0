/* SPDX-License-Identifier: MIT
 *
 * Every float32 as an element.
 */
#include "axes.h"
#include "status.h"
#include "verify_sweep.h"

#define CASTS (UINT64_C(1) << 32)

/* Each block holds 31 neighbouring float32 and one that keeps the multiplier at 1: the largest
 * below twice the type's largest power of two, to which `floor` gives the scale 2^0. What is larger
 * has a multiplier of its own. */
struct casts {
  uint64_t first, end;
  uint32_t anchor;
};

static uint32_t anchor_of(const struct mxq_type_facts *out) {
  return ((uint32_t)(out->emax + 127) << 23) | 0x7FFFFF;
}

uint64_t verify_casts_end(uint64_t first, unsigned out) {
  const uint32_t anchor = anchor_of(mxq_type_facts(out));
  const uint64_t sign = first & 0x80000000u;
  const uint64_t ends[] = {sign + anchor + 1, sign + 0x7F800000u, sign + 0x80000000u};
  size_t i = 0;
  while (first >= ends[i]) i++;
  return ends[i];
}

static uint32_t casts_bits(void *user, uint64_t block, uint64_t element) {
  const struct casts *casts = user;
  const uint64_t place = block % VERIFY_CAST_BLOCK; /* of the anchor: in every lane once */
  if (element == place) return casts->anchor;
  const uint64_t pattern =
      casts->first + block * (VERIFY_CAST_BLOCK - 1) + element - (element > place);
  return (uint32_t)(pattern < casts->end ? pattern : casts->end - 1);
}

void verify_fill_casts(const struct check_region *region, uint64_t seed, unsigned char *base) {
  struct casts casts = {.first = seed, .anchor = anchor_of(mxq_type_facts(region->variant.out))};
  casts.end = verify_casts_end(seed, region->variant.out);
  check_region_poison(region, base);
  verify_fill_wide(region, base, casts_bits, &casts);
}

enum mxq_status verify_run_casts(struct verify_runner *runner, struct verify_task *task) {
  const uint64_t part = CASTS / VERIFY_CAST_PARTS, end = part * (task->part + 1u);
  struct verify_sweep sweep = {
      .what = "every float32", .n = VERIFY_N, .k = VERIFY_K, .fill = verify_fill_casts};
  sweep.first = part * task->part;
  sweep.step = (uint64_t)VERIFY_N * VERIFY_K / VERIFY_CAST_BLOCK * (VERIFY_CAST_BLOCK - 1);
  while (sweep.first < end && !task->details) {
    const uint64_t kind = verify_casts_end(sweep.first, task->id.variant.out);
    sweep.end = kind < end ? kind : end;
    MXQ_TRY(verify_sweep_run(runner, &sweep, task));
    sweep.first = sweep.end;
  }
  return MXQ_OK;
}
