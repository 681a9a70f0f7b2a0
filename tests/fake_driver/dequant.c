/* SPDX-License-Identifier: MIT
 *
 * Launches of the kernels of dequantize and of those that move scales, computed by the CPU path.
 */
#include <string.h>

#include "args.h"
#include "axes.h"
#include "cpu.h"
#include "fault.h"
#include "schedule.h"

static int64_t elements(const struct fake_job *job, uint64_t bytes) {
  return (int64_t)(bytes * 8 / mxq_type_facts(job->variant.out)->bits);
}

/* The input map has to say what the CPU path takes for granted: dense, column-major. */
static int of_tiles(const struct mxq_dequant_tile_args *args, struct fake_job *job) {
  struct fake_map in, out;
  memcpy(&in, &args->in, sizeof in);
  memcpy(&out, &args->out, sizeof out);
  const uint64_t inner = args->n / (8 / mxq_type_facts(job->variant.in)->bits);
  const unsigned wide = mxq_type_facts(job->variant.out)->bits;
  job->shape = (struct mxq_shape){(int64_t)out.dims[2], args->n, args->k,
                                  elements(job, out.strides[1]), elements(job, out.strides[0])};
  job->pointers = (struct mxq_pointers){
      .in = (const void *)in.base, .in_scale = args->scale, .out = {(void *)out.base}};
  return out.dims[0] == args->k && out.dims[1] == args->n && in.dims[0] == inner &&
         in.dims[1] == args->k && in.dims[2] == out.dims[2] &&
         (args->k < 2 || in.strides[0] == inner) &&
         (in.dims[2] < 2 || in.strides[1] == inner * args->k) &&
         in.type == CU_TENSOR_MAP_DATA_TYPE_UINT8 &&
         out.type == (wide == 32 ? CU_TENSOR_MAP_DATA_TYPE_UINT32 : CU_TENSOR_MAP_DATA_TYPE_UINT16);
}

static int of_rows(const struct mxq_dequant_row_args *args, unsigned grid, struct fake_job *job) {
  const uint64_t tiles = (uint64_t)args->tiles_n.value * args->tiles_k.value;
  job->shape =
      (struct mxq_shape){(int64_t)(grid / tiles), args->n, args->k,
                         elements(job, args->stride_e_bytes), elements(job, args->stride_n_bytes)};
  job->pointers =
      (struct mxq_pointers){.in = args->in, .in_scale = args->scale, .out = {args->out}};
  return grid % tiles == 0;
}

static int of_elements(const struct mxq_dequant_any_args *args, struct fake_job *job) {
  job->shape = (struct mxq_shape){
      (int64_t)(args->tiles / (args->tiles_n * args->tiles_k)), (int64_t)args->n, (int64_t)args->k,
      elements(job, args->stride_e_bytes), elements(job, args->stride_n_bytes)};
  job->pointers =
      (struct mxq_pointers){.in = args->in, .in_scale = args->scale, .out = {args->out}};
  return 1;
}

int fake_job_of_dequantize(const struct mxq_kernel_id *id, const void *arguments, unsigned grid,
                           struct fake_job *job) {
  const enum mxq_form form = mxq_form_facts(id)->form;
  return form == MXQ_FORM_DEQUANT_TILE  ? of_tiles(arguments, job)
         : form == MXQ_FORM_DEQUANT_ROW ? of_rows(arguments, grid, job)
                                        : of_elements(arguments, job);
}

/* A tensor that has these scales: columns of blocks of 16, and lines of 1 or of whole blocks. Its
 * lengths along the blocks are multiples: no scale tells the last block's own length. */
void fake_move_scales(const char *symbol, const struct mxq_kernel_id *id, const void *arguments) {
  const struct mxq_relayout_launch *launch = arguments;
  struct mxq_relayout_args args = {.variant = id->variant, .src = launch->src, .dst = launch->dst};
  const unsigned block = launch->block > 1 ? (unsigned)launch->block : 16;
  const int64_t rows = (int64_t)launch->rows, columns = (int64_t)(launch->columns * block);
  const int64_t e = (int64_t)(launch->places / launch->places_e);
  args.variant.block = (uint16_t)block;
  if (launch->block > 1 || launch->squares)
    args.variant.layout = launch->columns_inner ? MXQ_LAYOUT_SQ : MXQ_LAYOUT_SQT;
  else
    args.variant.layout = launch->columns_inner ? MXQ_LAYOUT_ROW : MXQ_LAYOUT_COL;
  args.shape =
      launch->columns_inner ? mxq_shape_dense(e, rows, columns) : mxq_shape_dense(e, columns, rows);
  args.from = launch->to_lin ? id->variant.scales : MXQ_SCALES_LIN;
  args.to = launch->to_lin ? MXQ_SCALES_LIN : id->variant.scales;
  mxq_cpu_relayout(&args);
  fake_fault_after_move(symbol, &args);
}
