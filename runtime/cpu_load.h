/* SPDX-License-Identifier: MIT
 *
 * Reference path, the layouts read: from stored codes to a tile of them.
 */
#ifndef MXQ_CPU_LOAD_H
#define MXQ_CPU_LOAD_H

#include "cpu_store.h"

/* Fills a tile whose first code is that of the element at `place`: the inverse of
 * mxq_cpu_store_codes. */
void mxq_cpu_load_codes(const struct mxq_variant *variant, const struct mxq_shape *shape,
                        const unsigned char *codes, unsigned code_bits,
                        const struct mxq_cpu_place *place, const struct mxq_cpu_tile *tile);

#endif
