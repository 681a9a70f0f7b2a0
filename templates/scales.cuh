// Where scales lie: contract, section 4. A part (MXQ_PART_*) has R rows of C scales in each matrix:
// rows along N and columns along K for row and sq, the other way round for col, colt and sqt. A
// square block's scale stands for BLOCK rows.
template <unsigned PART>
struct scales_of {
  static constexpr bool SQUARE = (PART & 3) == 3;
  static constexpr bool ROWS_N = (PART & 1) == 0 || (SQUARE && (PART & 4) == 0);
  // Packed layouts hold a copy for each row that a square block covers.
  static constexpr bool COPIES = SQUARE && SCALE_BITS == 8 && !SCALES_LIN;
  static constexpr bool PADS_COLUMNS = SCALES_BLK || (SCALES_MN && (SCALE_BITS == 8 || SQUARE));
  // Whether tiles store them together: packed ones, and linear ones of rows in two parts, but not
  // where a tile has one float scale of a row.
  static constexpr bool BY_TILES =
      SCALES_LIN ? ALSO != 0 && ROWS_N && !SQUARE && (SCALE_BITS == 8 || TILE_K > BLOCK)
                 : SCALE_BITS == 8;
};

// Rows and columns that are stored, with padding: rows of squares without copies as they are.
template <unsigned PART, class INDEX>
MXQ_FN INDEX rows_stored(INDEX rows) {
  using part = scales_of<PART>;
  if constexpr (SCALES_BLK)
    return (rows + 127) / 128 * 128;
  else if constexpr (SCALES_MN && (part::COPIES || !part::SQUARE))
    return (rows + 3) / 4 * 4;
  else
    return rows;
}
template <unsigned PART, class INDEX>
MXQ_FN INDEX columns_stored(INDEX columns) {
  return scales_of<PART>::PADS_COLUMNS ? (columns + 3) / 4 * 4 : columns;
}

// The place of scale (row, column) in its matrix, in scales. `pitch`: of blk, tiles in a row of
// tiles; of packed mn, words in a column; otherwise scales between neighbours along the outer axis.
template <unsigned PART, class INDEX>
MXQ_FN unsigned long long scale_place(unsigned long long pitch, INDEX row, INDEX column) {
  using part = scales_of<PART>;
  if constexpr (SCALES_BLK) {
    return (row / 128 * pitch + column / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
  } else if constexpr (SCALES_MN && SCALE_BITS == 8) {
    return (column / 4 * pitch + row) * 4 + column % 4;
  } else {
    const INDEX line = part::SQUARE ? row / BLOCK : row;
    constexpr bool COLUMNS_INNER = SCALES_MN ? part::SQUARE : part::ROWS_N;
    return COLUMNS_INNER ? line * pitch + column : column * pitch + line;
  }
}

MXQ_FN void store_scale_at(const mxq_scale_args &scales, unsigned long long at, unsigned code) {
  if constexpr (SCALE_BITS == 32)
    global_store(reinterpret_cast<unsigned *>(scales.to) + at, code);
  else
    global_store(scales.to + at, static_cast<unsigned char>(code));
}

// Stores the scale of the block that begins at row n and column k of matrix e, in every place that
// it has; zero where the block lies outside of the N rows and K columns, if padding has a place.
template <unsigned PART, class INDEX>
MXQ_FN void store_scale(const mxq_scale_args &scales, INDEX e, INDEX n, INDEX k, INDEX rows_n,
                        INDEX columns_k, unsigned code) {
  using part = scales_of<PART>;
  const INDEX row = part::ROWS_N ? n : k, column = (part::ROWS_N ? k : n) / BLOCK;
  const INDEX rows = part::ROWS_N ? rows_n : columns_k;
  const INDEX columns = ((part::ROWS_N ? columns_k : rows_n) + BLOCK - 1) / BLOCK;
  if (column >= columns_stored<PART>(columns)) return;
  if (column >= columns) code = 0;
#pragma unroll 1
  for (unsigned copy = 0; copy < (part::COPIES ? BLOCK : 1); copy++)
    if (row + copy < rows_stored<PART>(rows))
      store_scale_at(scales, e * scales.stride_e + scale_place<PART>(scales.pitch, row + copy, column),
                     row + copy < rows ? code : 0);
}

// Stores the scales of two neighbouring columns of blocks along N, which are neighbours in memory, by
// one access. They exist, and lie at a multiple of two.
template <unsigned PART>
MXQ_FN void store_scale_pair(const mxq_scale_args &scales, unsigned e, unsigned n, unsigned k,
                             unsigned first, unsigned second) {
  const unsigned long long at =
      e * scales.stride_e + scale_place<PART>(scales.pitch, k, n / BLOCK);
  unsigned char *const to = scales.to + at * (SCALE_BITS / 8);
  if constexpr (SCALE_BITS == 32)
    global_store(reinterpret_cast<words2 *>(to), words2{{first, second}});
  else
    global_store(reinterpret_cast<unsigned short *>(to),
                 static_cast<unsigned short>(first | second << 8));
}

constexpr bool SCALES_BY_TILES = SCALE_BITS == 8 && !SCALES_LIN;
