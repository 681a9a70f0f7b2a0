// Blocks along N, or squares: a thread quantizes one 32-bit word of HELD_ROWS rows.

// How a block is shared out: PIECES blocks along N in one thread's rows; or one block over GROUPS_N
// row groups; if it lies along K too, over LANES threads of a warp and GROUPS_K warps of a row group.
template <unsigned PART>
struct columns_of {
  static constexpr bool SQUARE = (PART & 3) == 3, TURNED = PART & 4;
  static constexpr unsigned PIECES = BLOCK < HELD_ROWS ? HELD_ROWS / BLOCK : 1;
  static constexpr unsigned PIECE_ROWS = HELD_ROWS / PIECES;
  static constexpr unsigned GROUPS_N = BLOCK < HELD_ROWS ? 1 : BLOCK / HELD_ROWS;
  static constexpr unsigned BLOCK_WORDS = SQUARE ? BLOCK / COLUMNS : 1;
  static constexpr unsigned LANES = BLOCK_WORDS < 32 ? BLOCK_WORDS : 32;
  static constexpr unsigned GROUPS_K = BLOCK_WORDS / LANES;
  static_assert(PART == 2 || WORDS % 32 == 0, "a warp stays in one row group");
  static_assert(TILE_N % BLOCK == 0 && WORDS % BLOCK_WORDS == 0, "whole blocks");
};

// The maximum of the block over the threads that share it.
template <unsigned PART>
MXQ_FN unsigned block_max(unsigned largest, unsigned word, unsigned group) {
  using part = columns_of<PART>;
  if constexpr (part::SQUARE) {
    for (unsigned mask = 1; mask < part::LANES; mask *= 2)
      largest = word_max(largest, shuffle_xor(largest, mask));
    largest = across_columns(largest);
  }
  if constexpr (part::GROUPS_N * part::GROUPS_K > 1) {
    constexpr unsigned PARTS = part::SQUARE ? WORDS / 32 : WORDS;  // of a row group
    const unsigned place = part::SQUARE ? word / 32 : word;
    if (!part::SQUARE || word % 32 == 0)
      shared_store(MAXIMA + (group * PARTS + place) * 4, largest);
    block_sync();  // orders the stores of all maxima before their loads
    const unsigned first =
        group / part::GROUPS_N * part::GROUPS_N * PARTS + place / part::GROUPS_K * part::GROUPS_K;
    for (unsigned g = 0; g < part::GROUPS_N; g++)
      for (unsigned p = 0; p < part::GROUPS_K; p++)
        largest = word_max(largest, shared_load<unsigned>(MAXIMA + (first + g * PARTS + p) * 4));
  }
  return largest;
}

// Puts four codes into a row-major tile: those of two columns in two rows, or of one in four. Rows lie
// lines_apart behind `to`, the place of the word's codes in a row that is a multiple of 16.
template <unsigned PART>
MXQ_FN void stage_four(unsigned to, unsigned row, unsigned word, unsigned four) {
  using tile = out_tile<PART>;
  if constexpr (COLUMNS == 2 && OUT_BITS == 8) {
    shared_store(to, static_cast<unsigned short>(four), row * tile::PITCH);
    shared_store(to, static_cast<unsigned short>(four >> 16), (row + 1) * tile::PITCH);
  } else if constexpr (COLUMNS == 2) {
    shared_store(to, static_cast<unsigned char>(four), row * tile::PITCH);
    shared_store(to, static_cast<unsigned char>(four >> 8), (row + 1) * tile::PITCH);
  } else if constexpr (OUT_BITS == 8) {
    for (unsigned r = 0; r < 4; r++)
      shared_store(to, static_cast<unsigned char>(four >> 8 * r), (row + r) * tile::PITCH);
  } else {
    // Two neighbouring threads hold the two codes of a byte: each finishes two of the four rows.
    const unsigned odd = word % 2;
    const unsigned theirs = shuffle_xor(four, 1);
    const unsigned low = odd ? theirs : four, high = odd ? four : theirs;
    for (unsigned r = odd * 2; r < odd * 2 + 2; r++)
      shared_store(to + (row + r) * tile::PITCH,
                   static_cast<unsigned char>((low >> 4 * r & 0xF) | (high >> 4 * r & 0xF) << 4));
  }
}

template <unsigned PART>
MXQ_FN void quantize_columns(const mxq_any_args &args, const mxq_scale_args &scales,
                             const tile_extent &at) {
  using part = columns_of<PART>;
  unsigned rows[HELD_ROWS];
  held_rows(rows);
  const unsigned word = held_word(), group = held_group();
  block_scale scale[part::PIECES][COLUMNS];
#pragma unroll
  for (unsigned piece = 0; piece < part::PIECES; piece++) {
    unsigned largest = rows[piece * part::PIECE_ROWS];
    for (unsigned r = 1; r < part::PIECE_ROWS; r++)
      largest = word_max(largest, rows[piece * part::PIECE_ROWS + r]);
    largest = block_max<PART>(largest, word, group);
    scales_of_columns<part::SQUARE>(largest, scale[piece]);
    if (group % part::GROUPS_N == 0 && word % part::BLOCK_WORDS == 0)
      for (unsigned c = 0; c < (part::SQUARE ? 1 : COLUMNS); c++)
        put_scale<PART>(args, scales, at,
                        part::PIECES > 1 ? tile_row(piece * part::PIECE_ROWS) : group * HELD_ROWS,
                        word * COLUMNS + c, scale[piece][c].code);
  }

  // Unrolled by word, or the compiler keeps the rows in local memory where much follows from them.
#pragma unroll
  for (unsigned half = 0; half < HELD_ROWS; half += 16) {
    const unsigned row = tile_row(half);
    const unsigned to = out_tile<PART>::place(row, word * COLUMNS * OUT_BITS / 8);
    codes16 codes[COLUMNS];
#pragma unroll
    for (unsigned quad = 0; quad < 4; quad++) {
      const unsigned *const four_rows = rows + half + quad * 4;
      const auto &of = scale[(half + quad * 4) / part::PIECE_ROWS];
      if constexpr (part::TURNED) {
        unsigned four[COLUMNS];
        narrow_down(four_rows, of, four);
        for (unsigned c = 0; c < COLUMNS; c++) place_four(codes[c], quad, four[c]);
      } else {
        for (unsigned r = 0; r < 4; r += 4 / COLUMNS)
          stage_four<PART>(to, quad * 4 + r, word, narrow_across(four_rows + r, of));
      }
    }
    if constexpr (part::TURNED)
      for (unsigned c = 0; c < COLUMNS; c++)
        shared_store(out_tile<PART>::place(word * COLUMNS + c, row * OUT_BITS / 8), codes[c]);
  }
}
