/* SPDX-License-Identifier: MIT */
#ifndef MXQ_TILE_MAPS_H
#define MXQ_TILE_MAPS_H

#include "tensor_plan.h"

/* Plans and checks the maps of a kernel that moves tiles through the tensor copy engine. The plan
 * has its lengths, strides and geometry. */
enum mxq_status mxq_tile_maps_plan(struct mxq_tensor_plan *plan);

#endif
