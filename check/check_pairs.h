/* SPDX-License-Identifier: MIT
 *
 * Pairwise sets: few of many candidates, among which every two values of different properties that
 * one candidate has stand together in a picked one.
 */
#ifndef MXQ_CHECK_PAIRS_H
#define MXQ_CHECK_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/status.h>

enum { CHECK_PAIRS_PROPERTIES = 12, CHECK_PAIRS_VALUES = 64 };

/* `properties` holds a row of `width` values for each candidate. Writes the numbers of those
 * picked, none twice, into `picked`, which has room for all. Another seed gives another set.
 * MXQ_INTERNAL: more properties, or more values of one, than the limits above. */
enum mxq_status check_pairs_pick(const uint32_t *properties, size_t candidates, unsigned width,
                                 uint64_t seed, size_t *picked, size_t *count);

#endif
