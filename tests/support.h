/* SPDX-License-Identifier: MIT
 *
 * What tests of quantized tensors share: guarded buffers, inputs that are hard to round, and a
 * report of differences.
 */
#ifndef MXQ_TESTS_SUPPORT_H
#define MXQ_TESTS_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/mxq.h>

#include "check_fill.h"

#define SUPPORT_GUARD_BYTES 256

/* `size` bytes of 0xFF at `data`, aligned to 256 bytes, between two guards. */
struct support_buffer {
  unsigned char *base;
  unsigned char *data;
  size_t size;
  size_t total;
};

/* Aborts the test program where memory is out: a test has nothing to clean up then. */
struct support_buffer support_buffer_make(size_t size);
/* Moves the bytes on by fewer than the guard has; they are 0xFF again. */
void support_buffer_shift(struct support_buffer *buffer, size_t bytes);
void support_buffer_free(struct support_buffer *buffer);
/* 1 if both guards are whole; otherwise prints where one was written, with `what`. */
int support_buffer_guards(const struct support_buffer *buffer, const char *what);

/* All host tensors of one run. For quantize `in` holds hard values where the shape has elements and
 * 0xFF (NaN) in the gaps of its strides; for dequantize `in` and `in_scale` hold codes and scales
 * of every kind, padding included. */
struct support_tensors {
  struct support_buffer in;
  struct support_buffer in_scale;
  struct support_buffer out[2];
  struct support_buffer scale[2];
};

/* Sizes from mxq_sizes, all bytes 0xFF. */
enum mxq_status support_tensors_allocate(const struct mxq_variant *variant,
                                         const struct mxq_shape *shape,
                                         struct support_tensors *tensors);
/* The same with an input that is hard for the variant's blocks. */
enum mxq_status support_tensors_make(const struct mxq_variant *variant,
                                     const struct mxq_shape *shape, uint64_t seed,
                                     struct support_tensors *tensors);
void support_tensors_free(struct support_tensors *tensors);
struct mxq_pointers support_tensors_pointers(const struct support_tensors *tensors);

/* Compares outputs bit for bit, padding and gaps included. Prints the variant, the shape, the first
 * coordinates with both codes and how many differ; returns that number. */
uint64_t support_compare(const struct mxq_variant *variant, const struct mxq_shape *shape,
                         const struct mxq_pointers *expected, const struct mxq_pointers *actual);

/* Short for what the program shares with the tests. */
#define support_fill       check_fill_values
#define support_fill_codes check_fill_codes
#define support_random     check_random

#endif
