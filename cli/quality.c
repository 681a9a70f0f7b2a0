/* SPDX-License-Identifier: MIT */
#include "quality.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "text.h"

/* A tile: a cache line of codes along N, of two-byte inputs along K. */
#define TILE_N      64u
#define TILE_K      32u
#define LANES       8u   /* independent sums, so that the compiler can use vectors */
#define STRIPE_ROWS 256u /* rows of one matrix that are one unit of work */

struct measure {
  const struct mxq_variant *variant;
  const struct mxq_shape *shape;
  unsigned part;
  const unsigned char *in, *codes, *scales;
  const struct mxq_type_facts *in_type;
  unsigned scale_bits, code_bits;
  float *in_table, *code_table, *scale_table; /* NULL: not of 16, 8 and 8 bits */
  uint64_t stripes;                           /* of a matrix */
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

static float scale_at(const struct measure *m, const struct tile *t, unsigned i, unsigned j) {
  const uint64_t place = mxq_scale_offset(m->variant, m->shape, m->part, t->e, t->n + i, t->k + j);
  return m->scale_table ? m->scale_table[m->scales[place]] : decode_scale(m->scales, place);
}

/* How far one scale reaches within a tile, whose first element is at a multiple of `side`. */
static unsigned reach(const struct measure *m, unsigned along, unsigned side) {
  const unsigned block = m->variant->block;
  if (!(mxq_layout_part(m->variant->layout, m->part) & along)) return 1;
  return side % block == 0 ? block : block % side == 0 ? side : 1;
}

/* The rows and columns from (i, j) on that have one scale. */
static void decode_block(const struct measure *m, struct tile *t, unsigned i, unsigned j,
                         unsigned rows, unsigned columns) {
  const unsigned kind = mxq_layout_part(m->variant->layout, m->part);
  const uint64_t step_n = kind & MXQ_PART_COLUMN_MAJOR ? 1 : (uint64_t)m->shape->k;
  const uint64_t step_k = kind & MXQ_PART_COLUMN_MAJOR ? (uint64_t)m->shape->n : 1;
  const float scale = scale_at(m, t, i, j);
  uint64_t column = mxq_data_offset(m->variant, m->shape, m->part, t->e, t->n + i, t->k + j);
  for (unsigned c = 0; c < columns; c++, column += step_k) {
    uint64_t place = column;
    for (unsigned r = 0; r < rows; r++, place += step_n)
      t->y[i + r][j + c] = m->code_table[decode_code_at(m->code_bits, m->codes, place)] * scale;
  }
}

static void decode_codes(const struct measure *m, struct tile *t) {
  const unsigned rows = reach(m, MXQ_PART_ALONG_N, TILE_N);
  const unsigned columns = reach(m, MXQ_PART_ALONG_K, TILE_K);
  for (unsigned j = 0; j < t->columns; j += columns)
    for (unsigned i = 0; i < t->rows; i += rows)
      decode_block(m, t, i, j, t->rows - i < rows ? t->rows - i : rows,
                   t->columns - j < columns ? t->columns - j : columns);
}

struct lanes {
  double signal[LANES], noise[LANES], error[LANES], input[LANES];
  uint64_t counted[LANES];
  int closer; /* whether an element has a larger relative error than the tile began with */
};

static void compare_row(const float *x, const float *y, unsigned columns, double relative,
                        struct lanes *sum) {
  for (unsigned j = 0; j < columns; j += LANES) {
    for (unsigned l = 0; l < LANES; l++) {
      const double size = fabs((double)x[j + l]);
      const double error = fabs((double)x[j + l] - (double)y[j + l]);
      const int counts = error <= DBL_MAX;
      const double size_counted = counts ? size : 0, error_counted = counts ? error : 0;
      sum->signal[l] += size_counted * size_counted;
      sum->noise[l] += error_counted * error_counted;
      sum->error[l] = error_counted > sum->error[l] ? error_counted : sum->error[l];
      sum->input[l] = size_counted > sum->input[l] ? size_counted : sum->input[l];
      sum->counted[l] += (uint64_t)counts;
      sum->closer |= error_counted > relative * size_counted;
    }
  }
}

/* The divisions only where they matter. */
static double largest_relative(const struct tile *t, double largest) {
  for (unsigned i = 0; i < t->rows; i++) {
    for (unsigned j = 0; j < t->columns; j++) {
      const double size = fabs((double)t->x[i][j]);
      const double error = fabs((double)t->x[i][j] - (double)t->y[i][j]);
      if (size > 0 && error <= DBL_MAX && error > largest * size) largest = error / size;
    }
  }
  return largest;
}

/* Columns that the tile lacks hold zeros, which are counted and taken off again. */
static void compare(const struct tile *t, struct quality *q) {
  struct lanes sum = {0};
  const unsigned columns = (t->columns + LANES - 1) / LANES * LANES;
  for (unsigned i = 0; i < t->rows; i++)
    compare_row(t->x[i], t->y[i], columns, q->largest_relative, &sum);
  uint64_t counted = 0;
  for (unsigned l = 0; l < LANES; l++) {
    q->signal += sum.signal[l];
    q->noise += sum.noise[l];
    q->largest_error = fmax(q->largest_error, sum.error[l]);
    q->largest_input = fmax(q->largest_input, sum.input[l]);
    counted += sum.counted[l];
  }
  if (sum.closer) q->largest_relative = largest_relative(t, q->largest_relative);
  counted -= (uint64_t)(columns - t->columns) * t->rows;
  q->elements += counted;
  q->excluded += (uint64_t)t->columns * t->rows - counted;
}

static void clear(struct tile *t) {
  memset(t->x, 0, sizeof t->x);
  memset(t->y, 0, sizeof t->y);
}

static void measure_tile(const struct measure *m, struct tile *t, struct quality *result) {
  const uint64_t rows = (uint64_t)m->shape->n, columns = (uint64_t)m->shape->k;
  const unsigned bytes = m->in_type->bits / 8;
  for (unsigned i = 0; i < t->rows; i++) {
    const uint64_t at = (t->e * rows + t->n + i) * columns + t->k;
    decode_wide(m->in_type, m->in_table, m->in + at * bytes, t->columns, t->x[i]);
  }
  decode_codes(m, t);
  compare(t, result);
}

static void measure_stripe(const struct measure *m, struct tile *t, uint64_t unit,
                           struct quality *result) {
  const uint64_t rows = (uint64_t)m->shape->n, columns = (uint64_t)m->shape->k;
  const uint64_t begin = unit % m->stripes * STRIPE_ROWS;
  const uint64_t end = begin + STRIPE_ROWS < rows ? begin + STRIPE_ROWS : rows;
  t->e = unit / m->stripes;
  /* Along N first: codes of a column stand together. */
  for (t->k = 0; t->k < columns; t->k += TILE_K) {
    t->columns = (unsigned)(columns - t->k < TILE_K ? columns - t->k : TILE_K);
    if (t->columns < TILE_K) clear(t);
    for (t->n = begin; t->n < end; t->n += TILE_N) {
      t->rows = (unsigned)(end - t->n < TILE_N ? end - t->n : TILE_N);
      measure_tile(m, t, result);
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
  m.code_bits = mxq_type_facts(variant->out)->bits;
  m.in_table = m.in_type->bits == 16 ? decode_table(m.in_type) : NULL;
  m.code_table = decode_table(mxq_type_facts(variant->out));
  if (m.scale_bits == 8) m.scale_table = decode_scales();
  m.stripes = mxq_ceil_div((uint64_t)shape->n, STRIPE_ROWS);
  m.units = m.stripes * (uint64_t)shape->e;
  m.results = text_allocate((size_t)m.units, sizeof *m.results);
  work_on(&m, m.units < threads ? (unsigned)m.units : threads);
  for (uint64_t i = 0; i < m.units; i++) quality_add(&sum, &m.results[i]);
  free(m.results);
  free(m.in_table);
  free(m.code_table);
  free(m.scale_table);
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
