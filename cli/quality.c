/* SPDX-License-Identifier: MIT */
#include "quality.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "decode.h"
#include "text.h"

/* A tile: short along N and K so that both orders of storage stay in the cache. */
#define TILE_N      32u
#define TILE_K      64u
#define STRIPE_ROWS 256u /* rows of one matrix that are one unit of work */

struct measure {
  const struct mxq_variant *variant;
  const struct mxq_shape *shape;
  unsigned part;
  const unsigned char *in, *codes, *scales;
  const struct mxq_type_facts *in_type;
  unsigned scale_bits;
  float *in_table, *code_table;
  uint64_t stripes; /* of a matrix */
  struct quality *results;
  uint64_t units;
};

struct worker {
  const struct measure *measure;
  uint64_t first, step;
  pthread_t thread;
  int started;
};

struct tile {
  uint64_t e, n, k;
  unsigned rows, columns;
  float x[TILE_N][TILE_K];
  float y[TILE_N][TILE_K];
};

/* Scales change at multiples of 16 at most along an axis that blocks lie along. */
static void decode_codes(const struct measure *m, struct tile *t) {
  const unsigned kind = mxq_layout_part(m->variant->layout, m->part);
  const unsigned step_n = kind & MXQ_PART_ALONG_N ? 16 : 1;
  for (unsigned j = 0; j < t->columns; j++) {
    float scale = 0;
    uint64_t at = mxq_data_offset(m->variant, m->shape, m->part, t->e, t->n, t->k + j);
    const uint64_t step = kind & MXQ_PART_COLUMN_MAJOR ? 1 : (uint64_t)m->shape->k;
    for (unsigned i = 0; i < t->rows; i++, at += step) {
      if (i % step_n == 0)
        scale =
            decode_scale(m->scale_bits, m->scales,
                         mxq_scale_offset(m->variant, m->shape, m->part, t->e, t->n + i, t->k + j));
      t->y[i][j] = m->code_table[m->codes[at]] * scale;
    }
  }
}

static void compare(const struct tile *t, struct quality *q) {
  for (unsigned i = 0; i < t->rows; i++) {
    for (unsigned j = 0; j < t->columns; j++) {
      const double x = t->x[i][j], y = t->y[i][j];
      const double size = fabs(x), error = fabs(x - y);
      if (!isfinite(error)) {
        q->excluded++;
        continue;
      }
      q->signal += x * x;
      q->noise += error * error;
      if (size > q->largest_input) q->largest_input = size;
      if (error > q->largest_error) q->largest_error = error;
      /* The division only where it can matter. */
      if (size > 0 && error > q->largest_relative * size) q->largest_relative = error / size;
      q->elements++;
    }
  }
}

static void measure_stripe(const struct measure *m, struct tile *t, uint64_t unit,
                           struct quality *result) {
  const uint64_t rows = (uint64_t)m->shape->n, columns = (uint64_t)m->shape->k;
  const uint64_t begin = unit % m->stripes * STRIPE_ROWS;
  const uint64_t end = begin + STRIPE_ROWS < rows ? begin + STRIPE_ROWS : rows;
  const unsigned bytes = m->in_type->bits / 8;
  t->e = unit / m->stripes;
  for (t->n = begin; t->n < end; t->n += TILE_N) {
    t->rows = (unsigned)(end - t->n < TILE_N ? end - t->n : TILE_N);
    for (t->k = 0; t->k < columns; t->k += TILE_K) {
      t->columns = (unsigned)(columns - t->k < TILE_K ? columns - t->k : TILE_K);
      for (unsigned i = 0; i < t->rows; i++) {
        const uint64_t at = (t->e * rows + t->n + i) * columns + t->k;
        decode_wide(m->in_type, m->in_table, m->in + at * bytes, t->columns, t->x[i]);
      }
      decode_codes(m, t);
      compare(t, result);
    }
  }
}

static void *work(void *argument) {
  const struct worker *worker = argument;
  struct tile *tile = text_allocate(1, sizeof *tile);
  for (uint64_t unit = worker->first; unit < worker->measure->units; unit += worker->step)
    measure_stripe(worker->measure, tile, unit, &worker->measure->results[unit]);
  free(tile);
  return NULL;
}

/* A thread that cannot be made is replaced by the caller. */
static void work_on(const struct measure *m, unsigned threads) {
  struct worker *workers = text_allocate(threads, sizeof *workers);
  for (unsigned i = 0; i < threads; i++) {
    workers[i] = (struct worker){.measure = m, .first = i, .step = threads};
    workers[i].started = i && !pthread_create(&workers[i].thread, NULL, work, &workers[i]);
  }
  for (unsigned i = 0; i < threads; i++)
    if (!workers[i].started) work(&workers[i]);
  for (unsigned i = 0; i < threads; i++)
    if (workers[i].started) pthread_join(workers[i].thread, NULL);
  free(workers);
}

struct quality quality_measure(const struct mxq_variant *variant, const struct mxq_shape *shape,
                               unsigned part, const void *in, const void *codes, const void *scales,
                               unsigned threads) {
  struct quality sum = {0};
  struct measure m = {.variant = variant, .shape = shape, .part = part};
  if (shape->e == 0 || shape->n == 0 || shape->k == 0) return sum;
  m.in = in;
  m.codes = codes;
  m.scales = scales;
  m.in_type = mxq_type_facts(variant->in);
  m.scale_bits = mxq_mode_facts(variant->mode)->scale_bits;
  m.in_table = m.in_type->bits == 16 ? decode_table(m.in_type) : NULL;
  m.code_table = decode_table(mxq_type_facts(variant->out));
  m.stripes = mxq_ceil_div((uint64_t)shape->n, STRIPE_ROWS);
  m.units = m.stripes * (uint64_t)shape->e;
  m.results = text_allocate((size_t)m.units, sizeof *m.results);
  work_on(&m, m.units < threads ? (unsigned)m.units : threads);
  for (uint64_t i = 0; i < m.units; i++) quality_add(&sum, &m.results[i]);
  free(m.results);
  free(m.in_table);
  free(m.code_table);
  return sum;
}

void quality_add(struct quality *sum, const struct quality *part) {
  sum->signal += part->signal;
  sum->noise += part->noise;
  sum->largest_relative = fmax(sum->largest_relative, part->largest_relative);
  sum->largest_error = fmax(sum->largest_error, part->largest_error);
  sum->largest_input = fmax(sum->largest_input, part->largest_input);
  sum->elements += part->elements;
  sum->excluded += part->excluded;
}

double quality_decibels(const struct quality *quality) {
  if (!quality->elements) return NAN;
  if (quality->noise == 0) return INFINITY;
  return 10 * log10(quality->signal / quality->noise);
}
