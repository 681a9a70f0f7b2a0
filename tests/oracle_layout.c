/* SPDX-License-Identifier: MIT */
#include "oracle_layout.h"

#include <string.h>

#include "axes.h"

/* Contract, section 1; written again on purpose. */
static const struct part {
  const char *layout;
  unsigned part;
  int along_n, along_k, column_major;
} parts[] = {
    {"row", 0, 0, 1, 0},    {"col", 0, 1, 0, 0},     {"colt", 0, 1, 0, 1},
    {"sq", 0, 1, 1, 0},     {"sqt", 0, 1, 1, 1},     {"rowcol", 0, 0, 1, 0},
    {"rowcol", 1, 1, 0, 0}, {"rowcolt", 0, 0, 1, 0}, {"rowcolt", 1, 1, 0, 1},
    {"sqsqt", 0, 1, 1, 0},  {"sqsqt", 1, 1, 1, 1},
};

static uint64_t up(uint64_t length, uint64_t multiple) {
  while (length % multiple) ++length;
  return length;
}

/* A name's last but one or last word. */
static int word_is(const char *name, int from_end, const char *word) {
  const char *end = name + strlen(name), *begin = end;
  for (int i = 0; i < from_end; ++i) {
    end = i ? begin - 1 : end;
    for (begin = end; begin > name && begin[-1] != '_';) --begin;
  }
  return (size_t)(end - begin) == strlen(word) && !strncmp(begin, word, strlen(word));
}

int oracle_layout_make(const struct mxq_variant *variant, const struct mxq_shape *shape,
                       unsigned part, struct oracle_layout *layout) {
  static const char *const scales[] = {"lin", "blk", "mn"};
  char name[MXQ_VARIANT_NAME_SIZE] = "";
  const struct part *found = NULL;
  int known = 0;
  mxq_variant_name(variant, name, sizeof name);
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
    if (!word_is(name, 2, parts[i].layout)) continue;
    known = 1;
    if (parts[i].part == part) found = &parts[i];
  }
  if (!known) return -1;
  if (!found) return 0;
  *layout = (struct oracle_layout){.E = (uint64_t)shape->e,
                                   .N = (uint64_t)shape->n,
                                   .K = (uint64_t)shape->k,
                                   .block_n = found->along_n ? variant->block : 1,
                                   .block_k = found->along_k ? variant->block : 1,
                                   .column_major = found->column_major,
                                   .rows_of_k = found->column_major || !found->along_k};
  layout->blocks_n = up(layout->N, layout->block_n) / layout->block_n;
  layout->blocks_k = up(layout->K, layout->block_k) / layout->block_k;
  layout->R = layout->rows_of_k ? layout->K : layout->N;
  layout->C = layout->rows_of_k ? layout->blocks_n : layout->blocks_k;
  layout->scale_bits = mxq_mode_facts(variant->mode)->scale_bits;
  for (size_t i = 0; i < sizeof scales / sizeof scales[0]; ++i)
    if (word_is(name, 1, scales[i])) layout->scales = scales[i];
  return layout->scales ? 1 : -1;
}

uint64_t oracle_code_place(const struct oracle_layout *layout, uint64_t e, uint64_t n, uint64_t k) {
  const uint64_t matrix = e * layout->N * layout->K;
  return layout->column_major ? matrix + k * layout->N + n : matrix + n * layout->K + k;
}

static int is_square(const struct oracle_layout *l) { return l->block_n > 1 && l->block_k > 1; }

/* Rows of scales that are stored once for a whole square: floats of `mn`. */
static uint64_t rows_in_one(const struct oracle_layout *l) {
  return is_square(l) && l->scale_bits == 32 ? l->block_n : 1;
}

uint64_t oracle_scale_count(const struct oracle_layout *l) {
  if (!strcmp(l->scales, "lin")) return l->E * l->blocks_n * l->blocks_k;
  if (!strcmp(l->scales, "blk")) return l->E * up(l->R, 128) * up(l->C, 4);
  if (l->scale_bits == 8) return l->E * up(l->C, 4) * up(l->R, 4);
  if (is_square(l)) return l->E * (up(l->R, l->block_n) / l->block_n) * up(l->C, 4);
  return l->E * l->C * up(l->R, 4);
}

/* Row, column and matrix at a place of `blk`: a tile has 32 lines of 16 bytes, a line four rows
 * that are 32 apart. */
static void take_blk(const struct oracle_layout *l, uint64_t place, uint64_t rce[3]) {
  const uint64_t across = up(l->C, 4) / 4, down = up(l->R, 128) / 128;
  const uint64_t tile = place / 512, line = place % 512 / 16, byte = place % 16;
  rce[0] = tile / across % down * 128 + byte / 4 * 32 + line;
  rce[1] = tile % across * 4 + byte % 4;
  rce[2] = tile / across / down;
}

static void take_mn(const struct oracle_layout *l, uint64_t place, uint64_t rce[3]) {
  const uint64_t rows = up(l->R, 4), columns = up(l->C, 4);
  if (l->scale_bits == 8) {
    const uint64_t word = place / 4;
    rce[0] = word % rows;
    rce[1] = word / rows % (columns / 4) * 4 + place % 4;
    rce[2] = word / rows / (columns / 4);
  } else if (is_square(l)) {
    const uint64_t blocks = up(l->R, l->block_n) / l->block_n;
    rce[0] = place / columns % blocks * l->block_n;
    rce[1] = place % columns;
    rce[2] = place / columns / blocks;
  } else {
    rce[0] = place % rows;
    rce[1] = place / rows % l->C;
    rce[2] = place / rows / l->C;
  }
}

struct oracle_source oracle_scale_source(const struct oracle_layout *l, uint64_t place) {
  struct oracle_source source = {0, 1, 0, 0, 0};
  uint64_t rce[3];
  if (!strcmp(l->scales, "lin")) {
    source.block_k = place % l->blocks_k;
    source.block_n = place / l->blocks_k % l->blocks_n;
    source.e = place / l->blocks_k / l->blocks_n;
    return source;
  }
  (strcmp(l->scales, "blk") ? take_mn : take_blk)(l, place, rce);
  source.padding = rce[0] >= l->R || rce[1] >= l->C;
  source.e = rce[2];
  const uint64_t across = l->rows_of_k ? l->block_k : l->block_n; /* rows of one block */
  source.first = rce[0] % across == 0 || rows_in_one(l) > 1;
  *(l->rows_of_k ? &source.block_k : &source.block_n) = rce[0] / across;
  *(l->rows_of_k ? &source.block_n : &source.block_k) = rce[1];
  return source;
}
