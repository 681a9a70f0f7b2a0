/* SPDX-License-Identifier: MIT */
#include "selection_walk.h"

#include <string.h>

#include "plan_as.h"
#include "status.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* From one element to larger than any cache, and past the limits of tensor maps and grids. */
static const int64_t matrices[] = {1, 3, 65537};
static const int64_t rows[] = {1, 16, 17, 32, 48, 272, 4096, INT64_C(1) << 31};
static const int64_t columns[] = {1, 8, 16, 24, 32, 130, 512, 8192, (INT64_C(1) << 31) + 16};

/* Elements between rows that are not dense. */
static const int64_t gaps[] = {0, 1, 16, INT64_C(1) << 39};

/* Bytes past an aligned address of in, out and scale. */
static const unsigned char offsets[][3] = {{0, 0, 0}, {8, 0, 0}, {0, 8, 0}, {0, 0, 4}};

struct walk {
  const struct mxq_variant *variant;
  const struct mxq_arch *arch;
  const struct mxq_kernel_id *ids;
  size_t count;
  size_t *found;
};

static struct mxq_shape shape_of(int64_t e, int64_t n, int64_t k, int64_t gap) {
  struct mxq_shape shape = mxq_shape_dense(e, n, k);
  if (gap && shape.stride_e >= 0) {
    shape.stride_n = k + gap;
    shape.stride_e = n > INT64_MAX / 4 / shape.stride_n ? -1 : n * shape.stride_n;
  }
  return shape;
}

static struct mxq_pointers pointers_of(const unsigned char offset[3]) {
  const uintptr_t in = 0x10000, out = 0x20000, scale = 0x30000;
  return (struct mxq_pointers){
      .in = (const void *)(in + offset[0]),
      .in_scale = (const void *)(scale + offset[2]),
      .out = {(void *)(out + offset[1]), (void *)(out + offset[1])},
      .scale = {(void *)(scale + offset[2]), (void *)(scale + offset[2])},
  };
}

static enum mxq_status note(const struct walk *walk, const struct mxq_kernel_id *id) {
  char name[MXQ_KERNEL_NAME_SIZE] = "";
  for (size_t i = 0; i < walk->count; i++) {
    if (memcmp(&walk->ids[i], id, sizeof *id) != 0) continue;
    if (walk->found) walk->found[i]++;
    return MXQ_OK;
  }
  (void)mxq_kernel_id_name(id, name, sizeof name);
  MXQ_FAIL(MXQ_INTERNAL, "%s can be selected on %s, but the list of such kernels lacks it", name,
           walk->arch->name);
}

static enum mxq_status visit(const struct walk *walk, const struct mxq_shape *shape) {
  struct mxq_tensor_plan plan;
  if (shape->stride_e < 0 || mxq_shape_check(walk->variant, shape) != MXQ_OK) return MXQ_OK;
  for (size_t i = 0; i < COUNT(offsets); i++) {
    const struct mxq_pointers pointers = pointers_of(offsets[i]);
    const enum mxq_status status =
        mxq_plan_select(walk->variant, walk->arch, NULL, shape, &pointers, &plan);
    if (status == MXQ_UNSUPPORTED) continue; /* no kernel at all */
    MXQ_TRY(status);
    MXQ_TRY(note(walk, &plan.kernel));
  }
  return MXQ_OK;
}

enum mxq_status selection_walk(const struct mxq_variant *variant, const struct mxq_arch *arch,
                               const struct mxq_kernel_id *ids, size_t count, size_t *found) {
  const struct walk walk = {variant, arch, ids, count, found};
  const size_t points = COUNT(matrices) * COUNT(rows) * COUNT(columns) * COUNT(gaps);
  for (size_t i = 0; i < points; i++) {
    size_t rest = i;
    const int64_t e = matrices[rest % COUNT(matrices)];
    const int64_t n = rows[(rest /= COUNT(matrices)) % COUNT(rows)];
    const int64_t k = columns[(rest /= COUNT(rows)) % COUNT(columns)];
    const struct mxq_shape shape = shape_of(e, n, k, gaps[rest / COUNT(columns)]);
    MXQ_TRY(visit(&walk, &shape));
  }
  return MXQ_OK;
}
