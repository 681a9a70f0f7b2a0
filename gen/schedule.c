/* SPDX-License-Identifier: MIT */
#include "schedule.h"

#include <string.h>

#include "axes.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct mxq_family_facts families[] = {
    {MXQ_FAMILY_TMA, "tma", 1}, {MXQ_FAMILY_ANY, "any", 0}, {MXQ_FAMILY_RELAYOUT, "relayout", 0}};

static const struct mxq_form_facts forms[] = {
    {MXQ_FORM_TILE, "tile.tma.cu", mxq_geometry_tile},
    {MXQ_FORM_ROW, "row.tma.cu", mxq_geometry_row},
    {MXQ_FORM_STRIP, "strip.tma.cu", mxq_geometry_strip},
    {MXQ_FORM_ANY, "any.cu", mxq_geometry_any},
    {MXQ_FORM_ANY_ROW, "any_row.cu", mxq_geometry_any_row},
    {MXQ_FORM_DEQUANT_TILE, "dequant_tile.cu", mxq_geometry_dequant_tile},
    {MXQ_FORM_DEQUANT_ROW, "dequant_row.cu", mxq_geometry_dequant_row},
    {MXQ_FORM_DEQUANT_ANY, "dequant_any.cu", mxq_geometry_dequant_any},
    {MXQ_FORM_RELAYOUT, "relayout.cu", mxq_geometry_relayout},
};

/* In the order of preference (docs/performance.md). A row is for the variants whose blocks its tile
 * holds whole. Packed column-major codes want 256 rows: their output rows are then 128 bytes. */
static const struct mxq_schedule schedules[] = {
    {MXQ_FAMILY_TMA, MXQ_FORM_ROW, 0, 8, 8, 512, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_ROW, 0, 8, 4, 512, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_ROW, 16, 4, 16, 512, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_ROW, 16, 4, 8, 512, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_ROW, 32, 4, 8, 512, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_ROW, 32, 4, 4, 512, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_ROW, 0, 0, 64, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_ROW, 0, 0, 16, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_ROW, 0, 0, 32, 128, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_ROW, 0, 0, 8, 128, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_ROW, 0, 0, 16, 256, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_ROW, 0, 0, 4, 256, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_TILE, 16, 4, 256, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_TILE, 32, 4, 256, 32, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_TILE, 32, 4, 256, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_TILE, 16, 0, 128, 128, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_TILE, 16, 0, 128, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_TILE, 16, 8, 256, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_TILE, 16, 0, 64, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_TILE, 16, 0, 32, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_TILE, 32, 0, 128, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_TILE, 32, 8, 256, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_TILE, 32, 0, 128, 128, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_TILE, 32, 0, 64, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_TILE, 32, 0, 32, 32, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_STRIP, 16, 0, 32, 64, MXQ_PATH_DIRECT},
    {MXQ_FAMILY_TMA, MXQ_FORM_STRIP, 16, 0, 64, 64, MXQ_PATH_DIRECT},
    {MXQ_FAMILY_TMA, MXQ_FORM_STRIP, 16, 0, 128, 32, MXQ_PATH_DIRECT},
    {MXQ_FAMILY_TMA, MXQ_FORM_STRIP, 32, 0, 32, 32, MXQ_PATH_DIRECT},
    {MXQ_FAMILY_TMA, MXQ_FORM_STRIP, 32, 0, 64, 64, MXQ_PATH_DIRECT},
    {MXQ_FAMILY_TMA, MXQ_FORM_STRIP, 32, 0, 128, 32, MXQ_PATH_DIRECT},
    {MXQ_FAMILY_ANY, MXQ_FORM_ANY_ROW, 16, 0, 64, 256, MXQ_PATH_USUAL},
    {MXQ_FAMILY_ANY, MXQ_FORM_ANY_ROW, 32, 0, 64, 128, MXQ_PATH_USUAL},
    {MXQ_FAMILY_ANY, MXQ_FORM_ANY, 16, 0, 64, 256, MXQ_PATH_USUAL},
    {MXQ_FAMILY_ANY, MXQ_FORM_ANY, 16, 4, 256, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_ANY, MXQ_FORM_ANY, 16, 0, 128, 128, MXQ_PATH_USUAL},
    {MXQ_FAMILY_ANY, MXQ_FORM_ANY, 32, 0, 64, 128, MXQ_PATH_USUAL},
    {MXQ_FAMILY_ANY, MXQ_FORM_ANY, 32, 4, 256, 32, MXQ_PATH_USUAL},
    {MXQ_FAMILY_ANY, MXQ_FORM_ANY, 32, 0, 128, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_ANY, MXQ_FORM_ANY, 32, 0, 128, 128, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_DEQUANT_ROW, 0, 16, 16, 512, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_DEQUANT_ROW, 0, 16, 8, 1024, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_DEQUANT_ROW, 0, 32, 8, 512, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_DEQUANT_ROW, 0, 32, 8, 1024, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_DEQUANT_TILE, 8, 16, 128, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_DEQUANT_TILE, 8, 16, 128, 128, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_DEQUANT_TILE, 8, 32, 128, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_DEQUANT_TILE, 8, 32, 128, 32, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_DEQUANT_TILE, 4, 16, 256, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_TMA, MXQ_FORM_DEQUANT_TILE, 4, 32, 256, 32, MXQ_PATH_USUAL},
    {MXQ_FAMILY_ANY, MXQ_FORM_DEQUANT_ANY, 0, 16, 128, 128, MXQ_PATH_USUAL},
    {MXQ_FAMILY_ANY, MXQ_FORM_DEQUANT_ANY, 0, 32, 64, 128, MXQ_PATH_USUAL},
    {MXQ_FAMILY_ANY, MXQ_FORM_DEQUANT_ANY, 0, 32, 128, 64, MXQ_PATH_USUAL},
    {MXQ_FAMILY_RELAYOUT, MXQ_FORM_RELAYOUT, 0, 0, 1, 256, MXQ_PATH_USUAL},
};

