/* SPDX-License-Identifier: MIT */
#include "cpu_quantize.h"

#include <string.h>

#include "axes.h"
#include "cpu_bits.h"
#include "cpu_convert.h"
#include "cpu_scale.h"
#include "cpu_store.h"

/* Tiles are of TILE_CODES codes at most. A single row-major output takes the rows of one block and
 * reads along them as far as that goes. Column-major ones take as many rows as make a cache line of
 * each column, and so do two outputs, which share what was read: those tiles are gone through in
 * strips, whose rows stay in the cache for all that is done with them. More rows would not, if
 * their stride is a power of two. */
enum { TILE_CODES = MXQ_CPU_LINE * MXQ_CPU_LINE, MOST_COLUMNS = 1024 };
enum { TILE_ROWS = 64, STRIP_ROWS = 32 }; /* or a block's, if it has more */
/* A strip has a block for each group of a tile at most. */
enum { MOST_BLOCKS = TILE_CODES / MXQ_CPU_GROUP };

#define MXQ_BLOCK(NAME, token, number)                                           \
  _Static_assert(MXQ_CPU_LINE % (number) == 0 && MOST_COLUMNS % (number) == 0 && \
                     (number) % MXQ_CPU_GROUP == 0,                              \
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
  size_t tile_n, tile_k, strip_n;
  struct part parts[2];
  unsigned part_count;
};

/* What a tile needs besides the tensors. */
struct scratch {
  uint8_t codes[2][TILE_CODES]; /* of each part, unless they go to the output at once */
  union {
    int16_t halves[MOST_COLUMNS];
    int32_t words[MOST_COLUMNS];
    float values[MOST_COLUMNS];
  } magnitudes; /* in the input's own bits, of its own width */
  float maxima[MOST_BLOCKS];
  float multipliers[MOST_BLOCKS];
  uint32_t scales[MOST_BLOCKS];
  float even[MOST_COLUMNS / 2], odd[MOST_COLUMNS / 2]; /* multipliers of one row's elements */
  uint32_t words[MOST_COLUMNS / 2];
};

static size_t smaller(uint64_t a, size_t b) { return a < b ? (size_t)a : b; }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static const unsigned char *row_at(const struct job *job, const struct mxq_cpu_place *place,
                                   size_t row) {
  const struct mxq_shape *shape = job->shape;
  const uint64_t offset = place->e * (uint64_t)shape->stride_e +
                          (place->n + row) * (uint64_t)shape->stride_n + place->k;
  return job->in + offset * job->reader->element_bytes;
}

/* The maxima of neighbouring blocks along K, which begin at `place`. */
static void find_maxima(const struct job *job, const struct part *part,
                        const struct mxq_cpu_place *place, const struct mxq_cpu_tile *blocks,
                        struct scratch *s, float *maxima) {
  const struct mxq_cpu_reader *reader = job->reader;
  const size_t columns = blocks->columns;
  const void *magnitudes = row_at(job, place, 0);
  if (part->block_n > 1) {
    magnitudes = &s->magnitudes;
    memset(&s->magnitudes, 0, columns * reader->element_bytes);
    for (size_t r = 0; r < blocks->rows; ++r)
      reader->fold(row_at(job, place, r), columns, &s->magnitudes);
  }
  if (part->block_k > 1) {
    reader->reduce(magnitudes, columns, part->block_k, &s->magnitudes);
    magnitudes = &s->magnitudes;
  }
  reader->widen(magnitudes, (columns + part->block_k - 1) / part->block_k, maxima);
}

/* A block with a NaN or an infinity is NaN throughout. */
static void overwrite_nan_blocks(const struct job *job, const struct part *part,
                                 const struct mxq_cpu_tile *blocks, const float *maxima) {
  for (size_t k = 0; k < blocks->columns; ++k) {
    if (mxq_cpu_bits(maxima[k / part->block_k]) < MXQ_CPU_INFINITY) continue;
    for (size_t r = 0; r < blocks->rows; ++r)
      blocks->codes[r * blocks->pitch + k] = (uint8_t)job->type->nan_code;
  }
}

/* The codes of neighbouring blocks along K, which begin at `place`. Each element gets a multiplier
 * of its own where blocks are not along the row or shorter than a chunk, and where the last one is
 * cut short. */
