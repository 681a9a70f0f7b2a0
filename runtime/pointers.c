/* SPDX-License-Identifier: MIT */
#include "pointers.h"

#include <inttypes.h>

#include "axes.h"
#include "status.h"

#define PRI_ADDRESS "0x%" PRIxPTR

enum { slot_count = 6, inputs = 2 }; /* in, in_scale, and what is written */

/* One pointer of a call. */
struct slot {
  const char *name;
  uintptr_t address;
  uint64_t bytes;
};

static void list(const struct mxq_byte_counts *bytes, const struct mxq_pointers *pointers,
                 struct slot slots[slot_count]) {
  slots[0] = (struct slot){"in", (uintptr_t)pointers->in, bytes->in};
  slots[1] = (struct slot){"in_scale", (uintptr_t)pointers->in_scale, bytes->in_scale};
  slots[2] = (struct slot){"out[0]", (uintptr_t)pointers->out[0], bytes->out[0]};
  slots[3] = (struct slot){"out[1]", (uintptr_t)pointers->out[1], bytes->out[1]};
  slots[4] = (struct slot){"scale[0]", (uintptr_t)pointers->scale[0], bytes->scale[0]};
  slots[5] = (struct slot){"scale[1]", (uintptr_t)pointers->scale[1], bytes->scale[1]};
}

static unsigned element_bytes(unsigned bits) { return bits < 8 ? 1 : bits / 8; }

static enum mxq_status check_slot(const struct slot *slot, unsigned alignment) {
  MXQ_FAIL_IF(slot->bytes && !slot->address, MXQ_INVALID_ARGUMENT,
              "%s is NULL; it needs %" PRIu64 " bytes (mxq_sizes)", slot->name, slot->bytes);
  MXQ_FAIL_IF(slot->address % alignment != 0, MXQ_INVALID_ARGUMENT,
              "%s is " PRI_ADDRESS "; it must be aligned to its elements of %u bytes", slot->name,
              slot->address, alignment);
  MXQ_FAIL_IF(slot->bytes > UINTPTR_MAX - slot->address, MXQ_INVALID_ARGUMENT,
              "%s is " PRI_ADDRESS "; %" PRIu64 " bytes from there run past the last address",
              slot->name, slot->address, slot->bytes);
  return MXQ_OK;
}

static enum mxq_status check_overlap(const struct slot *a, const struct slot *b) {
  if (!a->bytes || !b->bytes) return MXQ_OK;
  MXQ_FAIL_IF(a->address < b->address + b->bytes && b->address < a->address + a->bytes,
              MXQ_INVALID_ARGUMENT,
              "%s (%" PRIu64 " bytes at " PRI_ADDRESS ") and %s (%" PRIu64 " bytes at " PRI_ADDRESS
              ") overlap; an output may share no byte with the input or another output",
              a->name, a->bytes, a->address, b->name, b->bytes, b->address);
  return MXQ_OK;
}

/* Pointers that a variant has no use for, by its slots. */
static enum mxq_status check_unused(const struct mxq_variant *variant, const struct slot *slots) {
  const int dequantize = variant->op == MXQ_OP_DEQUANTIZE;
  const int second = mxq_layout_part(variant->layout, 1) != MXQ_PART_NONE;
  const int used[slot_count] = {1, dequantize, 1, second, !dequantize, second};
  for (int i = 0; i < slot_count; i++)
    MXQ_FAIL_IF(!used[i] && slots[i].address, MXQ_INVALID_ARGUMENT, "%s is not NULL; %s",
                slots[i].name,
                i == 1       ? "quantize reads no scales"
                : dequantize ? "dequantize has one output, out[0]"
                             : "the variant's layout has no output of that number");
  return MXQ_OK;
}

enum mxq_status mxq_pointers_check(const struct mxq_variant *variant,
                                   const struct mxq_byte_counts *bytes,
                                   const struct mxq_pointers *pointers) {
  const unsigned in = element_bytes(mxq_type_facts(variant->in)->bits);
  const unsigned out = element_bytes(mxq_type_facts(variant->out)->bits);
  const unsigned scale = element_bytes(mxq_mode_facts(variant->mode)->scale_bits);
  const unsigned alignments[slot_count] = {in, scale, out, out, scale, scale};
  struct slot slots[slot_count];
  MXQ_FAIL_IF(!pointers, MXQ_INVALID_ARGUMENT, "pointers is NULL; give a struct mxq_pointers");
  list(bytes, pointers, slots);
  MXQ_TRY(check_unused(variant, slots));
  for (int i = 0; i < slot_count; i++) MXQ_TRY(check_slot(&slots[i], alignments[i]));
  for (int i = inputs; i < slot_count; i++)
    for (int j = 0; j < i; j++) MXQ_TRY(check_overlap(&slots[j], &slots[i]));
  return MXQ_OK;
}

static enum mxq_status device_of(const struct mxq_driver *driver, const struct slot *slot,
                                 int *device) {
  CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  unsigned type = 0;
  int ordinal = -1;
  void *values[] = {&type, &ordinal};
  MXQ_CUDA_TRY(driver, cuPointerGetAttributes(2, names, values, (CUdeviceptr)slot->address));
  MXQ_FAIL_IF(
      type != CU_MEMORYTYPE_DEVICE, MXQ_INVALID_ARGUMENT,
      "%s (" PRI_ADDRESS
      ") is host memory, or no memory that the driver knows; copy the tensor to a device, or "
      "pass MXQ_DEVICE_CPU to compute on the CPU",
      slot->name, slot->address);
  *device = ordinal;
  return MXQ_OK;
}

enum mxq_status mxq_pointers_device(const struct mxq_driver *driver,
                                    const struct mxq_byte_counts *bytes,
                                    const struct mxq_pointers *pointers, int *device) {
  const struct slot *first = NULL;
  struct slot slots[slot_count];
  int found = 0;
  list(bytes, pointers, slots);
  for (int i = 0; i < slot_count; i++) {
    int one = 0;
    if (!slots[i].bytes) continue;
    MXQ_TRY(device_of(driver, &slots[i], &one));
    MXQ_FAIL_IF(first && one != found, MXQ_INVALID_ARGUMENT,
                "%s lies on cuda:%d, but %s on cuda:%d; all tensors must lie on one device",
                first->name, found, slots[i].name, one);
    if (!first) first = &slots[i];
    found = one;
  }
  if (first) *device = found;
  return MXQ_OK;
}

enum mxq_status mxq_pointers_on_device(const struct mxq_driver *driver,
                                       const struct mxq_byte_counts *bytes,
                                       const struct mxq_pointers *pointers, int device) {
  int found = device;
  MXQ_TRY(mxq_pointers_device(driver, bytes, pointers, &found));
  MXQ_FAIL_IF(found != device, MXQ_INVALID_ARGUMENT,
              "the tensors lie on cuda:%d, but the kernel is for cuda:%d; get the kernel for the "
              "tensors' device",
              found, device);
  return MXQ_OK;
}
