/* SPDX-License-Identifier: MIT
 *
 * Moving scales between layouts: of one layout of blocks, every part and block length, to the
 * kernel's scale layout and back, at the shapes that tensors are checked at.
 */
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "check_cases.h"
#include "check_fill.h"
#include "names.h"
#include "shape.h"
#include "status.h"
#include "text.h"
#include "verify_apart.h"
#include "verify_run.h"

enum { ALIGNMENT = 256 };

/* One call: its scales lie in the memory of the runner, a guard before and behind each. */
struct move {
  const char *what;
  uint64_t seed;
  struct mxq_relayout_args args; /* without addresses */
  uint64_t src, dst;             /* offsets */
  uint64_t src_bytes, dst_bytes;
};

struct moves {
  struct move *list;
  size_t count, capacity;
  uint64_t bytes;
};

static enum mxq_status scale_bytes(const struct mxq_relayout_args *args, unsigned scales,
                                   uint64_t *bytes) {
  struct mxq_variant variant = args->variant;
  variant.scales = (uint8_t)scales;
  return mxq_shape_scale_bytes(&variant, &args->shape, args->part, bytes);
}

/* An offset `shift` scales behind an address that suits every access. */
static uint64_t place(struct moves *moves, uint64_t bytes, uint64_t shift_bytes) {
  const uint64_t at = moves->bytes + CHECK_GUARD_BYTES + shift_bytes;
  moves->bytes = (at + bytes + CHECK_GUARD_BYTES + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return at;
}

static enum mxq_status add_move(struct moves *moves, const struct mxq_relayout_args *args,
                                const struct check_case *one, uint64_t seed) {
  const uint64_t shift = one->shift * (mxq_mode_scale_bits(args->variant.mode) / 8);
  struct move move = {.what = one->what, .seed = seed, .args = *args};
  MXQ_TRY(scale_bytes(args, args->from, &move.src_bytes));
  MXQ_TRY(scale_bytes(args, args->to, &move.dst_bytes));
  move.src = place(moves, move.src_bytes, shift);
  move.dst = place(moves, move.dst_bytes, shift);
  moves->list = text_grow(moves->list, moves->count, &moves->capacity, sizeof *moves->list);
  moves->list[moves->count++] = move;
  return MXQ_OK;
}

static int is_run(const struct check_case *one, const struct mxq_variant *variant, int light) {
  if (one->weight == CHECK_HEAVY && variant->block != 32) return 0; /* the length matters little */
  return !light || one->weight == CHECK_LIGHT;
}

/* All shapes, both ways. Strides are no matter of scales. */
static enum mxq_status plan_moves(const struct mxq_variant *variant, unsigned part, int light,
                                  struct moves *moves) {
  const struct check_case *one;
  for (size_t i = 0; (one = check_case_at(i)); i++)
    for (unsigned back = 0; back < 2; back++) {
      struct mxq_relayout_args args = {.variant = *variant, .part = part};
      args.shape = mxq_shape_dense(one->e, one->n, one->k);
      args.from = back ? variant->scales : MXQ_SCALES_LIN;
      args.to = back ? MXQ_SCALES_LIN : variant->scales;
      if (is_run(one, variant, light)) MXQ_TRY(add_move(moves, &args, one, 2 * i + back + 1));
    }
  return MXQ_OK;
}

static void fill(const struct moves *moves, unsigned char *base) {
  memset(base, CHECK_GUARD_BYTE, moves->bytes);
  for (size_t i = 0; i < moves->count; i++) {
    const struct move *move = &moves->list[i];
    uint64_t random = move->seed;
    for (uint64_t at = 0; at < move->src_bytes; at++)
      base[move->src + at] = (unsigned char)(check_random(&random) >> 40);
    memset(base + move->dst, CHECK_POISON, move->dst_bytes);
  }
}

static enum mxq_status upload(struct verify_runner *runner, const struct moves *moves, int light) {
  if (!light)
    return mxq_device_upload(runner->device, runner->there, runner->expected, moves->bytes);
  for (size_t i = 0; i < moves->count; i++) {
    const struct move *move = &moves->list[i];
    MXQ_TRY(verify_apart_add(runner, move->src, move->src_bytes, 1));
    MXQ_TRY(verify_apart_add(runner, move->dst, move->dst_bytes, 0));
  }
  return MXQ_OK;
}

static enum mxq_status move_all(struct verify_runner *runner, const struct moves *moves,
                                struct verify_task *task) {
  struct mxq_context *context = NULL;
  MXQ_TRY(verify_runner_context(runner, 0, &context));
  for (size_t i = 0; i < moves->count; i++) {
    const struct move *move = &moves->list[i];
    struct mxq_relayout_args args = move->args;
    args.src = verify_device_at(runner, move->src);
    args.dst = verify_device_at(runner, move->dst);
    enum mxq_status status = mxq_relayout(context, &args, runner->device, runner->stream);
    args.src = runner->expected + move->src;
    args.dst = runner->expected + move->dst;
    if (status == MXQ_OK) status = mxq_relayout(context, &args, MXQ_DEVICE_CPU, NULL);
    if (status == MXQ_OK) continue;
    task->why = text_format("case \"%s\": %s", move->what, mxq_last_error());
    return status;
  }
  return mxq_device_stream_synchronize(runner->device, runner->stream);
}

/* Guards and sources: bytes that are not to be written. */
static void compare_outside(const struct moves *moves, size_t index, const unsigned char *expected,
                            const unsigned char *actual, struct check_differences *differences) {
  const struct move *move = &moves->list[index];
  const uint64_t begin = index ? move->src - CHECK_GUARD_BYTES : 0;
  const uint64_t end = index + 1 < moves->count ? move[1].src - CHECK_GUARD_BYTES : moves->bytes;
  const uint64_t src_end = move->src + move->src_bytes + CHECK_GUARD_BYTES;
  for (uint64_t i = begin; i < end; i++) {
    if (i == move->dst) i += move->dst_bytes;
    if (expected[i] == actual[i]) continue;
    const struct check_difference found = {
        .place = CHECK_OUTSIDE,
        .tensor = i < src_end ? "source" : "result",
        .byte = (int64_t)(i - (i < src_end ? move->src : move->dst)),
        .bits = 8,
        .expected = expected[i],
        .actual = actual[i]};
    check_difference_add(differences, &found);
  }
}

static void compare(const struct moves *moves, const unsigned char *expected,
                    const unsigned char *actual, struct verify_task *task) {
  if (memcmp(expected, actual, moves->bytes) == 0) return;
  for (size_t i = 0; i < moves->count; i++) {
    const struct move *move = &moves->list[i];
    struct check_differences differences = {0};
    struct mxq_variant variant = move->args.variant;
    variant.scales = (uint8_t)move->args.to;
    check_compare_scales(&variant, &move->args.shape, move->args.part, expected + move->dst,
                         actual + move->dst, &differences);
    compare_outside(moves, i, expected, actual, &differences);
    char *what =
        text_format("%s, %s, part %u, %s", move->what, names_of(&move->args.variant).text,
                    move->args.part, move->args.to == MXQ_SCALES_LIN ? "to lin" : "from lin");
    const struct verify_detail detail = {what, &move->args.shape, move->seed};
    if (differences.count) verify_detail_add(&detail, &differences, task);
    free(what);
  }
}

static enum mxq_status run_moves(struct verify_runner *runner, const struct moves *moves,
                                 struct verify_task *task) {
  MXQ_TRY(verify_runner_reserve(runner, moves->bytes));
  fill(moves, runner->expected);
  enum mxq_status status = upload(runner, moves, task->light);
  if (status == MXQ_OK) status = move_all(runner, moves, task);
  if (status == MXQ_OK)
    status = task->light
                 ? verify_apart_download(runner, moves->bytes)
                 : mxq_device_download(runner->device, runner->actual, runner->there, moves->bytes);
  if (status == MXQ_OK) compare(moves, runner->expected, runner->actual, task);
  verify_apart_free(runner);
  return status;
}

/* A variant with the kernel's scales and the number-th layout. Only outputs of quantize have all
 * layouts. */
static struct mxq_variant variant_of(const struct mxq_kernel_id *id, unsigned number) {
  const unsigned bits = mxq_mode_scale_bits(id->variant.mode);
  const struct mxq_axis_value *mode;
  struct mxq_variant variant = {.op = MXQ_OP_QUANTIZE,
                                .in = MXQ_TYPE_F32,
                                .out = MXQ_TYPE_E4M3,
                                .scales = id->variant.scales};
  for (size_t i = 0; (mode = mxq_axis_at(MXQ_AXIS_MODE, MXQ_OP_QUANTIZE, i)); i++)
    if (mxq_mode_scale_bits(mode->number) == bits) variant.mode = (uint8_t)mode->number;
  variant.layout = (uint8_t)mxq_axis_at(MXQ_AXIS_LAYOUT, MXQ_OP_QUANTIZE, number)->number;
  return variant;
}

enum mxq_status verify_run_scales(struct verify_runner *runner, struct verify_task *task) {
  struct mxq_variant variant = variant_of(&task->id, task->part);
  const struct mxq_axis_value *block;
  enum mxq_status status = MXQ_OK;
  for (size_t i = 0; (block = mxq_axis_at(MXQ_AXIS_BLOCK, MXQ_OP_QUANTIZE, i)); i++)
    for (unsigned part = 0; part < 2 && status == MXQ_OK; part++) {
      struct moves moves = {0};
      variant.block = (uint16_t)block->number;
      if (mxq_layout_part(variant.layout, part) == MXQ_PART_NONE) continue;
      status = plan_moves(&variant, part, task->light, &moves);
      if (status == MXQ_OK) status = run_moves(runner, &moves, task);
      free(moves.list);
    }
  return status;
}

unsigned verify_scale_parts(const struct mxq_kernel_id *id) {
  unsigned count = 0;
  while (mxq_axis_at(MXQ_AXIS_LAYOUT, MXQ_OP_QUANTIZE, count)) count++;
  return id->family == MXQ_FAMILY_RELAYOUT ? count : 0;
}
