/* SPDX-License-Identifier: MIT
 *
 * The tensors of support.h on a device, guards included.
 */
#ifndef MXQ_TESTS_DEVICE_TENSORS_H
#define MXQ_TESTS_DEVICE_TENSORS_H

#include "device.h"
#include "support.h"

struct device_tensors {
  int device;
  unsigned char *bases[5]; /* in, out[0], out[1], scale[0], scale[1], each with its guards */
};

/* Copies of the host tensors as they are: input, poisoned outputs and guards. */
enum mxq_status device_tensors_make(int device, const struct support_tensors *host,
                                    struct device_tensors *tensors);
void device_tensors_free(struct device_tensors *tensors);
struct mxq_pointers device_tensors_pointers(const struct device_tensors *tensors,
                                            const struct support_tensors *host);

/* Copies all of it back over the host tensors. */
enum mxq_status device_tensors_download(const struct device_tensors *tensors,
                                        struct support_tensors *host);
enum mxq_status device_tensors_upload(const struct device_tensors *tensors,
                                      const struct support_tensors *host);

#endif
