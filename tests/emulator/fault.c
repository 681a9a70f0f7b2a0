/* SPDX-License-Identifier: MIT */
#include "fault.h"

#include <string.h>

#include "axes.h"

struct emu_fault {
  const char *name;
  void (*plant)(struct mxq_tensor_plan *plan);
};

static uint64_t element_bytes(const struct mxq_map_plan *map) {
  return map->element == MXQ_MAP_F32 ? 4 : map->element == MXQ_MAP_U16 ? 2 : 1;
}

static void in_box_rows(struct mxq_tensor_plan *plan) { plan->in.box[1]--; }
static void in_box_inner(struct mxq_tensor_plan *plan) { plan->in.box[0]--; }
static void out_box_rows(struct mxq_tensor_plan *plan) { plan->out[0].box[1]--; }
static void out_box_inner(struct mxq_tensor_plan *plan) { plan->out[0].box[0] -= 16; }
static void in_stride(struct mxq_tensor_plan *plan) { plan->in.strides_bytes[0] += 16; }
static void in_stride_element(struct mxq_tensor_plan *plan) {
  plan->in.strides_bytes[0] += element_bytes(&plan->in);
}
static void out_stride(struct mxq_tensor_plan *plan) { plan->out[0].strides_bytes[0] -= 16; }
static void in_matrix_stride(struct mxq_tensor_plan *plan) { plan->in.strides_bytes[1] = 0; }
static void out_matrix_stride(struct mxq_tensor_plan *plan) { plan->out[0].strides_bytes[1] = 0; }
static void scale_matrix_stride(struct mxq_tensor_plan *plan) { plan->scale[0].stride_e = 0; }
static void in_swizzle(struct mxq_tensor_plan *plan) {
  plan->in.swizzle = plan->in.swizzle ? MXQ_MAP_SWIZZLE_NONE : MXQ_MAP_SWIZZLE_128B;
}
static void out_swizzle(struct mxq_tensor_plan *plan) {
  plan->out[0].swizzle = plan->out[0].swizzle ? MXQ_MAP_SWIZZLE_NONE : MXQ_MAP_SWIZZLE_128B;
}
static void out_swizzle_span(struct mxq_tensor_plan *plan) {
  plan->out[0].swizzle =
      plan->out[0].swizzle == MXQ_MAP_SWIZZLE_64B ? MXQ_MAP_SWIZZLE_128B : MXQ_MAP_SWIZZLE_64B;
}
/* Of the kernels without maps, whose accesses are 16 bytes or an element. */
static void stride_n(struct mxq_tensor_plan *plan) { plan->stride_n_bytes += 16; }
static void stride_n_element(struct mxq_tensor_plan *plan) {
  plan->stride_n_bytes += mxq_type_facts(plan->kernel.variant.in)->bits / 8;
}
static void stride_e(struct mxq_tensor_plan *plan) { plan->stride_e_bytes = 0; }
static void scale_row(struct mxq_tensor_plan *plan) { plan->scale[0].pitch++; }
static void length_k(struct mxq_tensor_plan *plan) { plan->k--; }
/* Of the second of two parts. */
static void second_stride(struct mxq_tensor_plan *plan) { plan->out[1].strides_bytes[0] += 16; }
static void second_matrix_stride(struct mxq_tensor_plan *plan) {
  plan->out[1].strides_bytes[1] = 0;
}
static void second_swizzle(struct mxq_tensor_plan *plan) {
  plan->out[1].swizzle = MXQ_MAP_SWIZZLE_NONE;
}
static void second_box_rows(struct mxq_tensor_plan *plan) { plan->out[1].box[1]--; }
static void second_scale_row(struct mxq_tensor_plan *plan) { plan->scale[1].pitch++; }
static void one_block_less(struct mxq_tensor_plan *plan) { plan->grid--; }
/* Rows or columns that only complete a block count as if they were elements. */
static void in_padding(struct mxq_tensor_plan *plan) {
  const uint64_t block = plan->kernel.variant.block;
  plan->in.dims[1] = (plan->in.dims[1] + block - 1) / block * block;
}
static void out_padding(struct mxq_tensor_plan *plan) { plan->out[0].dims[0] += 16; }
static void one_tile_less(struct mxq_tensor_plan *plan) { plan->tiles--; }

static const struct emu_fault faults[] = {
    {"in-box-rows", in_box_rows},
    {"in-box-inner", in_box_inner},
    {"out-box-rows", out_box_rows},
    {"out-box-inner", out_box_inner},
    {"in-stride", in_stride},
    {"in-stride-element", in_stride_element},
    {"out-stride", out_stride},
    {"in-matrix-stride", in_matrix_stride},
    {"out-matrix-stride", out_matrix_stride},
    {"scale-matrix-stride", scale_matrix_stride},
    {"in-swizzle", in_swizzle},
    {"out-swizzle", out_swizzle},
    {"out-swizzle-span", out_swizzle_span},
    {"stride-n", stride_n},
    {"stride-n-element", stride_n_element},
    {"stride-e", stride_e},
    {"scale-row", scale_row},
    {"length-k", length_k},
    {"second-stride", second_stride},
    {"second-matrix-stride", second_matrix_stride},
    {"second-swizzle", second_swizzle},
    {"second-box-rows", second_box_rows},
    {"second-scale-row", second_scale_row},
    {"one-block-less", one_block_less},
    {"in-padding", in_padding},
    {"out-padding", out_padding},
    {"one-tile-less", one_tile_less},
};

const struct emu_fault *emu_fault_find(const char *name) {
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
    if (strcmp(faults[i].name, name) == 0) return &faults[i];
  return NULL;
}

const char *emu_fault_name(const struct emu_fault *fault) { return fault->name; }

void emu_fault_list(FILE *to) {
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) fprintf(to, "%s\n", faults[i].name);
}

void emu_fault_plant(const struct emu_fault *fault, struct mxq_tensor_plan *plan) {
  if (fault && plan->grid) fault->plant(plan);
}
