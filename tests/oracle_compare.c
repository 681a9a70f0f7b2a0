/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "oracle.h"
#include "oracle_layout.h"

enum { shown_differences = 6 };

/* One comparison under way: of one part of the layout. */
struct walk {
  const struct mxq_variant *variant;
  const struct mxq_shape *shape;
  const struct mxq_pointers *pointers;
  unsigned part;
  struct oracle_layout layout;
  struct oracle oracle;
  uint32_t *x; /* of one block */
  unsigned *codes;
  uint32_t *scales; /* of each block, along K first */
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
  const unsigned char *out = walk->pointers->out[walk->part];
  if (mxq_type_facts(walk->variant->out)->bits == 4)
    return (uint32_t)out[place / 2] >> place % 2 * 4 & 15u;
  return out[place];
}

static uint64_t in_offset(const struct mxq_shape *shape, uint64_t e, uint64_t n, uint64_t k) {
  const uint64_t offset_e = shape->e > 1 ? e * (uint64_t)shape->stride_e : 0;
  const uint64_t offset_n = shape->n > 1 ? n * (uint64_t)shape->stride_n : 0;
  return offset_e + offset_n + k;
}

static uint32_t *block_scale(const struct walk *walk, uint64_t e, uint64_t n, uint64_t k) {
  return &walk->scales[(e * walk->layout.blocks_n + n) * walk->layout.blocks_k + k];
}

/* The block whose first element is `at`. */
static void compare_block(struct walk *walk, const uint64_t at[3]) {
  const struct oracle_layout *layout = &walk->layout;
  const uint64_t end_n = layout->N - at[1] < layout->block_n ? layout->N : at[1] + layout->block_n;
  const uint64_t end_k = layout->K - at[2] < layout->block_k ? layout->K : at[2] + layout->block_k;
  const size_t bytes = mxq_type_facts(walk->variant->in)->bits / 8;
  size_t count = 0;
  for (uint64_t n = at[1]; n < end_n; ++n)
    for (uint64_t k = at[2]; k < end_k; ++k)
      walk->x[count++] = little_endian(
          (const unsigned char *)walk->pointers->in + in_offset(walk->shape, at[0], n, k) * bytes,
          bytes);
  oracle_block(&walk->oracle, walk->x, count,
               block_scale(walk, at[0], at[1] / layout->block_n, at[2] / layout->block_k),
               walk->codes);
  count = 0;
  for (uint64_t n = at[1]; n < end_n; ++n)
    for (uint64_t k = at[2]; k < end_k; ++k) {
      const uint64_t element[3] = {at[0], n, k};
      expect(walk, "element", element, walk->codes[count++],
             code_at(walk, oracle_code_place(layout, at[0], n, k)));
    }
}

/* Every place among the stored scales, padding included. */
static void compare_scales(struct walk *walk) {
  const size_t bytes = walk->layout.scale_bits / 8;
  const unsigned char *stored = walk->pointers->scale[walk->part];
  const uint64_t count = oracle_scale_count(&walk->layout);
  for (uint64_t place = 0; place < count; ++place) {
    const struct oracle_source source = oracle_scale_source(&walk->layout, place);
    const uint64_t at[3] = {source.e, source.block_n, source.block_k};
    const uint32_t wanted =
        source.padding ? 0 : *block_scale(walk, source.e, source.block_n, source.block_k);
    expect(walk, source.padding ? "padding beside block" : "scale of block", at, wanted,
           little_endian(stored + place * bytes, bytes));
  }
}

static void compare_all(struct walk *walk) {
  for (uint64_t e = 0; e < walk->layout.E; ++e)
    for (uint64_t n = 0; n < walk->layout.N; n += walk->layout.block_n)
      for (uint64_t k = 0; k < walk->layout.K; k += walk->layout.block_k)
        compare_block(walk, (const uint64_t[3]){e, n, k});
  compare_scales(walk);
}

static uint64_t compare_part(const struct mxq_variant *variant, const struct mxq_shape *shape,
                             const struct mxq_pointers *pointers, unsigned part, int *found) {
  struct walk walk = {.variant = variant, .shape = shape, .pointers = pointers, .part = part};
  *found = oracle_layout_make(variant, shape, part, &walk.layout);
  if (*found <= 0) return 0;
  const size_t block = (size_t)(walk.layout.block_n * walk.layout.block_k);
  const uint64_t blocks = walk.layout.E * walk.layout.blocks_n * walk.layout.blocks_k;
  walk.x = malloc(block * sizeof *walk.x);
  walk.codes = malloc(block * sizeof *walk.codes);
  walk.scales = malloc((size_t)blocks * sizeof *walk.scales);
  if (walk.x && walk.codes && walk.scales && oracle_make(variant, &walk.oracle)) {
    compare_all(&walk);
  } else {
    fprintf(stderr, "no oracle for types %u and %u and mode %u, or no memory\n", variant->in,
            variant->out, variant->mode);
    walk.differences = 1;
  }
  free(walk.x);
  free(walk.codes);
  free(walk.scales);
  return walk.differences;
}

uint64_t oracle_compare(const struct mxq_variant *variant, const struct mxq_shape *shape,
                        const struct mxq_pointers *pointers) {
  uint64_t differences = 0;
  int found[2];
  for (unsigned part = 0; part < 2; ++part)
    differences += compare_part(variant, shape, pointers, part, &found[part]);
  if (found[0] == 1 && found[1] >= 0) return differences;
  fprintf(stderr, "no oracle for layout %u with scales %u\n", variant->layout, variant->scales);
  return 1;
}
