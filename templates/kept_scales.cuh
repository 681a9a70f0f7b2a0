// The tile of a part's packed scales in shared memory: [rows of blocks][columns], a byte each.
template <unsigned PART>
struct scale_tile {
  static constexpr bool ROWS_N = scales_of<PART>::ROWS_N, SQUARE = scales_of<PART>::SQUARE;
  static constexpr unsigned ROW = SQUARE ? BLOCK : 1;  // elements along the rows' axis in one row
  static constexpr unsigned ROWS = (ROWS_N ? TILE_N : TILE_K) / ROW;
  static constexpr unsigned COLUMNS_HELD = (ROWS_N ? TILE_K : TILE_N) / BLOCK;

  // Of the block that begins at (row, column) of the tile of elements.
  MXQ_FN unsigned place(unsigned row, unsigned column) {
    return SCALE_TILE + (ROWS_N ? row : column) / ROW * COLUMNS_HELD +
           (ROWS_N ? column : row) / BLOCK;
  }
};

// The place of the scale of the block that begins at row n and column k, in its matrix. Linear ones of a
// tile lie behind that of its first block as they would in a matrix of their own.
template <unsigned PART, class INDEX>
MXQ_FN length place_of_scale(const mxq_scale_args &scales, INDEX n, INDEX k) {
  constexpr bool ROWS_N = scales_of<PART>::ROWS_N;
  return scale_place<PART>(scales.pitch, ROWS_N ? n : k, (ROWS_N ? k : n) / BLOCK);
}

// Stores the scale of the block that begins at (row, column) of the tile, with its padding, or keeps
// it where packed scales leave by tiles.
template <unsigned PART>
MXQ_FN void put_scale(const mxq_any_args &args, const mxq_scale_args &scales, const tile_extent &at,
                      unsigned row, unsigned column, unsigned code) {
  const bool inside = row < at.rows && column < at.columns;
  if constexpr (SCALES_LIN) {
    if (inside)
      store_scale_at(scales,
                     at.e * scales.stride_e + place_of_scale<PART>(scales, at.n, at.k) +
                         place_of_scale<PART>(scales, row, column),
                     code);
  } else if constexpr (SCALES_BY_TILES) {
    shared_store(scale_tile<PART>::place(row, column),
                 static_cast<unsigned char>(inside ? code : 0));
  } else {
    store_scale<PART>(scales, at.e, at.n + row, at.k + column, args.n, args.k, inside ? code : 0);
  }
}

// Stores the scales that were kept: in words, or one by one where they lie at no word's address.
template <unsigned PART>
MXQ_FN void store_kept_scales(const mxq_any_args &args, const mxq_scale_args &scales,
                              const tile_extent &at) {
  using tile = scale_tile<PART>;
  if (reinterpret_cast<length>(scales.to) % 4 == 0) {
    store_scale_tile<PART>(scales, SCALE_TILE, at.e, at.n, at.k, args.n, args.k);
    return;
  }
  const length rows = tile::ROWS_N ? args.n : args.k;
  const length columns = ((tile::ROWS_N ? args.k : args.n) + BLOCK - 1) / BLOCK;
#pragma unroll 1
  for (unsigned i = thread_id(); i < tile::ROWS * tile::ROW * tile::COLUMNS_HELD; i += THREADS) {
    const unsigned line = i / tile::COLUMNS_HELD, first = i % tile::COLUMNS_HELD;
    const length row = (tile::ROWS_N ? at.n : at.k) + line;
    const length column = (tile::ROWS_N ? at.k : at.n) / BLOCK + first;
    if (row >= rows_stored<PART>(rows) || column >= columns_stored<PART>(columns)) continue;
    const unsigned from = SCALE_TILE + line / tile::ROW * tile::COLUMNS_HELD + first;
    store_scale_at(scales, at.e * scales.stride_e + scale_place<PART>(scales.pitch, row, column),
                   row < rows ? shared_load<unsigned char>(from) : 0);
  }
}
