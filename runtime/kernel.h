/* SPDX-License-Identifier: MIT
 *
 * A variant on a device, and the loaded functions of its kernels.
 */
#ifndef MXQ_KERNEL_H
#define MXQ_KERNEL_H

#include <stdatomic.h>

#include <mxq/mxq.h>

#include "driver.h"
#include "kernel_id.h"
#include "tune.h"

struct mxq_loaded;

/* Immutable after mxq_kernel_get but for its reference count and the list of what was loaded.
 * Lives until its context is destroyed. On MXQ_DEVICE_CPU, `driver` and `arch` are NULL. */
struct mxq_kernel {
  struct mxq_context *context;
  struct mxq_variant variant;
  int device; /* an ordinal or MXQ_DEVICE_CPU */
  const struct mxq_driver *driver;
  const struct mxq_arch *arch;  /* of the device */
  struct mxq_capacity capacity; /* and what else of it decides schedules */
  struct mxq_choices choices;   /* of the variant on `arch` */
  atomic_int references;
  struct mxq_kernel *next;             /* in its bucket of the context's table */
  _Atomic(struct mxq_loaded *) loaded; /* kernels of this variant loaded for the device */
};

/* The function of `id` on the kernel's device, with its shared memory allowed and its code loaded
 * into the context that is current, which must be one of the device (mxq_device_enter). Finds or
 * compiles the image when the device has not loaded it yet.
 *
 * The handle is a CUkernel cast to CUfunction, as the driver allows for cuLaunchKernelEx: it is
 * good in every context of the device, not only in the one that was current here. */
enum mxq_status mxq_kernel_function(struct mxq_kernel *kernel, const struct mxq_kernel_id *id,
                                    CUfunction *function);

/* Whether mxq_kernel_function would find `id` loaded, for the current context or, where none is
 * current, for any: no lock, nothing loaded, nothing compiled. What a capturing stream may use. */
int mxq_kernel_is_loaded(const struct mxq_kernel *kernel, const struct mxq_kernel_id *id);

#endif
