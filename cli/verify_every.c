/* SPDX-License-Identifier: MIT
 *
 * The checks of --exhaustive: every value that a scale or an element can come from.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "check_fill.h"
#include "status.h"
#include "text.h"
#include "verify_run.h"

#define PATTERNS 65536u /* of 16 bits */
#define CASTS    (UINT64_C(1) << 32)

enum { SIDE_N = 2048, SIDE_K = 1024, CODE_SIDE = 512, CAST_PARTS = 64, CAST_BLOCK = 32 };

/* Where an element lies: which block of the matrix, and which element of it. */
struct block_walk {
  struct mxq_scale_grid grid;
  uint64_t elements; /* of a block */
  uint64_t blocks;
};

static struct block_walk walk_of(const struct check_region *region) {
  struct block_walk walk = {.grid = mxq_scale_grid_of(&region->variant, &region->shape, 0)};
  walk.elements = (uint64_t)walk.grid.block_n * walk.grid.block_k;
  walk.blocks = walk.grid.blocks_n * walk.grid.blocks_k;
  return walk;
}

static uint64_t block_at(const struct block_walk *walk, uint64_t n, uint64_t k) {
  return n / walk->grid.block_n * walk->grid.blocks_k + k / walk->grid.block_k;
}

static uint64_t element_at(const struct block_walk *walk, uint64_t n, uint64_t k) {
  return n % walk->grid.block_n * walk->grid.block_k + k % walk->grid.block_k;
}

/* Calls `bits_of` for every element of a single dense matrix and stores what it returns. */
typedef uint32_t (*bits_fn)(void *user, uint64_t block, uint64_t element);

static void fill_wide(const struct check_region *region, unsigned char *base, bits_fn bits_of,
                      void *user) {
  const struct block_walk walk = walk_of(region);
  const size_t size = mxq_type_facts(region->variant.in)->bits / 8;
  unsigned char *at = base + region->offsets[0];
  for (uint64_t n = 0; n < (uint64_t)region->shape.n; n++)
    for (uint64_t k = 0; k < (uint64_t)region->shape.k; k++, at += size) {
      const uint32_t bits = bits_of(user, block_at(&walk, n, k), element_at(&walk, n, k));
      memcpy(at, &bits, size); /* little-endian */
    }
}

/* Runs batches of one launch each, seeds from `first` on, until `end`. */
struct sweep {
  const char *what;
  int64_t n, k;
  uint64_t first, end, step; /* seeds */
  void (*fill)(const struct check_region *region, uint64_t seed, unsigned char *base);
};

static enum mxq_status run_sweep(struct verify_runner *runner, const struct sweep *sweep,
                                 struct verify_task *task) {
  const struct mxq_shape shape = mxq_shape_dense(1, sweep->n, sweep->k);
  struct verify_batch *batch = text_allocate(1, sizeof *batch);
  struct verify_slot slot = {.what = sweep->what, .fill = sweep->fill};
  enum mxq_status status = check_region_plan(&task->id.variant, &shape, 0, &slot.region);
  if (status == MXQ_OK) status = verify_batch_add(batch, &slot);
  for (uint64_t seed = sweep->first; seed < sweep->end && status == MXQ_OK && !task->details;
       seed += sweep->step) {
    batch->slots[0].seed = seed;
    status = verify_batch_run(runner, batch, task);
  }
  free(batch);
  return status;
}

/* ---- Maxima ------------------------------------------------------------------------------- */

struct maxima {
  uint64_t first; /* the number of the first block's maximum */
  uint64_t elements;
  uint64_t random;
  unsigned bits;
  uint32_t infinity;
  uint32_t span; /* magnitudes below a maximum that are not rounded to nothing */
};

/* Numbers count through all patterns of 16 bits, for float32 as upper halves of several each. */
static uint32_t maximum_of(const struct maxima *maxima, uint64_t number) {
  static const uint32_t lower[] = {0, 1, 0xFFFF, 0x4001};
  const uint32_t pattern = (uint32_t)(number % PATTERNS);
  return maxima->bits == 16 ? pattern : pattern << 16 | lower[number / PATTERNS % 4];
}

static uint32_t beside_maximum(struct maxima *maxima, uint32_t maximum) {
  const uint32_t sign_bit = 1u << (maxima->bits - 1), magnitude = maximum & (sign_bit - 1);
  const uint32_t most = magnitude < maxima->infinity ? magnitude : maxima->infinity - 1;
  const uint64_t random = check_random(&maxima->random);
  const uint32_t low = (uint32_t)(random >> 32);
  const uint32_t sign = random & 1 ? sign_bit : 0;
  if (random % 8 < 2) return sign | (uint32_t)(low % ((uint64_t)most + 1));
  const uint32_t below = low % maxima->span;
  return sign | (below < most ? most - below : 0);
}

