/* SPDX-License-Identifier: MIT */
#include "overlap.h"

#include <stdint.h>

__extension__ typedef unsigned __int128 wide;

/* A direction to step in: `count` places, `stride` apart. */
struct axis {
  uint64_t count, stride;
};

/* The smallest x with low <= (x * step) mod modulus <= high; `modulus` if there is none.
 * 0 < low <= high < modulus. As in Euclid's algorithm: without a multiple of `step` in the range,
 * x * step - y * modulus lies in it for the smallest y whose y * modulus, by multiples of `step`,
 * does. */
static uint64_t first_within(uint64_t step, uint64_t modulus, uint64_t low, uint64_t high) {
  step %= modulus;
  if (step == 0) return modulus;
  const uint64_t direct = (low - 1) / step + 1;
  if (direct <= high / step) return direct;
  const uint64_t y = first_within(modulus % step, step, step - high % step, step - low % step);
  if (y == step) return modulus;
  return (uint64_t)(((wide)y * modulus + low + step - 1) / step);
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b) {
  while (b) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* Whether x steps along `far` and some along `near` lead less than `width` away from where they
 * began, for the x that is the first with that distance. */
static int reaches(struct axis near, struct axis far, uint64_t x, int beyond) {
  if (x >= far.count) return 0;
  const wide steps = (wide)x * far.stride / near.stride + (beyond ? 1 : 0);
  return steps < near.count;
}

/* near.stride <= far.stride, both at least `width`; width > 0. */
static int rows_meet(struct axis near, struct axis far, uint64_t width) {
  const uint64_t m = near.stride, edge = width - 1;
  if (reaches(near, far, m / greatest_divisor(m, far.stride), 0)) return 1;
  if (edge == 0) return 0;
  if (reaches(near, far, first_within(far.stride, m, 1, edge), 0)) return 1;
  return reaches(near, far, first_within(far.stride, m, m - edge, m - 1), 1);
}

int mxq_overlap(const struct mxq_shape *shape) {
  struct axis near = {(uint64_t)shape->n, shape->n > 1 ? (uint64_t)shape->stride_n : 0};
  struct axis far = {(uint64_t)shape->e, shape->e > 1 ? (uint64_t)shape->stride_e : 0};
  const uint64_t width = (uint64_t)shape->k;
  if ((near.count > 1 && near.stride < width) || (far.count > 1 && far.stride < width)) return 1;
  if (near.count < 2 || far.count < 2) return 0;
  if (near.stride > far.stride) {
    const struct axis other = near;
    near = far;
    far = other;
  }
  return rows_meet(near, far, width);
}
