/* SPDX-License-Identifier: MIT
 *
 * What a kernel is meant to reach, by its variant and what it moves.
 */
#include "axes.h"
#include "bench.h"

#define IN(layout) (1u << MXQ_LAYOUT_##layout)

enum { dram_bytes = 100 * 1000 * 1000, tiny_bytes = 1000 * 1000 };

/* The first row that fits decides. 0, or no layouts: any. */
struct rule {
  enum bench_class class;
  double percent; /* of the straight kernel, at least */
  double over_us; /* over the straight kernel, at most; 0: no target */
  unsigned op, family, in_bits, out_bits, block, layouts;
  unsigned power_of_two; /* N is one */
  unsigned aligned;      /* N and K are lengths that fast kernels take */
  unsigned lacks_narrow; /* kernels convert to e2m1 without the hardware */
  unsigned plain;        /* bf16 to e4m3 alone */
};

static const struct rule rules[] = {
    {BENCH_DRAM, .percent = 85, .family = MXQ_FAMILY_ANY, .aligned = 1},
    {BENCH_DRAM, .family = MXQ_FAMILY_ANY}, /* no target: the limit is that of aligned lines */
    {BENCH_DRAM, .percent = 95, .op = MXQ_OP_DEQUANTIZE},
    {BENCH_DRAM, .percent = 85, .in_bits = 32, .block = 128, .layouts = IN(SQ)},
    {BENCH_DRAM, .percent = 90, .layouts = IN(ROWCOL) | IN(ROWCOLT) | IN(SQSQT)},
    {BENCH_DRAM, .percent = 90, .out_bits = 4, .lacks_narrow = 1},
    {BENCH_DRAM, .percent = 95, .out_bits = 4},
    {BENCH_DRAM, .percent = 98, .layouts = IN(ROW)},
    {BENCH_DRAM, .percent = 97, .layouts = IN(COL)},
    {BENCH_DRAM, .percent = 96, .layouts = IN(COLT) | IN(SQT), .power_of_two = 1},
    {BENCH_DRAM, .percent = 97, .layouts = IN(COLT) | IN(SQT)},
    {BENCH_DRAM, .percent = 96, .layouts = IN(SQ)},
    {BENCH_L2, .percent = 92, .layouts = IN(ROW), .plain = 1},
    {BENCH_L2, .percent = 85, .layouts = IN(COLT), .plain = 1},
    {BENCH_TINY, .over_us = 0.2, .layouts = IN(ROW), .plain = 1},
    {BENCH_TINY, .over_us = 0.5, .layouts = IN(COLT), .plain = 1},
    {BENCH_TINY, .over_us = 0.8, .plain = 1},
};

static int is_plain(const struct mxq_variant *variant) {
  return variant->op == MXQ_OP_QUANTIZE && variant->in == MXQ_TYPE_BF16 &&
         variant->out == MXQ_TYPE_E4M3;
}

static int fits(const struct rule *rule, const struct bench_row *row, const struct mxq_arch *arch) {
  const struct mxq_variant *variant = &row->id.variant;
  const int64_t n = row->shape.n, k = row->shape.k;
  return (!rule->op || rule->op == variant->op) &&
         (!rule->family || rule->family == row->id.family) &&
         (!rule->in_bits || rule->in_bits == mxq_type_facts(variant->in)->bits) &&
         (!rule->out_bits || rule->out_bits == mxq_type_facts(variant->out)->bits) &&
         (!rule->block || rule->block == variant->block) &&
         (!rule->layouts || rule->layouts >> variant->layout & 1) &&
         (!rule->power_of_two || (n & (n - 1)) == 0) && (!rule->aligned || (n | k) % 16 == 0) &&
         (!rule->lacks_narrow || !arch->use_narrow) && (!rule->plain || is_plain(variant));
}

enum bench_class bench_class_of(const struct bench_row *row) {
  const uint64_t bytes = row->read + row->written;
  if (bytes >= dram_bytes) return BENCH_DRAM;
  if (bytes < tiny_bytes) return BENCH_TINY;
  return row->in_l2 ? BENCH_L2 : BENCH_BETWEEN;
}

const char *bench_class_name(enum bench_class class) {
  static const char *const names[] = {"DRAM", "L2", "tiny", "between"};
  return names[class];
}

void bench_target_of(const struct bench_row *row, const struct mxq_arch *arch,
                     struct bench_target *target) {
  const enum bench_class class = bench_class_of(row);
  *target = (struct bench_target){.percent = 0};
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
    if (rules[i].class != class || !fits(&rules[i], row, arch)) continue;
    target->percent = rules[i].percent;
    target->over_us = rules[i].over_us;
    break;
  }
  const double us = bench_median(&row->kernel_us), straight = bench_median(&row->straight_us);
  target->exists = target->percent > 0 || target->over_us > 0;
  target->met = target->percent > 0 ? 100 * straight >= target->percent * us
                                    : us - straight <= target->over_us;
}