const struct mxq_family_facts *mxq_family_at(size_t index) {
  return index < MXQ_FAMILIES_PLANNED ? &families[index] : NULL;
}

const struct mxq_family_facts *mxq_family_every(size_t index) {
  return index < COUNT(families) ? &families[index] : NULL;
}

const struct mxq_family_facts *mxq_family_facts(unsigned family) {
  for (size_t i = 0; i < COUNT(families); ++i)
    if ((unsigned)families[i].family == family) return &families[i];
  return NULL;
}

/* Blocks along K and others of float32 with scales that are powers of two: their tile becomes bf16,
 * rounded to odd (templates/held_odd.cuh), once for both parts. */
static unsigned held_type(const struct mxq_variant *variant) {
  const int both = mxq_layout_part(variant->layout, 0) == MXQ_PART_ALONG_K &&
                   mxq_layout_part(variant->layout, 1) != MXQ_PART_NONE;
  const int odd = both && variant->in == MXQ_TYPE_F32 && variant->out == MXQ_TYPE_E2M1 &&
                  mxq_mode_facts(variant->mode)->power_of_two;
  return odd ? MXQ_TYPE_BF16 : variant->in;
}

struct mxq_traits mxq_traits_of(const struct mxq_variant *variant) {
  const unsigned first = mxq_layout_part(variant->layout, 0);
  const unsigned second = mxq_layout_part(variant->layout, 1);
  const unsigned part = second ? second : first;
  const unsigned scale_bits = mxq_mode_facts(variant->mode)->scale_bits;
  return (struct mxq_traits){
      .dequantize = variant->op == MXQ_OP_DEQUANTIZE,
      .in_bits = mxq_type_facts(variant->in)->bits,
      .out_bits = mxq_type_facts(variant->out)->bits,
      .held = held_type(variant),
      .block_n = part & MXQ_PART_ALONG_N ? variant->block : 1,
      .block_k = (part | first) & MXQ_PART_ALONG_K ? variant->block : 1,
      .along_k = part & MXQ_PART_ALONG_K,
      .column_major = part & MXQ_PART_COLUMN_MAJOR,
      .also = second ? first : MXQ_PART_NONE,
      .scale_tiles = scale_bits == 8 && variant->scales != MXQ_SCALES_LIN,
  };
}