static void round_blocks(const struct job *job, const struct part *part,
                         const struct mxq_cpu_place *place, const struct mxq_cpu_tile *blocks,
                         const float *multipliers, struct scratch *s) {
  const size_t columns = blocks->columns;
  if (part->block_k % MXQ_CPU_CHUNK == 0 && columns % part->block_k == 0) {
    for (size_t r = 0; r < blocks->rows; ++r)
      mxq_cpu_convert_blocks(job->reader, &job->format, row_at(job, place, r), part->block_k,
                             multipliers, columns, s->words, blocks->codes + r * blocks->pitch);
    return;
  }
  const struct mxq_cpu_multipliers of_elements =
      mxq_cpu_spread(multipliers, columns, part->block_k, s->even, s->odd);
  for (size_t r = 0; r < blocks->rows; ++r)
    mxq_cpu_convert(job->reader, &job->format, row_at(job, place, r), &of_elements, columns,
                    s->words, blocks->codes + r * blocks->pitch);
}

/* The rows from n on of a tile or strip at `place`, at most `most` of them; moves the place. */
static struct mxq_cpu_tile rows_of(const struct mxq_cpu_tile *tile, size_t n, size_t most,
                                   struct mxq_cpu_place *place) {
  place->n += n;
  return (struct mxq_cpu_tile){tile->codes + n * tile->pitch, smaller(tile->rows - n, most),
                               tile->columns, tile->pitch};
}

/* First the maxima of all blocks, then all scales at once, then the codes. */
static void quantize_strip(const struct job *job, const struct part *part,
                           const struct mxq_cpu_place *place, const struct mxq_cpu_tile *strip,
                           struct scratch *s) {
  const size_t along_k = (strip->columns + part->block_k - 1) / part->block_k;
  size_t first = 0; /* block of a row of them */
  for (size_t n = 0; n < strip->rows; n += part->block_n, first += along_k) {
    struct mxq_cpu_place at = *place;
    const struct mxq_cpu_tile blocks = rows_of(strip, n, part->block_n, &at);
    find_maxima(job, part, &at, &blocks, s, s->maxima + first);
  }
  const size_t not_finite =
      mxq_cpu_scale(job->variant->mode, job->type, s->maxima, first, s->scales, s->multipliers);
  first = 0;
  for (size_t n = 0; n < strip->rows; n += part->block_n, first += along_k) {
    struct mxq_cpu_place at = *place;
    const struct mxq_cpu_tile blocks = rows_of(strip, n, part->block_n, &at);
    mxq_cpu_scales_store(&part->output.scales, at.e, at.n / part->block_n, at.k / part->block_k,
                         along_k, s->scales + first);
    round_blocks(job, part, &at, &blocks, s->multipliers + first, s);
    if (not_finite) overwrite_nan_blocks(job, part, &blocks, s->maxima + first);
  }
}

static void quantize_tile(const struct job *job, const struct mxq_cpu_place *place,
                          struct scratch *s) {
  const struct mxq_shape *shape = job->shape;
  const size_t rows = smaller((uint64_t)shape->n - place->n, job->tile_n),
               columns = smaller((uint64_t)shape->k - place->k, job->tile_k);
  struct mxq_cpu_tile tiles[2];
  for (unsigned i = 0; i < job->part_count; ++i)
    tiles[i] =
        mxq_cpu_tile_at(&job->parts[i].output, place, rows, columns, s->codes[i], job->tile_k);
  for (size_t n = 0; n < rows; n += job->strip_n)
    for (unsigned i = 0; i < job->part_count; ++i) {
      struct mxq_cpu_place at = *place;
      const struct mxq_cpu_tile strip = rows_of(&tiles[i], n, job->strip_n, &at);
      quantize_strip(job, &job->parts[i], &at, &strip, s);
    }
  for (unsigned i = 0; i < job->part_count; ++i)
    mxq_cpu_store_codes(&job->parts[i].output, place, &tiles[i]);
}

static void quantize(const struct job *job) {
  const uint64_t e = (uint64_t)job->shape->e, n = (uint64_t)job->shape->n,
                 k = (uint64_t)job->shape->k;
  struct scratch scratch = {0};
  struct mxq_cpu_place place;
  for (place.e = 0; place.e < e; ++place.e)
    for (place.n = 0; place.n < n; place.n += job->tile_n)
      for (place.k = 0; place.k < k; place.k += job->tile_k) quantize_tile(job, &place, &scratch);
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
  const int several_rows = part > 0 || kind & MXQ_PART_COLUMN_MAJOR;
  job->tile_n = several_rows ? larger(TILE_ROWS, made->block_n) : made->block_n;
  job->strip_n = several_rows ? larger(STRIP_ROWS, made->block_n) : made->block_n;
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
