/* SPDX-License-Identifier: MIT */
#include "cpu_dequantize.h"

#include "axes.h"
#include "cpu_decode.h"
#include "cpu_load.h"
#include "cpu_scales.h"

/* Tiles as cpu_quantize.c has them: squares of column-major codes, rows of one block of others. */
enum { SIDE = MXQ_CPU_LINE, TILE_CODES = SIDE * SIDE, MOST_COLUMNS = 1024 };

struct job {
  const struct mxq_variant *variant;
  const struct mxq_shape *shape;
  const unsigned char *codes;
  unsigned char *out;
  unsigned code_bits, scale_bits;
  struct mxq_cpu_scales scales;
  const struct mxq_cpu_writer *writer;
  size_t block_n, block_k;
  size_t tile_n, tile_k;
  struct mxq_cpu_coding coding;
};

struct scratch {
  uint8_t codes[TILE_CODES];
  uint32_t stored[MOST_COLUMNS];
  float scales[MOST_COLUMNS];
  float even[MOST_COLUMNS / 2], odd[MOST_COLUMNS / 2]; /* scales of one row's elements */
};

static size_t smaller(uint64_t a, size_t b) { return a < b ? (size_t)a : b; }

static unsigned char *row_at(const struct job *job, const struct mxq_cpu_place *place, size_t row) {
  const struct mxq_shape *shape = job->shape;
  const uint64_t offset = place->e * (uint64_t)shape->stride_e +
                          (place->n + row) * (uint64_t)shape->stride_n + place->k;
  return job->out + offset * job->writer->element_bytes;
}

/* The scale of each element of a row of blocks that begins at `place`. */
static struct mxq_cpu_multipliers load_scales(const struct job *job,
                                              const struct mxq_cpu_place *place, size_t columns,
                                              struct scratch *s) {
  const size_t blocks = (columns + job->block_k - 1) / job->block_k;
  mxq_cpu_scales_load(&job->scales, place->e, place->n / job->block_n, place->k / job->block_k,
                      blocks, s->stored);
  mxq_cpu_decode_scales(job->scale_bits, s->stored, blocks, s->scales);
  return mxq_cpu_spread(s->scales, columns, job->block_k, s->even, s->odd);
}

static void dequantize_tile(const struct job *job, const struct mxq_cpu_place *place,
                            struct scratch *s) {
  const struct mxq_cpu_tile tile = {
      s->codes, smaller((uint64_t)job->shape->n - place->n, job->tile_n),
      smaller((uint64_t)job->shape->k - place->k, job->tile_k), job->tile_k};
  struct mxq_cpu_multipliers scales = {NULL, NULL};
  mxq_cpu_load_codes(job->variant, job->shape, job->codes, job->code_bits, place, &tile);
  for (size_t n = 0; n < tile.rows; ++n) {
    if (n % job->block_n == 0) {
      const struct mxq_cpu_place block = {place->e, place->n + n, place->k};
      scales = load_scales(job, &block, tile.columns, s);
    }
    mxq_cpu_decode(job->writer, &job->coding, tile.codes + n * tile.pitch, &scales, tile.columns,
                   row_at(job, place, n));
  }
}

static void dequantize(const struct job *job) {
  const uint64_t e = (uint64_t)job->shape->e, n = (uint64_t)job->shape->n,
                 k = (uint64_t)job->shape->k;
  struct scratch scratch = {0};
  struct mxq_cpu_place place;
  for (place.e = 0; place.e < e; ++place.e)
    for (place.n = 0; place.n < n; place.n += job->tile_n)
      for (place.k = 0; place.k < k; place.k += job->tile_k) dequantize_tile(job, &place, &scratch);
}

void mxq_cpu_dequantize(const struct mxq_variant *variant, const struct mxq_shape *shape,
                        const struct mxq_pointers *pointers) {
  const unsigned kind = mxq_layout_part(variant->layout, 0);
  const struct mxq_type_facts *type = mxq_type_facts(variant->in);
  struct job job = {.variant = variant,
                    .shape = shape,
                    .codes = pointers->in,
                    .out = pointers->out[0],
                    .code_bits = type->bits,
                    .scale_bits = mxq_mode_scale_bits(variant->mode),
                    .writer = mxq_cpu_writer(variant->out),
                    .block_n = kind & MXQ_PART_ALONG_N ? variant->block : 1,
                    .block_k = kind & MXQ_PART_ALONG_K ? variant->block : 1};
  mxq_cpu_scales_of(variant, shape, 0, (void *)(uintptr_t)pointers->in_scale, &job.scales);
  mxq_cpu_coding_of(type, &job.coding);
  job.tile_n = kind & MXQ_PART_COLUMN_MAJOR ? SIDE : job.block_n;
  job.tile_k = smaller(TILE_CODES / job.tile_n, MOST_COLUMNS);
  dequantize(&job);
}
