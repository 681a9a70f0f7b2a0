/* SPDX-License-Identifier: MIT */
#ifndef MXQ_MAP_ENCODE_H
#define MXQ_MAP_ENCODE_H

#include "args.h"
#include "driver.h"
#include "tensor_plan.h"

/* Encodes a checked map at an address. A refusal of the driver lists everything it was given. */
enum mxq_status mxq_map_encode(const struct mxq_driver *driver, const struct mxq_map_plan *plan,
                               const void *base, const char *which, struct mxq_tensor_map *map);

/* The same map at another address. */
enum mxq_status mxq_map_move(const struct mxq_driver *driver, const void *base,
                             struct mxq_tensor_map *map);

#endif
