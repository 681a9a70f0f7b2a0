/* SPDX-License-Identifier: MIT */
#include "cpu_quantize.h"

#include <string.h>

#include "axes.h"
#include "cpu_bits.h"
#include "cpu_convert.h"
#include "cpu_scale.h"
#include "cpu_store.h"

/* Tiles stay in the first cache: of TILE_CODES codes at most. Column-major outputs take squares,
 * whose columns are worth a store each, and so do two outputs, which share what was read; single
 * row-major ones take the rows of one block and read along them as far as that goes. */
enum { SIDE = MXQ_CPU_LINE, TILE_CODES = SIDE * SIDE, MOST_COLUMNS = 1024 };
/* Blocks are made of groups; a tile has a block for each of them at most. */
enum { GROUP = 16, MOST_BLOCKS = TILE_CODES / GROUP };

#define MXQ_BLOCK(NAME, token, number)                                                          \
  _Static_assert(SIDE % (number) == 0 && MOST_COLUMNS % (number) == 0 && (number) % GROUP == 0, \
                 "a tile must hold whole blocks, and blocks whole groups");
#include <mxq/axes.def>

/* One output of a quantization. */
struct part {
  struct mxq_cpu_output output;
  size_t block_n, block_k; /* a block's extent */
};

struct job {
  const struct mxq_variant *variant;
  const struct mxq_shape *shape;
  const struct mxq_type_facts *type;
  struct mxq_cpu_format format;
  const struct mxq_cpu_reader *reader;
  const unsigned char *in;
  size_t tile_n, tile_k;
  struct part parts[2];
  unsigned part_count;
};

/* What a tile needs besides the tensors. */
struct scratch {
  uint8_t codes[TILE_CODES];
  uint32_t magnitudes[MOST_COLUMNS]; /* in the input's own bits, of its own width */
  float maxima[MOST_BLOCKS];
  float multipliers[MOST_BLOCKS];
  uint32_t scales[MOST_BLOCKS];
  float even[MOST_COLUMNS / 2], odd[MOST_COLUMNS / 2]; /* multipliers of one row's elements */
  uint32_t words[MOST_COLUMNS / 2];
};

static size_t smaller(uint64_t a, size_t b) { return a < b ? (size_t)a : b; }

static const unsigned char *row_at(const struct job *job, const struct mxq_cpu_place *place,
                                   size_t row) {
  const struct mxq_shape *shape = job->shape;
  const uint64_t offset = place->e * (uint64_t)shape->stride_e +
                          (place->n + row) * (uint64_t)shape->stride_n + place->k;
  return job->in + offset * job->reader->element_bytes;
}

/* The maxima of the blocks of `rows` rows, at most block_n, from `place` on. */
static void find_maxima(const struct job *job, const struct part *part,
                        const struct mxq_cpu_place *place, size_t rows, size_t columns,
                        struct scratch *s, float *maxima) {
  const struct mxq_cpu_reader *reader = job->reader;
  const size_t blocks = (columns + part->block_k - 1) / part->block_k;
  const void *magnitudes = row_at(job, place, 0);
  if (part->block_n > 1) {
    magnitudes = s->magnitudes;
    memset(s->magnitudes, 0, columns * reader->element_bytes);
    for (size_t r = 0; r < rows; ++r) reader->fold(row_at(job, place, r), columns, s->magnitudes);
  }
  if (part->block_k > 1) {
    reader->reduce(magnitudes, columns, part->block_k, s->magnitudes);
    magnitudes = s->magnitudes;
  }
  reader->widen(magnitudes, blocks, maxima);
}

/* Gives each element of a row the multiplier of its block. A last block that is cut short is
 * treated as a whole one: there is room for it. */
static struct mxq_cpu_multipliers spread_multipliers(size_t columns, size_t block,
                                                     const float *multipliers, struct scratch *s) {
  float *even = s->even, *odd = s->odd;
  if (block == 1) {
    for (size_t i = 0; i < (columns + 1) / 2; ++i) {
      even[i] = multipliers[2 * i];
      odd[i] = multipliers[2 * i + 1];
    }
    return (struct mxq_cpu_multipliers){even, odd};
  }
  for (size_t k = 0; k < columns; k += block, ++multipliers)
    for (size_t end = k + block, i = k; i < end; i += GROUP)
      for (size_t j = 0; j < GROUP / 2; ++j) even[i / 2 + j] = *multipliers;
  return (struct mxq_cpu_multipliers){even, even};
}

/* A block with a NaN or an infinity is NaN throughout. */
static void overwrite_nan_blocks(const struct job *job, const struct part *part, size_t rows,
                                 const struct mxq_cpu_tile *tile, const float *maxima,
                                 uint8_t *codes) {
  for (size_t k = 0; k < tile->columns; ++k) {
    if (mxq_cpu_bits(maxima[k / part->block_k]) < MXQ_CPU_INFINITY) continue;
    for (size_t r = 0; r < rows; ++r) codes[r * tile->pitch + k] = (uint8_t)job->type->nan_code;
  }
}