static uint32_t maxima_bits(void *user, uint64_t block, uint64_t element) {
  struct maxima *maxima = user;
  const uint32_t maximum = maximum_of(maxima, maxima->first + block);
  if (element == block * 7 % maxima->elements) return maximum;
  return beside_maximum(maxima, maximum);
}

static void fill_maxima(const struct check_region *region, uint64_t seed, unsigned char *base) {
  const struct mxq_type_facts *in = mxq_type_facts(region->variant.in);
  const struct mxq_type_facts *out = mxq_type_facts(region->variant.out);
  struct maxima maxima = {.first = seed, .random = seed, .bits = in->bits};
  maxima.elements = walk_of(region).elements;
  maxima.infinity = ((1u << in->exponent_bits) - 1) << in->mantissa_bits;
  maxima.span = ((1u << out->exponent_bits) + out->mantissa_bits + 1) << in->mantissa_bits;
  check_region_poison(region, base);
  fill_wide(region, base, maxima_bits, &maxima);
}

enum mxq_status verify_run_maxima(struct verify_runner *runner, struct verify_task *task) {
  const struct mxq_variant *variant = &task->id.variant;
  const struct mxq_shape shape = mxq_shape_dense(1, SIDE_N, SIDE_K);
  const struct mxq_scale_grid grid = mxq_scale_grid_of(variant, &shape, 0);
  const uint64_t count = mxq_type_facts(variant->in)->bits == 16 ? PATTERNS : 4 * PATTERNS;
  const struct sweep sweep = {
      "every maximum", SIDE_N, SIDE_K, 0, count, grid.blocks_n * grid.blocks_k, fill_maxima};
  return run_sweep(runner, &sweep, task);
}

/* ---- Codes -------------------------------------------------------------------------------- */

static void put_code(unsigned char *codes, unsigned bits, uint64_t place, unsigned code) {
  if (bits == 8) {
    codes[place] = (unsigned char)code;
    return;
  }
  unsigned char *byte = &codes[place / 2];
  const unsigned shift = place % 2 * 4;
  *byte = (unsigned char)((*byte & ~(15u << shift)) | (code & 15) << shift);
}

/* The bits of the number-th scale; of float32 the upper half counts. */
static uint32_t scale_of(unsigned bits, uint64_t number) {
  return bits == 8 ? (uint32_t)(number % 256)
                   : (uint32_t)(number % PATTERNS) << 16 | (number * 40503u & 0xFFFF);
}

/* A scale stays for as many blocks as it takes to show all codes; seeds count scales. */
static uint64_t blocks_of_scale(const struct block_walk *walk) {
  return walk->elements < 256 ? 256 / walk->elements : 1;
}

static void fill_codes(const struct check_region *region, uint64_t seed, unsigned char *base) {
  const struct mxq_variant *variant = &region->variant;
  const struct mxq_shape *shape = &region->shape;
  const struct block_walk walk = walk_of(region);
  const unsigned bits = mxq_type_facts(variant->in)->bits;
  const unsigned scale_bits = mxq_mode_facts(variant->mode)->scale_bits;
  const uint64_t same = blocks_of_scale(&walk);
  check_region_poison(region, base);
  for (uint64_t n = 0; n < (uint64_t)shape->n; n++)
    for (uint64_t k = 0; k < (uint64_t)shape->k; k++) {
      const uint64_t block = block_at(&walk, n, k), element = element_at(&walk, n, k);
      const unsigned code = (unsigned)((block % same * walk.elements + element) % 256);
      put_code(base + region->offsets[0], bits, mxq_data_offset(variant, shape, 0, 0, n, k), code);
      if (element) continue;
      const uint32_t scale = scale_of(scale_bits, seed + block / same);
      memcpy(base + region->offsets[1] +
                 mxq_scale_offset(variant, shape, 0, 0, n, k) * (scale_bits / 8),
             &scale, scale_bits / 8); /* little-endian */
    }
}

