/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "oracle.h"

enum { shown_differences = 6 };

/* The layouts by their tokens, as sections 3 and 4 of the contract write them; written again on
 * purpose. */
struct oracle_layout {
  const char *token;
  unsigned part;
  int along_n, along_k;
  uint64_t (*data)(uint64_t N, uint64_t K, uint64_t e, uint64_t n, uint64_t k);
};

static uint64_t row_major(uint64_t N, uint64_t K, uint64_t e, uint64_t n, uint64_t k) {
  return e * N * K + n * K + k;
}
static uint64_t column_major(uint64_t N, uint64_t K, uint64_t e, uint64_t n, uint64_t k) {
  return e * N * K + k * N + n;
}

static const struct oracle_layout layouts[] = {
    {"row", 0, 0, 1, row_major}, {"col", 0, 1, 0, row_major},    {"colt", 0, 1, 0, column_major},
    {"sq", 0, 1, 1, row_major},  {"sqt", 0, 1, 1, column_major},
};

/* One comparison under way. */
struct walk {
  const struct mxq_variant *variant;
  const struct mxq_shape *shape;
  const struct mxq_pointers *pointers;
  const struct oracle_layout *layout;
  struct oracle oracle;
  size_t block_n, block_k;
  uint32_t *x; /* of one block */
  unsigned *codes;
  uint64_t differences;
};

static uint32_t little_endian(const unsigned char *bytes, size_t count) {
  uint32_t value = 0;
  while (count--) value = value << 8 | bytes[count];
  return value;
}

static void expect(struct walk *walk, const char *what, const uint64_t at[3], uint32_t expected,
                   uint32_t got) {
  char name[MXQ_VARIANT_NAME_SIZE] = "";
  if (expected == got || walk->differences++ >= shown_differences) return;
  mxq_variant_name(walk->variant, name, sizeof name);
  fprintf(stderr,
          "%s at (%" PRId64 ", %" PRId64 ", %" PRId64 "): %s of (%" PRIu64 ", %" PRIu64 ", %" PRIu64
          "): expected %02" PRIx32 ", got %02" PRIx32 "\n",
          name, walk->shape->e, walk->shape->n, walk->shape->k, what, at[0], at[1], at[2], expected,
          got);
}

static uint32_t code_at(const struct walk *walk, uint64_t place) {
  const unsigned char *out = walk->pointers->out[walk->layout->part];
  if (mxq_type_facts(walk->variant->out)->bits == 4)
    return (uint32_t)out[place / 2] >> place % 2 * 4 & 15u;
  return out[place];
}

/* lin: (E, blocks along N, blocks along K) */
static uint32_t scale_at(const struct walk *walk, const uint64_t at[3]) {
  const size_t bytes = mxq_mode_facts(walk->variant->mode)->scale_bits / 8;
  const uint64_t rows = ((uint64_t)walk->shape->n - 1) / walk->block_n + 1;
  const uint64_t columns = ((uint64_t)walk->shape->k - 1) / walk->block_k + 1;
  const uint64_t place = (at[0] * rows + at[1] / walk->block_n) * columns + at[2] / walk->block_k;
  return little_endian((unsigned char *)walk->pointers->scale[walk->layout->part] + place * bytes,
                       bytes);
}

static uint64_t in_offset(const struct mxq_shape *shape, uint64_t e, uint64_t n, uint64_t k) {
  const uint64_t offset_e = shape->e > 1 ? e * (uint64_t)shape->stride_e : 0;
  const uint64_t offset_n = shape->n > 1 ? n * (uint64_t)shape->stride_n : 0;
  return offset_e + offset_n + k;
}

/* The block whose first element is `at`. */
static void compare_block(struct walk *walk, const uint64_t at[3]) {
  const uint64_t N = (uint64_t)walk->shape->n, K = (uint64_t)walk->shape->k;
  const uint64_t end_n = N - at[1] < walk->block_n ? N : at[1] + walk->block_n;
  const uint64_t end_k = K - at[2] < walk->block_k ? K : at[2] + walk->block_k;
  const size_t bytes = mxq_type_facts(walk->variant->in)->bits / 8;
  size_t count = 0;
  uint32_t scale;
  for (uint64_t n = at[1]; n < end_n; ++n)
    for (uint64_t k = at[2]; k < end_k; ++k)
      walk->x[count++] = little_endian(
          (const unsigned char *)walk->pointers->in + in_offset(walk->shape, at[0], n, k) * bytes,
          bytes);
  oracle_block(&walk->oracle, walk->x, count, &scale, walk->codes);
  expect(walk, "scale", at, scale, scale_at(walk, at));
  count = 0;
  for (uint64_t n = at[1]; n < end_n; ++n)
    for (uint64_t k = at[2]; k < end_k; ++k) {
      const uint64_t place = walk->layout->data(N, K, at[0], n, k), element[3] = {at[0], n, k};
      expect(walk, "element", element, walk->codes[count++], code_at(walk, place));
    }
}

static uint64_t compare_part(const struct mxq_variant *variant, const struct mxq_shape *shape,
                             const struct mxq_pointers *pointers,
                             const struct oracle_layout *layout) {
  const uint64_t E = (uint64_t)shape->e, N = (uint64_t)shape->n, K = (uint64_t)shape->k;
  struct walk walk = {.variant = variant, .shape = shape, .pointers = pointers, .layout = layout};
  walk.block_n = layout->along_n ? variant->block : 1;
  walk.block_k = layout->along_k ? variant->block : 1;
  walk.x = malloc(walk.block_n * walk.block_k * sizeof *walk.x);
  walk.codes = malloc(walk.block_n * walk.block_k * sizeof *walk.codes);
  if (!walk.x || !walk.codes || !oracle_make(variant, &walk.oracle)) {
    fprintf(stderr, "no oracle for types %u and %u and mode %u, or no memory\n", variant->in,
            variant->out, variant->mode);
    walk.differences = 1;
  }
  for (uint64_t e = 0; e < E && walk.x && walk.codes && walk.oracle.count; ++e)
    for (uint64_t n = 0; n < N; n += walk.block_n)
      for (uint64_t k = 0; k < K; k += walk.block_k)
        compare_block(&walk, (const uint64_t[3]){e, n, k});
  free(walk.x);
  free(walk.codes);
  return walk.differences;
}

uint64_t oracle_compare(const struct mxq_variant *variant, const struct mxq_shape *shape,
                        const struct mxq_pointers *pointers) {
  char name[MXQ_VARIANT_NAME_SIZE] = "", layout[MXQ_VARIANT_NAME_SIZE + 2];
  uint64_t differences = 0;
  unsigned parts = 0;
  mxq_variant_name(variant, name, sizeof name);
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; ++i) {
    snprintf(layout, sizeof layout, "_%s_lin", layouts[i].token);
    if (!strstr(name, layout)) continue;
    differences += compare_part(variant, shape, pointers, &layouts[i]);
    ++parts;
  }
  if (parts) return differences;
  fprintf(stderr, "no oracle for the layout of %s\n", name);
  return 1;
}
