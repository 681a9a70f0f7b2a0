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
  unsigned char *bases[6]; /* in, in_scale, out[0], out[1], scale[0], scale[1], with their guards */
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

/* One run on a device: host tensors with the CPU path's results, and tensors of the same input on
 * the device, whose outputs are poisoned. */
struct device_run {
  struct mxq_shape shape;
  struct support_tensors expected, actual;
  struct device_tensors on_device;
  struct mxq_pointers want, got, at; /* of expected, of actual, on the device */
};
enum mxq_status device_run_make(int device, const struct mxq_variant *variant,
                                const struct mxq_shape *shape, uint64_t seed,
                                struct device_run *run);
void device_run_free(struct device_run *run);

/* Downloads everything and adds up differences, guards that were written, and an input that was. */
enum mxq_status device_run_faults(const struct mxq_variant *variant, struct device_run *run,
                                  uint64_t *faults);
/* Downloads everything; 1 if every output byte is still poison. */
int device_run_untouched(struct device_run *run);

#endif
