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
void support_buffer_free(struct support_buffer *buffer);
/* 1 if both guards are whole; otherwise prints where one was written, with `what`. */
int support_buffer_guards(const struct support_buffer *buffer, const char *what);

/* All host tensors of one run. `in` holds hard values where the shape has elements and 0xFF (NaN)
 * in the gaps of its strides. */
struct support_tensors {
  struct support_buffer in;
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

/* Writes the variant's input at a shape: every block with its own scale, and among them zeros of
 * both signs, subnormals, NaN, infinities, powers of two, ties and their neighbours. */
void support_fill(const struct mxq_variant *variant, const struct mxq_shape *shape, uint64_t seed,
                  void *in);

/* Compares outputs bit for bit. Prints the variant, the shape, the first coordinates with both
 * codes and how many differ; returns that number. */
uint64_t support_compare(const struct mxq_variant *variant, const struct mxq_shape *shape,
                         const struct mxq_pointers *expected, const struct mxq_pointers *actual);

uint64_t support_random(uint64_t *state);

#endif