enum mxq_status verify_run_codes(struct verify_runner *runner, struct verify_task *task) {
  const struct mxq_variant *variant = &task->id.variant;
  const int floats = mxq_mode_facts(variant->mode)->scale_bits == 32;
  const int64_t n = floats ? SIDE_N : CODE_SIDE, k = floats ? SIDE_K : CODE_SIDE;
  const struct check_region region = {.variant = *variant, .shape = mxq_shape_dense(1, n, k)};
  const struct block_walk walk = walk_of(&region);
  const struct sweep sweep = {
      "every code with every scale",        n,         k, 0, floats ? PATTERNS : 256,
      walk.blocks / blocks_of_scale(&walk), fill_codes};
  return run_sweep(runner, &sweep, task);
}

/* ---- Casts -------------------------------------------------------------------------------- */

/* Each block holds 31 neighbouring float32 and one that keeps the multiplier at 1: the largest
 * below twice the type's largest power of two, to which `floor` gives the scale 2^0. What is larger
 * has a multiplier of its own. */
struct casts {
  uint64_t first, end;
  uint32_t anchor;
};

static uint32_t anchor_of(const struct mxq_type_facts *out) {
  return ((uint32_t)(out->emax + 127) << 23) | 0x7FFFFF;
}

/* The end of the patterns that may share a block with `first`: those whose multiplier is 1, those
 * of other finite values, those of infinities and NaN, of one sign. */
static uint64_t end_of_kind(uint64_t first, uint32_t anchor) {
  const uint64_t sign = first & 0x80000000u;
  const uint64_t ends[] = {sign + anchor + 1, sign + 0x7F800000u, sign + 0x80000000u};
  size_t i = 0;
  while (first >= ends[i]) i++;
  return ends[i];
}

static uint32_t casts_bits(void *user, uint64_t block, uint64_t element) {
  const struct casts *casts = user;
  const uint64_t place = block % CAST_BLOCK; /* of the anchor: in every lane once */
  if (element == place) return casts->anchor;
  const uint64_t pattern = casts->first + block * (CAST_BLOCK - 1) + element - (element > place);
  return (uint32_t)(pattern < casts->end ? pattern : casts->end - 1);
}

static void fill_casts(const struct check_region *region, uint64_t seed, unsigned char *base) {
  struct casts casts = {.first = seed, .anchor = anchor_of(mxq_type_facts(region->variant.out))};
  casts.end = end_of_kind(seed, casts.anchor);
  check_region_poison(region, base);
  fill_wide(region, base, casts_bits, &casts);
}

enum mxq_status verify_run_casts(struct verify_runner *runner, struct verify_task *task) {
  const uint32_t anchor = anchor_of(mxq_type_facts(task->id.variant.out));
  const uint64_t part = CASTS / CAST_PARTS, end = part * (task->part + 1u);
  struct sweep sweep = {.what = "every float32", .n = SIDE_N, .k = SIDE_K, .fill = fill_casts};
  sweep.first = part * task->part;
  sweep.step = (uint64_t)SIDE_N * SIDE_K / CAST_BLOCK * (CAST_BLOCK - 1);
  while (sweep.first < end && !task->details) {
    const uint64_t kind = end_of_kind(sweep.first, anchor);
    sweep.end = kind < end ? kind : end;
    MXQ_TRY(run_sweep(runner, &sweep, task));
    sweep.first = sweep.end;
  }
  return MXQ_OK;
}

/* ---- Which kernels ------------------------------------------------------------------------ */

/* Scale layouts, block lengths and second parts change nothing of how a value is computed. */
unsigned verify_parts(const struct mxq_kernel_id *id, enum verify_check check) {
  const struct mxq_variant *variant = &id->variant;
  const unsigned kind = mxq_layout_part(variant->layout, 0);
  const int square = kind & MXQ_PART_ALONG_N && kind & MXQ_PART_ALONG_K;
  const int plain = variant->scales == MXQ_SCALES_LIN && !mxq_layout_part(variant->layout, 1);
  const int quantize = variant->op == MXQ_OP_QUANTIZE;
  if (check == VERIFY_SHAPES) return 1;
  if (!plain) return 0;
  if (check == VERIFY_MAXIMA) return quantize && variant->block == (square ? 16 : 32);
  if (check == VERIFY_CODES) return !quantize && variant->block == 32;
  const int moves = variant->layout == MXQ_LAYOUT_ROW ||
                    (variant->layout == MXQ_LAYOUT_COLT && id->family == MXQ_FAMILY_TMA);
  const int casts = quantize && variant->in == MXQ_TYPE_F32 && variant->mode == MXQ_MODE_FLOOR;
  return casts && moves && variant->block == CAST_BLOCK ? CAST_PARTS : 0;
}
