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

static const float *normals(void) {
  static float *made;
  if (made) return made;
  uint64_t state = 20240229;
  made = malloc(piece_elements * sizeof *made);
  for (size_t i = 0; made && i < piece_elements; i++) made[i] = normal(&state);
  return made;
}

enum mxq_status bench_data_piece(unsigned type, const unsigned char **piece, uint64_t *bytes) {
  static unsigned char *made[MXQ_TYPE_F16 + 1];
  const struct mxq_type_facts *facts = mxq_type_facts(type);
  const float *values = normals();
  const size_t size = facts->bits / 8;
  if (values && !made[type]) {
    made[type] = malloc(piece_elements * size);
    for (size_t i = 0; made[type] && i < piece_elements; i++) {
      const uint32_t bits = narrow(values[i], facts);
      memcpy(made[type] + i * size, &bits, size); /* little-endian */
    }
  }
  MXQ_FAIL_IF(!values || !made[type], MXQ_OUT_OF_MEMORY, "no memory for %d random numbers",
              (int)piece_elements);
  *piece = made[type];
  *bytes = (uint64_t)piece_elements * size;
  return MXQ_OK;
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
  const unsigned char *piece = NULL;
  uint64_t size = 0;
  MXQ_TRY(bench_data_piece(type, &piece, &size));
  return repeat(device, piece, size, to, bytes);
}
