/* SPDX-License-Identifier: MIT */
#ifndef MXQ_POINTERS_H
#define MXQ_POINTERS_H

#include <mxq/mxq.h>

#include "driver.h"

/* Null, misaligned (to their elements) and overlapping pointers, on any device; pointers that the
 * variant has no use for. */
enum mxq_status mxq_pointers_check(const struct mxq_variant *variant,
                                   const struct mxq_byte_counts *bytes,
                                   const struct mxq_pointers *pointers);

/* The device that all pointers with bytes lie on. MXQ_INVALID_ARGUMENT names a pointer to host
 * memory, or two pointers on two devices. `*device` stays as it is where nothing has bytes. */
enum mxq_status mxq_pointers_device(const struct mxq_driver *driver,
                                    const struct mxq_byte_counts *bytes,
                                    const struct mxq_pointers *pointers, int *device);

/* mxq_pointers_device, and that the device is the wanted one. */
enum mxq_status mxq_pointers_on_device(const struct mxq_driver *driver,
                                       const struct mxq_byte_counts *bytes,
                                       const struct mxq_pointers *pointers, int device);

#endif
