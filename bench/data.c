/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "bench.h"
#include "status.h"

/* No multiple of a row's length, so that equal rows do not lie above each other. */
enum { piece_elements = (1 << 20) + 8 * 37 };

static uint64_t next(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

/* Box and Muller. */
static float normal(uint64_t *state) {
  const double a = (double)((next(state) >> 11) + 1) * 0x1p-53;
  const double b = (double)(next(state) >> 11) * 0x1p-53;
  return (float)(sqrt(-2 * log(a)) * cos(6.283185307179586 * b));
}

/* The bits of `value` in a type, cut off; for f16 what is small becomes zero. */
static uint32_t narrow(float value, const struct mxq_type_facts *type) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (type->bits == 32) return bits;
  if (type->mantissa_bits == 7) return bits >> 16;
  const uint32_t sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  return rest < 113u << 23 ? sign : sign | (rest - (112u << 23)) >> 13;
}

static void make_piece(const struct mxq_type_facts *type, unsigned char *piece) {
  uint64_t state = 20240229;
  const size_t size = type->bits / 8;
  for (size_t i = 0; i < piece_elements; i++) {
    const uint32_t bits = narrow(normal(&state), type);
    memcpy(piece + i * size, &bits, size); /* little-endian */
  }
}

/* The first copy comes from the host, the others from that one. */
static enum mxq_status repeat(int device, const unsigned char *piece, uint64_t size,
                              unsigned char *to, uint64_t bytes) {
  MXQ_TRY(mxq_device_upload(device, to, piece, size < bytes ? size : bytes));
  for (uint64_t done = size; done < bytes; done += size) {
    const uint64_t left = bytes - done;
    MXQ_TRY(mxq_device_copy_async(device, to + done, to, left < size ? left : size, NULL));
  }
  return mxq_device_synchronize(device);
}

enum mxq_status bench_bytes_fill(int device, unsigned least, unsigned mask, void *to,
                                 uint64_t bytes) {
  uint64_t state = 20240301;
  unsigned char *piece = malloc(piece_elements);
  MXQ_FAIL_IF(!piece, MXQ_OUT_OF_MEMORY, "no memory for %d random bytes", (int)piece_elements);
  for (size_t i = 0; i < piece_elements; i++)
    piece[i] = (unsigned char)(least + (next(&state) & mask));
  const enum mxq_status status = repeat(device, piece, piece_elements, to, bytes);
  free(piece);
  return status;
}

enum mxq_status bench_data_fill(int device, unsigned type, void *to, uint64_t bytes) {
  const struct mxq_type_facts *facts = mxq_type_facts(type);
  const uint64_t size = (uint64_t)piece_elements * facts->bits / 8;
  unsigned char *piece = malloc(size);
  MXQ_FAIL_IF(!piece, MXQ_OUT_OF_MEMORY, "no memory for %d random numbers", (int)piece_elements);
  make_piece(facts, piece);
  const enum mxq_status status = repeat(device, piece, size, to, bytes);
  free(piece);
  return status;
}
