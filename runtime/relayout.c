/* SPDX-License-Identifier: MIT */
#include "relayout.h"

#include <inttypes.h>

#include "axes.h"
#include "cpu.h"
#include "shape.h"
#include "status.h"

static const char *token_of(unsigned scales) {
  const struct mxq_axis_value *value;
  for (size_t i = 0; (value = mxq_axis_at(MXQ_AXIS_SCALES, 0, i)); i++)
    if (value->number == scales) return value->token;
  return "no scale layout";
}

/* One side: the variant with its scale layout must be legal; its bytes. */
static enum mxq_status check_side(const struct mxq_relayout_args *args, unsigned scales,
                                  uint64_t *bytes) {
  struct mxq_variant variant = args->variant;
  MXQ_FAIL_IF(scales > UINT8_MAX, MXQ_INVALID_ARGUMENT,
              "mxq_relayout: %u is no number of a scale layout; those of enum mxq_scales are",
              scales);
  variant.scales = (uint8_t)scales;
  MXQ_TRY(mxq_variant_check(&variant));
  return mxq_shape_scale_bytes(&variant, &args->shape, args->part, bytes);
}

static enum mxq_status check_layouts(const struct mxq_relayout_args *args,
                                     struct mxq_relayout_sizes *sizes) {
  MXQ_TRY(check_side(args, args->from, &sizes->src));
  MXQ_TRY(check_side(args, args->to, &sizes->dst));
  MXQ_FAIL_IF((args->from == MXQ_SCALES_LIN) == (args->to == MXQ_SCALES_LIN), MXQ_INVALID_ARGUMENT,
              "mxq_relayout: from %s to %s; allowed: from lin to another scale layout, or back",
              token_of(args->from), token_of(args->to));
  MXQ_FAIL_IF(args->part > 1 || mxq_layout_part(args->variant.layout, args->part) == MXQ_PART_NONE,
              MXQ_INVALID_ARGUMENT,
              "mxq_relayout: part %u; the variant's layout has no part of that number", args->part);
  return MXQ_OK;
}

static enum mxq_status check_pointer(const char *name, uintptr_t address, uint64_t bytes,
                                     unsigned alignment) {
  MXQ_FAIL_IF(bytes && !address, MXQ_INVALID_ARGUMENT,
              "mxq_relayout: %s is NULL; it needs %" PRIu64 " bytes", name, bytes);
  MXQ_FAIL_IF(address % alignment != 0, MXQ_INVALID_ARGUMENT,
              "mxq_relayout: %s is 0x%" PRIxPTR "; it must be aligned to its scales of %u bytes",
              name, address, alignment);
  MXQ_FAIL_IF(bytes > UINTPTR_MAX - address, MXQ_INVALID_ARGUMENT,
              "mxq_relayout: %s is 0x%" PRIxPTR "; %" PRIu64
              " bytes from there run past the last address",
              name, address, bytes);
  return MXQ_OK;
}

static enum mxq_status check_pointers(const struct mxq_relayout_args *args,
                                      const struct mxq_relayout_sizes *sizes) {
  const uintptr_t src = (uintptr_t)args->src, dst = (uintptr_t)args->dst;
  const unsigned alignment = mxq_mode_scale_bits(args->variant.mode) / 8;
  MXQ_TRY(check_pointer("src", src, sizes->src, alignment));
  MXQ_TRY(check_pointer("dst", dst, sizes->dst, alignment));
  MXQ_FAIL_IF(sizes->src && src < dst + sizes->dst && dst < src + sizes->src, MXQ_INVALID_ARGUMENT,
              "mxq_relayout: src (%" PRIu64 " bytes at 0x%" PRIxPTR ") and dst (%" PRIu64
              " bytes at 0x%" PRIxPTR ") overlap; they may share no byte",
              sizes->src, src, sizes->dst, dst);
  return MXQ_OK;
}

enum mxq_status mxq_relayout(struct mxq_context *context, const struct mxq_relayout_args *args,
                             int device, mxq_stream stream) {
  struct mxq_relayout_sizes sizes;
  MXQ_FAIL_IF(!context || !args, MXQ_INVALID_ARGUMENT, "%s is NULL; mxq_relayout needs it",
              context ? "args" : "context");
  MXQ_TRY(check_layouts(args, &sizes));
  MXQ_TRY(check_pointers(args, &sizes));
  MXQ_FAIL_IF(device < 0 && device != MXQ_DEVICE_CPU && device != MXQ_DEVICE_AUTO,
              MXQ_INVALID_ARGUMENT,
              "device %d; give the ordinal of a CUDA device, MXQ_DEVICE_AUTO (%d) or "
              "MXQ_DEVICE_CPU (%d)",
              device, MXQ_DEVICE_AUTO, MXQ_DEVICE_CPU);
  MXQ_FAIL_IF(device == MXQ_DEVICE_CPU && stream, MXQ_INVALID_ARGUMENT,
              "the stream is not NULL, but the scales are moved on the CPU; pass NULL");
  if (sizes.src == 0) return MXQ_OK;
  if (device != MXQ_DEVICE_CPU)
    return mxq_relayout_on_device(context, args, &sizes, device, stream);
  mxq_cpu_relayout(args);
  return MXQ_OK;
}