static enum mxq_form form_of(const struct mxq_traits *traits, enum mxq_family family,
                             unsigned path) {
  if (family == MXQ_FAMILY_RELAYOUT) return MXQ_FORM_RELAYOUT;
  if (traits->dequantize && family == MXQ_FAMILY_ANY) return MXQ_FORM_DEQUANT_ANY;
  if (traits->dequantize)
    return traits->column_major ? MXQ_FORM_DEQUANT_TILE : MXQ_FORM_DEQUANT_ROW;
  if (family == MXQ_FAMILY_ANY) return traits->block_n == 1 ? MXQ_FORM_ANY_ROW : MXQ_FORM_ANY;
  if (traits->block_n == 1) return MXQ_FORM_ROW;
  return path == MXQ_PATH_DIRECT ? MXQ_FORM_STRIP : MXQ_FORM_TILE;
}

const struct mxq_form_facts *mxq_form_facts(const struct mxq_kernel_id *id) {
  const struct mxq_traits traits = mxq_traits_of(&id->variant);
  return &forms[form_of(&traits, (enum mxq_family)id->family, id->path)];
}

/* Tiles of packed columns that are 256 long are no use for other codes, and the other way round.
 * Rows of an output tile that its map swizzles are 32 bytes at least. */
static int serves_codes(const struct mxq_schedule *row, const struct mxq_traits *traits) {
  const int packed = traits->out_bits == 4;
  const unsigned turned = traits->column_major ? row->tile_n : row->tile_k;
  const unsigned inner = traits->also && row->tile_k < turned ? row->tile_k : turned;
  if (row->form == MXQ_FORM_TILE && inner * traits->out_bits < 32 * 8) return 0;
  if (row->form != MXQ_FORM_ROW && row->out_bits == 4)
    return packed && traits->column_major && !traits->also;
  return row->out_bits == 0 || row->out_bits == traits->out_bits;
}

/* Packed scales of rows leave four columns at a time. */
static int serves_scales(const struct mxq_schedule *row, const struct mxq_traits *traits) {
  if (row->form != MXQ_FORM_ROW) return 1;
  return traits->scale_tiles ? row->tile_k == 4 * traits->block_k : row->tile_k == 512;
}

/* Dequantize finds no maxima: its tiles may hold parts of blocks. Those of generic kernels are not
 * the longer across the codes' contiguous axis. */
static int serves_dequantize(const struct mxq_schedule *row, const struct mxq_traits *traits) {
  const int wrong = traits->column_major ? row->tile_n < row->tile_k : row->tile_n > row->tile_k;
  if (row->form == MXQ_FORM_DEQUANT_ANY && wrong) return 0;
  return (row->in_bits == 0 || row->in_bits == traits->in_bits) &&
         (row->out_bits == 0 || row->out_bits == traits->out_bits);
}

/* Two tiles of codes of a byte and packed scales leave room for one small tile of float32 in the
 * shared memory of a block; blocks of 128 have few scales and need a large one. */
static int serves_two_parts(const struct mxq_schedule *row, const struct mxq_traits *traits) {
  /* Rows of the first part are read eight at a time, by warps that hold whole blocks of them. */
  if (row->form == MXQ_FORM_TILE && row->tile_n < 64 && traits->also == MXQ_PART_ALONG_K) return 0;
  const int large = row->form == MXQ_FORM_TILE && row->tile_n * row->tile_k > 128 * 64;
  return !large || !traits->also || traits->in_bits != 32 || traits->out_bits != 8 ||
         traits->block_n == 128;
}

