/* SPDX-License-Identifier: MIT
 *
 * Reference path, rounding: rows times multipliers to codes, a pair at a time (cpu_convert.h).
 */
#ifndef MXQ_CPU_ROUND_H
#define MXQ_CPU_ROUND_H

#include "cpu_convert.h"

void mxq_cpu_round_f32(const void *row, size_t count, const struct mxq_cpu_multipliers *multipliers,
                       const struct mxq_cpu_format *format, uint32_t *words);
void mxq_cpu_round_bf16(const void *row, size_t count,
                        const struct mxq_cpu_multipliers *multipliers,
                        const struct mxq_cpu_format *format, uint32_t *words);
void mxq_cpu_round_f16(const void *row, size_t count, const struct mxq_cpu_multipliers *multipliers,
                       const struct mxq_cpu_format *format, uint32_t *words);
void mxq_cpu_round_blocks_f32(const void *row, size_t blocks, size_t block,
                              const float *multipliers, const struct mxq_cpu_format *format,
                              uint32_t *words);
void mxq_cpu_round_blocks_bf16(const void *row, size_t blocks, size_t block,
                               const float *multipliers, const struct mxq_cpu_format *format,
                               uint32_t *words);
void mxq_cpu_round_blocks_f16(const void *row, size_t blocks, size_t block,
                              const float *multipliers, const struct mxq_cpu_format *format,
                              uint32_t *words);

#endif