/* Codes of a tile's blocks from row n on, `place` being theirs. */
static void round_blocks(const struct job *job, const struct part *part,
                         const struct mxq_cpu_place *place, const struct mxq_cpu_tile *tile,
                         size_t n, size_t first_block, int not_finite, struct scratch *s) {
  const size_t rows = smaller(tile->rows - n, part->block_n);
  uint8_t *codes = tile->codes + n * tile->pitch;
  const struct mxq_cpu_multipliers multipliers =
      spread_multipliers(tile->columns, part->block_k, s->multipliers + first_block, s);
  for (size_t r = 0; r < rows; ++r)
    mxq_cpu_convert(job->reader, &job->format, row_at(job, place, r), &multipliers, tile->columns,
                    s->words, codes + r * tile->pitch);
  if (not_finite) overwrite_nan_blocks(job, part, rows, tile, s->maxima + first_block, codes);
}

/* First the maxima of all of the tile's blocks, then all scales at once, then the codes. */
static void quantize_tile(const struct job *job, const struct part *part,
                          const struct mxq_cpu_place *place, struct scratch *s) {
  const struct mxq_shape *shape = job->shape;
  const struct mxq_cpu_tile tile =
      mxq_cpu_tile_at(&part->output, place, smaller((uint64_t)shape->n - place->n, job->tile_n),
                      smaller((uint64_t)shape->k - place->k, job->tile_k), s->codes, job->tile_k);
  const size_t along_k = (tile.columns + part->block_k - 1) / part->block_k;
  struct mxq_cpu_place at = *place;
  size_t blocks = 0;
  for (size_t n = 0; n < tile.rows; n += part->block_n, blocks += along_k) {
    at.n = place->n + n;
    find_maxima(job, part, &at, smaller(tile.rows - n, part->block_n), tile.columns, s,
                s->maxima + blocks);
  }
  const size_t not_finite =
      mxq_cpu_scale(job->variant->mode, job->type, s->maxima, blocks, s->scales, s->multipliers);
  blocks = 0;
  for (size_t n = 0; n < tile.rows; n += part->block_n, blocks += along_k) {
    at.n = place->n + n;
    mxq_cpu_scales_store(&part->output.scales, at.e, at.n / part->block_n, at.k / part->block_k,
                         along_k, s->scales + blocks);
    round_blocks(job, part, &at, &tile, n, blocks, not_finite > 0, s);
  }
  mxq_cpu_store_codes(&part->output, place, &tile);
}

/* Both outputs of a tile while it is in the cache. */
static void quantize(const struct job *job) {
  const uint64_t e = (uint64_t)job->shape->e, n = (uint64_t)job->shape->n,
                 k = (uint64_t)job->shape->k;
  struct scratch scratch = {0};
  struct mxq_cpu_place place;
  for (place.e = 0; place.e < e; ++place.e)
    for (place.n = 0; place.n < n; place.n += job->tile_n)
      for (place.k = 0; place.k < k; place.k += job->tile_k)
        for (unsigned part = 0; part < job->part_count; ++part)
          quantize_tile(job, &job->parts[part], &place, &scratch);
}

static void add_part(struct job *job, unsigned part, const struct mxq_pointers *pointers) {
  const unsigned kind = mxq_layout_part(job->variant->layout, part);
  struct part *made = &job->parts[job->part_count];
  if (kind == MXQ_PART_NONE) return;
  *made = (struct part){
      .output = {.variant = job->variant,
                 .shape = job->shape,
                 .part = part,
                 .codes = pointers->out[part],
                 .code_bits = job->type->bits},
      .block_n = kind & MXQ_PART_ALONG_N ? job->variant->block : 1,
      .block_k = kind & MXQ_PART_ALONG_K ? job->variant->block : 1,
  };
  mxq_cpu_scales_of(job->variant, job->shape, part, pointers->scale[part], &made->output.scales);
  mxq_cpu_scales_pad(&made->output.scales);
  const int squares = part > 0 || kind & MXQ_PART_COLUMN_MAJOR;
  job->tile_n = squares ? SIDE : made->block_n;
  job->tile_k = smaller(TILE_CODES / job->tile_n, MOST_COLUMNS);
  ++job->part_count;
}

void mxq_cpu_quantize(const struct mxq_variant *variant, const struct mxq_shape *shape,
                      const struct mxq_pointers *pointers) {
  struct job job = {.variant = variant,
                    .shape = shape,
                    .type = mxq_type_facts(variant->out),
                    .reader = mxq_cpu_reader(variant->in),
                    .in = pointers->in};
  mxq_cpu_format_of(job.type, &job.format);
  for (unsigned part = 0; part < 2; ++part) add_part(&job, part, pointers);
  quantize(&job);
}