/* Tiles of generic kernels are longer along the axis that their codes' lines lie along; blocks of
 * 128 leave none but 128 rows for those of rows. One tile serves lines of rows and of columns if
 * both are as many. */
static int serves_lines(const struct mxq_schedule *row, const struct mxq_traits *traits) {
  if (traits->also && traits->column_major) return row->tile_n == row->tile_k;
  if (traits->column_major) return row->tile_n >= row->tile_k;
  return row->tile_n <= row->tile_k || (traits->block_n == 128 && row->tile_n == 128);
}

static int serves(const struct mxq_schedule *row, const struct mxq_traits *traits) {
  if (traits->dequantize) return serves_dequantize(row, traits);
  /* Strips are one block long, or two of 16; square blocks of 128 would take too many threads. */
  const unsigned strip_n = traits->block_n < 32 ? 32 : traits->block_n;
  if (row->form == MXQ_FORM_STRIP && (traits->also || row->tile_n != strip_n)) return 0;
  /* A generic kernel's tile is wide where its blocks lie along K alone, and only there. */
  if (row->form == MXQ_FORM_ANY && !serves_lines(row, traits)) return 0;
  return (row->in_bits == 0 || row->in_bits == traits->in_bits) && serves_codes(row, traits) &&
         serves_scales(row, traits) && serves_two_parts(row, traits) &&
         row->tile_n % traits->block_n == 0 && row->tile_k % traits->block_k == 0;
}

struct mxq_variant mxq_relayout_variant(unsigned scale_bits, unsigned scales) {
  struct mxq_variant variant = {
      .op = MXQ_OP_DEQUANTIZE,
      .in = MXQ_TYPE_E4M3,
      .out = MXQ_TYPE_F32,
      .mode = scale_bits == 8 ? MXQ_MODE_E8M0 : MXQ_MODE_FLOAT,
      .layout = MXQ_LAYOUT_ROW,
      .scales = (uint8_t)scales,
      .block = 16,
  };
  return variant;
}

static int moves_scales(const struct mxq_variant *variant) {
  const struct mxq_variant one =
      mxq_relayout_variant(mxq_mode_facts(variant->mode)->scale_bits, variant->scales);
  return variant->scales != MXQ_SCALES_LIN && memcmp(variant, &one, sizeof one) == 0;
}

const struct mxq_schedule *mxq_schedule_after(const struct mxq_variant *variant,
                                              const struct mxq_traits *traits,
                                              enum mxq_family family,
                                              const struct mxq_schedule *schedule) {
  if (family == MXQ_FAMILY_RELAYOUT && !moves_scales(variant)) return NULL;
  for (size_t i = schedule ? (size_t)(schedule - schedules) + 1 : 0; i < COUNT(schedules); ++i) {
    const struct mxq_schedule *row = &schedules[i];
    if (row->family != family || row->form != form_of(traits, family, row->path)) continue;
    if (serves(row, traits)) return row;
  }
  return NULL;
}

const struct mxq_schedule *mxq_schedule_at(const struct mxq_variant *variant,
                                           enum mxq_family family, size_t index) {
  if (!mxq_type_facts(variant->in) || !mxq_type_facts(variant->out)) return NULL;
  const struct mxq_traits traits = mxq_traits_of(variant);
  const struct mxq_schedule *row = NULL;
  do row = mxq_schedule_after(variant, &traits, family, row);
  while (row && index-- > 0);
  return row;
}

struct mxq_kernel_id mxq_schedule_kernel(const struct mxq_variant *variant,
                                         const struct mxq_schedule *schedule) {
  return (struct mxq_kernel_id){.variant = *variant,
                                .family = (uint8_t)schedule->family,
                                .path = (uint8_t)schedule->path,
                                .tile_n = schedule->tile_n,
                                .tile_k = schedule->tile_k};
}
