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

#define MXQ_BLOCK(NAME, token, number)                                                      \
  _Static_assert(SIDE % (number) == 0 && MOST_COLUMNS % (number) == 0 && (number) % 2 == 0, \
                 "a tile must hold whole blocks, and blocks whole bytes of packed codes");
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
  float maxima[MOST_COLUMNS];
  float multipliers[MOST_COLUMNS];
  uint32_t scales[MOST_COLUMNS];
  float x[MOST_COLUMNS];
};

static size_t smaller(uint64_t a, size_t b) { return a < b ? (size_t)a : b; }

static const unsigned char *row_at(const struct job *job, const struct mxq_cpu_place *place,
                                   size_t row) {
  const struct mxq_shape *shape = job->shape;
  const uint64_t offset = place->e * (uint64_t)shape->stride_e +
                          (place->n + row) * (uint64_t)shape->stride_n + place->k;
  return job->in + offset * job->reader->element_bytes;
}

/* Maxima, scales and multipliers of the blocks of `rows` rows. Returns how many of the maxima are
 * not finite. */
static size_t scale_blocks(const struct job *job, const struct part *part,
                           const struct mxq_cpu_place *place, size_t rows, size_t columns,
                           struct scratch *s) {
  const size_t blocks = (columns + part->block_k - 1) / part->block_k;
  memset(s->magnitudes, 0, columns * job->reader->element_bytes);
  for (size_t r = 0; r < rows; ++r)
    job->reader->fold(row_at(job, place, r), columns, s->magnitudes);
  if (part->block_k > 1) job->reader->reduce(s->magnitudes, columns, part->block_k);
  job->reader->widen(s->magnitudes, blocks, s->maxima);
  const size_t not_finite =
      mxq_cpu_scale(job->variant->mode, job->type, s->maxima, blocks, s->scales, s->multipliers);
  mxq_cpu_scales_store(&part->output.scales, place->e, place->n / part->block_n,
                       place->k / part->block_k, blocks, s->scales);
  return not_finite;
}

/* Gives each column its block's multiplier: in place, so from the last block to the first. */
static void spread_multipliers(size_t columns, size_t block, float *multipliers) {
  if (block == 1) return;
  for (size_t b = (columns + block - 1) / block; b-- > 0;) {
    const float multiplier = multipliers[b];
    const size_t end = smaller((b + 1) * block, columns);
    for (size_t k = b * block; k < end; ++k) multipliers[k] = multiplier;
  }
}

/* A block with a NaN or an infinity is NaN throughout. */
static void overwrite_nan_blocks(const struct job *job, const struct part *part, size_t rows,
                                 size_t columns, const float *maxima, uint8_t *codes) {
  for (size_t k = 0; k < columns; ++k) {
    if (mxq_cpu_bits(maxima[k / part->block_k]) < MXQ_CPU_INFINITY) continue;
    for (size_t r = 0; r < rows; ++r) codes[r * job->tile_k + k] = (uint8_t)job->type->nan_code;
  }
}

/* The blocks of `rows` rows, at most block_n, from `place` on. */
static void quantize_rows(const struct job *job, const struct part *part,
                          const struct mxq_cpu_place *place, size_t rows, size_t columns,
                          struct scratch *s, uint8_t *codes) {
  const size_t not_finite = scale_blocks(job, part, place, rows, columns, s);
  spread_multipliers(columns, part->block_k, s->multipliers);
  for (size_t r = 0; r < rows; ++r) {
    job->reader->widen(row_at(job, place, r), columns, s->x);
    mxq_cpu_round(&job->format, s->x, s->multipliers, columns, codes + r * job->tile_k);
  }
  if (not_finite) overwrite_nan_blocks(job, part, rows, columns, s->maxima, codes);
}

static void quantize_tile(const struct job *job, const struct part *part,
                          const struct mxq_cpu_place *place, struct scratch *s) {
  const struct mxq_shape *shape = job->shape;
  const struct mxq_cpu_tile tile = {s->codes, smaller((uint64_t)shape->n - place->n, job->tile_n),
                                    smaller((uint64_t)shape->k - place->k, job->tile_k),
                                    job->tile_k};
  struct mxq_cpu_place block = *place;
  for (size_t n = 0; n < tile.rows; n += part->block_n, block.n += part->block_n)
    quantize_rows(job, part, &block, smaller(tile.rows - n, part->block_n), tile.columns, s,
                  s->codes + n * job->tile_k);
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
