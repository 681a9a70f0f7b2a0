/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cpu.h"
#include "device_tensors.h"

enum mxq_status device_run_make(int device, const struct mxq_variant *variant,
                                const struct mxq_shape *shape, uint64_t seed,
                                struct device_run *run) {
  run->shape = *shape;
  enum mxq_status status = support_tensors_make(variant, shape, seed, &run->expected);
  if (status != MXQ_OK) return status;
  support_tensors_make(variant, shape, seed, &run->actual);
  status = device_tensors_make(device, &run->actual, &run->on_device);
  if (status != MXQ_OK) {
    support_tensors_free(&run->expected);
    support_tensors_free(&run->actual);
    return status;
  }
  run->want = support_tensors_pointers(&run->expected);
  run->got = support_tensors_pointers(&run->actual);
  run->at = device_tensors_pointers(&run->on_device, &run->actual);
  mxq_cpu_run(variant, shape, &run->want);
  return MXQ_OK;
}

void device_run_free(struct device_run *run) {
  device_tensors_free(&run->on_device);
  support_tensors_free(&run->expected);
  support_tensors_free(&run->actual);
}

enum mxq_status device_run_faults(const struct mxq_variant *variant, struct device_run *run,
                                  uint64_t *faults) {
  const enum mxq_status status = device_tensors_download(&run->on_device, &run->actual);
  if (status != MXQ_OK) return status;
  uint64_t found = support_compare(variant, &run->shape, &run->want, &run->got);
  found += !support_buffer_guards(&run->actual.in, "input");
  found += !support_buffer_guards(&run->actual.in_scale, "scales of the input");
  found += memcmp(run->actual.in.base, run->expected.in.base, run->actual.in.total) != 0;
  found += memcmp(run->actual.in_scale.base, run->expected.in_scale.base,
                  run->actual.in_scale.total) != 0;
  for (int part = 0; part < 2; part++) {
    found += !support_buffer_guards(&run->actual.out[part], part ? "out[1]" : "out[0]");
    found += !support_buffer_guards(&run->actual.scale[part], part ? "scale[1]" : "scale[0]");
  }
  *faults = found;
  return MXQ_OK;
}

static int poisoned(const struct support_buffer *buffer) {
  for (size_t i = 0; i < buffer->size; i++)
    if (buffer->data[i] != 0xFF) return 0;
  return 1;
}

int device_run_untouched(struct device_run *run) {
  if (device_tensors_download(&run->on_device, &run->actual) != MXQ_OK) return 0;
  int whole = 1;
  for (int part = 0; part < 2; part++)
    whole = whole && poisoned(&run->actual.out[part]) && poisoned(&run->actual.scale[part]);
  return whole;
}
