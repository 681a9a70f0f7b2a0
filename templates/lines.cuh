// The tile of a part's codes in shared memory, in the lines that codes have in memory: rows, a gap
// apart that keeps the runs of a warp in different banks, or columns, swizzled as a tensor map does it.
template <unsigned PART>
struct out_tile {
  static constexpr bool TURNED = PART & 4;
  static constexpr unsigned LINES = TURNED ? TILE_K : TILE_N;
  static constexpr unsigned LINE_BYTES = (TURNED ? TILE_N : TILE_K) * OUT_BITS / 8;
  static constexpr unsigned GAP = 512 / RUN_WORDS;

  MXQ_FN unsigned place(unsigned line, unsigned byte) {
    if constexpr (TURNED) return swizzle<LINE_BYTES>(OUT_TILE + line * LINE_BYTES + byte);
    return OUT_TILE + line * (LINE_BYTES + GAP) + byte;
  }
};

// What of the codes exists: `lines` lines of `bytes` bytes, `pitch` apart.
struct code_lines {
  unsigned char *to;
  length pitch;
  unsigned lines, bytes;
};

MXQ_FN void store_byte(const code_lines &out, unsigned line, unsigned byte, unsigned from) {
  if (line < out.lines && byte < out.bytes)
    global_store(out.to + line * out.pitch + byte, shared_load<unsigned char>(from));
}

// Lines whose addresses and lengths are multiples of 16 bytes.
template <unsigned PART>
MXQ_FN void store_pieces(const code_lines &out) {
  using tile = out_tile<PART>;
  constexpr unsigned LINE_PIECES = tile::LINE_BYTES / 16, STEP = THREADS / LINE_PIECES;
  static_assert(THREADS % LINE_PIECES == 0 && tile::LINES % STEP == 0, "whole steps");
  const unsigned byte = thread_id() % LINE_PIECES * 16, first = thread_id() / LINE_PIECES;
  length at = first * out.pitch + byte;
#pragma unroll
  for (unsigned i = 0; i < tile::LINES / STEP; i++, at += STEP * out.pitch) {
    const unsigned line = first + i * STEP;
    if (line < out.lines && byte < out.bytes)
      global_store(reinterpret_cast<words4 *>(out.to + at),
                   shared_load<words4>(tile::place(line, byte)));
  }
}

// Other lines: the aligned words of each are joined from two words of the tile, and the bytes before
// the first and behind the last, four in all, leave by themselves.
template <unsigned PART>
MXQ_FN void store_words(const code_lines &out) {
  using tile = out_tile<PART>;
  constexpr unsigned LINE_WORDS = tile::LINE_BYTES / 4, STEP = THREADS / LINE_WORDS;
  static_assert(THREADS % LINE_WORDS == 0, "whole steps");
  const unsigned end = thread_id() % LINE_WORDS * 4;  // in the tile; of the word, less what is ahead
  for (unsigned line = thread_id() / LINE_WORDS; line < out.lines && end != 0; line += STEP) {
    unsigned char *const to = out.to + line * out.pitch;
    const unsigned ahead = static_cast<unsigned>(reinterpret_cast<length>(to)) % 4;
    const unsigned byte = end - ahead;  // in the line, of the word that is aligned in memory
    const unsigned low = shared_load<unsigned>(tile::place(line, end - 4));
    const unsigned high = shared_load<unsigned>(tile::place(line, end));
    const unsigned word = permute_bytes(low, high, 0x7654 - ahead * 0x1111);
    if (byte + 4 <= out.bytes)
      global_store(reinterpret_cast<unsigned *>(to + byte), word);
    else
      for (unsigned i = 0; i < 4 && byte + i < out.bytes; i++)
        global_store(to + byte + i, static_cast<unsigned char>(word >> 8 * i));
  }
  for (unsigned line = thread_id(); line < out.lines; line += THREADS) {
    const unsigned ahead =
        static_cast<unsigned>(reinterpret_cast<length>(out.to + line * out.pitch)) % 4;
    for (unsigned i = 0; i < 4; i++) {
      const unsigned byte = i + ahead < 4 ? i : tile::LINE_BYTES - 4 + i;
      store_byte(out, line, byte, tile::place(line, byte));
    }
  }
}

template <unsigned PART>
MXQ_FN void store_codes(const mxq_any_args &args, unsigned char *out, const tile_extent &at) {
  constexpr bool TURNED = out_tile<PART>::TURNED;
  constexpr unsigned PACKED = 8 / OUT_BITS;
  code_lines codes;
  codes.pitch = (TURNED ? args.n : args.k) / PACKED;
  codes.to = out + (TURNED ? at.e * args.k + at.k : at.e * args.n + at.n) * codes.pitch +
             (TURNED ? at.n : at.k) / PACKED;
  codes.lines = TURNED ? at.columns : at.rows;
  codes.bytes = (TURNED ? at.rows : at.columns) / PACKED;
  if ((reinterpret_cast<length>(codes.to) | codes.pitch) % 16 == 0)
    store_pieces<PART>(codes);
  else
    store_words<PART>(codes);
}

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

// Stores the scales that were kept: in words, or one by one where they lie at no word's address.
template <unsigned PART>
MXQ_FN void store_kept_scales(const mxq_any_args &args, const mxq_scale_args &scales,
                              const tile_extent &at) {
  using tile = scale_tile<PART>;
  if (reinterpret_cast<length>(scales.to) % 4 == 0) {
    store_scale_tile<PART>(scales, SCALE_TILE, at.e, at.n, at.k, args.n, args.k);
    return;
  }
  for (unsigned i = thread_id(); i < tile::ROWS * tile::COLUMNS_HELD; i += THREADS) {
    const unsigned along = i / tile::COLUMNS_HELD * tile::ROW;
    const unsigned across = i % tile::COLUMNS_HELD * BLOCK;
    store_scale<PART>(scales, at.e, at.n + (tile::ROWS_N ? along : across),
                      at.k + (tile::ROWS_N ? across : along), args.n, args.k,
                      shared_load<unsigned char>(SCALE_TILE + i));
  }
}
