/* SPDX-License-Identifier: MIT */
#include "device_tensors.h"

#include <string.h>

enum { buffer_count = 6 };

static const struct support_buffer *buffer_at(const struct support_tensors *host, int index) {
  if (index < 2) return index ? &host->in_scale : &host->in;
  return index < 4 ? &host->out[index - 2] : &host->scale[index - 4];
}

enum mxq_status device_tensors_upload(const struct device_tensors *tensors,
                                      const struct support_tensors *host) {
  enum mxq_status status = MXQ_OK;
  for (int i = 0; status == MXQ_OK && i < buffer_count; i++)
    status = mxq_device_upload(tensors->device, tensors->bases[i], buffer_at(host, i)->base,
                               buffer_at(host, i)->total);
  return status;
}

enum mxq_status device_tensors_download(const struct device_tensors *tensors,
                                        struct support_tensors *host) {
  enum mxq_status status = MXQ_OK;
  for (int i = 0; status == MXQ_OK && i < buffer_count; i++)
    status = mxq_device_download(tensors->device, buffer_at(host, i)->base, tensors->bases[i],
                                 buffer_at(host, i)->total);
  return status;
}

enum mxq_status device_tensors_make(int device, const struct support_tensors *host,
                                    struct device_tensors *tensors) {
  enum mxq_status status = MXQ_OK;
  memset(tensors, 0, sizeof *tensors);
  tensors->device = device;
  for (int i = 0; status == MXQ_OK && i < buffer_count; i++) {
    void *base = NULL;
    status = mxq_device_allocate(device, buffer_at(host, i)->total, &base);
    tensors->bases[i] = base;
  }
  if (status == MXQ_OK) status = device_tensors_upload(tensors, host);
  if (status != MXQ_OK) device_tensors_free(tensors);
  return status;
}

void device_tensors_free(struct device_tensors *tensors) {
  for (int i = 0; i < buffer_count; i++) mxq_device_free(tensors->device, tensors->bases[i]);
  memset(tensors->bases, 0, sizeof tensors->bases);
}

static void *data_at(const struct device_tensors *tensors, const struct support_tensors *host,
                     int index) {
  if (index > 0 && !buffer_at(host, index)->size) return NULL;
  return tensors->bases[index] + SUPPORT_GUARD_BYTES;
}

struct mxq_pointers device_tensors_pointers(const struct device_tensors *tensors,
                                            const struct support_tensors *host) {
  const struct mxq_pointers pointers = {
      data_at(tensors, host, 0),
      data_at(tensors, host, 1),
      {data_at(tensors, host, 2), data_at(tensors, host, 3)},
      {data_at(tensors, host, 4), data_at(tensors, host, 5)},
  };
  return pointers;
}
