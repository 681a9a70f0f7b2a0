// Reads scales where they lie: contract, section 4. Rows of scales run along N for row and sq, along
// K for col, colt and sqt.
constexpr bool SQUARE = ALONG_N && ALONG_K;
constexpr bool SCALE_ROWS_K = COLUMN_MAJOR || !ALONG_K;
constexpr unsigned BLOCK_N = ALONG_N ? BLOCK : 1, BLOCK_K = ALONG_K ? BLOCK : 1;
constexpr bool PACKED_WORDS = SCALES_MN && SCALE_BITS == 8;  // four columns in a word
// Whether the scales of neighbouring rows are neighbours, as bytes or as words.
constexpr bool ROWS_IN_LINE = SCALES_MN || (!SCALES_BLK && SCALE_ROWS_K);

// The scale of the block that holds row n and column k of matrix e: of several copies the one of the
// block's first row. `scale_pitch`: blk: tiles in a row of tiles; packed mn: words in a column;
// otherwise scales between neighbours along the outer axis.
template <class ARGS, class INDEX>
MXQ_FN const unsigned char *scale_place(const ARGS &args, INDEX e, INDEX n, INDEX k) {
  const INDEX row = SCALE_ROWS_K ? k / BLOCK_K * BLOCK_K : n / BLOCK_N * BLOCK_N;
  const INDEX column = SCALE_ROWS_K ? n / BLOCK_N : k / BLOCK_K;
  unsigned long long at = e * args.scale_stride_e;
  if constexpr (SCALES_BLK)
    at += (row / 128 * args.scale_pitch + column / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 +
          column % 4;
  else if constexpr (PACKED_WORDS)
    at += (column / 4 * args.scale_pitch + row) * 4 + column % 4;
  else if constexpr (SCALES_MN && SQUARE)
    at += row / BLOCK * args.scale_pitch + column;
  else if constexpr (SCALES_MN)
    at += column * args.scale_pitch + row;
  else
    at += n / BLOCK_N * args.scale_pitch + k / BLOCK_K;
  return args.scale + at * (SCALE_BITS / 8);
}

// The value of a scale's bits. e8m0: 0 is 2^-127, 255 is NaN.
MXQ_FN float scale_value(unsigned code) {
  if constexpr (SCALE_BITS == 32) return bits_float(code);
  const unsigned normal = code << 23;
  const unsigned special = code == 0 ? 0x00400000u : 0x7FC00000u;
  return bits_float(code - 1 < 254 ? normal : special);
}

MXQ_FN float load_scale(const unsigned char *from) {
  if constexpr (SCALE_BITS == 32)
    return scale_value(global_load(reinterpret_cast<const unsigned *>(from)));
  else
    return scale_value(global_load(from));
}

// The scales of COUNT rows from one on that is a multiple of COUNT, in the widest accesses where they
// are neighbours.
template <unsigned COUNT, class ARGS>
MXQ_FN void load_scales(const ARGS &args, const unsigned char *from, float *scale) {
  static_assert(COUNT == 4 || COUNT == 8, "whole accesses, and none past a tile");
  if constexpr (ROWS_IN_LINE && (SCALE_BITS == 32 || PACKED_WORDS)) {
    const unsigned place = static_cast<unsigned>(reinterpret_cast<unsigned long long>(from)) % 4;
    const words4 *const words = reinterpret_cast<const words4 *>(from - place);
    for (unsigned q = 0; q < COUNT / 4; q++) {
      const words4 four = global_load(words + q);
      for (unsigned i = 0; i < 4; i++)
        scale[q * 4 + i] =
            scale_value(PACKED_WORDS ? four.word[i] >> place * 8 & 0xFF : four.word[i]);
    }
  } else if constexpr (ROWS_IN_LINE) {
    unsigned words[COUNT / 4];
    if constexpr (COUNT == 8) {
      const words2 two = global_load(reinterpret_cast<const words2 *>(from));
      words[0] = two.word[0];
      words[1] = two.word[1];
    } else {
      words[0] = global_load(reinterpret_cast<const unsigned *>(from));
    }
    for (unsigned i = 0; i < COUNT; i++) scale[i] = scale_value(words[i / 4] >> i % 4 * 8 & 0xFF);
  } else {
    const unsigned long long step = SCALES_BLK ? 16 : args.scale_pitch * (SCALE_BITS / 8);
    for (unsigned i = 0; i < COUNT; i++) scale[i] = load_scale(from + i * step);
  }
}
