// Bytes moved in one access.
struct alignas(8) words2 {
  unsigned word[2];
};
struct alignas(16) words4 {
  unsigned word[4];
};

// Where a tile begins, in elements.
struct tile_place {
  unsigned n, k, e;
};

MXQ_FN unsigned divide(unsigned x, const mxq_divisor &by) {
  return (multiply_high(x, by.multiplier) + x) >> by.shift;
}

template <class ARGS>
MXQ_FN tile_place place_of(const ARGS &args, unsigned tile) {
  const unsigned strip = divide(tile, args.tiles_n);
  const unsigned e = divide(strip, args.tiles_k);
  return {(tile - strip * args.tiles_n.value) * TILE_N, (strip - e * args.tiles_k.value) * TILE_K, e};
}

// The swizzles of a tensor map, for rows of 128 bytes: bits 4 to 6 of a shared address are xored
// with bits 7 to 9; of 64 bytes: bits 4 and 5 with bits 7 and 8.
template <unsigned ROW_BYTES>
MXQ_FN unsigned swizzle(unsigned offset) {
  static_assert(ROW_BYTES == 128 || ROW_BYTES == 64, "rows as long as the swizzle's span");
  return offset ^ (offset >> 3 & (ROW_BYTES == 128 ? 0x70 : 0x30));
}

// Sixteen codes, as they are stored.
struct alignas(2 * OUT_BITS) codes16 {
  unsigned word[OUT_BITS / 2];
};

// Puts four codes of narrow_four into their place.
MXQ_FN void place_four(codes16 &codes, unsigned quad, unsigned four) {
  if constexpr (OUT_BITS == 8)
    codes.word[quad] = four;
  else if (quad % 2 == 0)
    codes.word[quad / 2] = four;
  else
    codes.word[quad / 2] |= four << 16;
}

// The larger of a word's columns, in both.
MXQ_FN unsigned across_columns(unsigned word) {
  if constexpr (COLUMNS == 2) return word_max(word, word >> 16 | word << 16);
  return word;
}

// Where the scale of the block that holds row n and column k of matrix e is stored. `lin`: (E, N or
// ceil(N/B), K or ceil(K/B)).
template <class ARGS, class INDEX>
MXQ_FN unsigned char *scale_place(const ARGS &args, INDEX e, INDEX n, INDEX k) {
  constexpr unsigned BLOCK_N = ALONG_N ? BLOCK : 1, BLOCK_K = ALONG_K ? BLOCK : 1;
  return args.scale + (e * args.scale_stride_e + (n / BLOCK_N) * args.scale_columns + k / BLOCK_K) *
                          (SCALE_BITS / 8);
}

template <class ARGS, class INDEX>
MXQ_FN void store_scale(const ARGS &args, INDEX e, INDEX n, INDEX k, block_scale scale) {
  unsigned char *const to = scale_place(args, e, n, k);
  if constexpr (SCALE_BITS == 32)
    global_store(reinterpret_cast<unsigned *>(to), scale.code);
  else
    global_store(to, static_cast<unsigned char>(scale.code));
}

// The same for COLUMNS neighbouring columns from k: the one block that they lie in, or a block each,
// whose scales are neighbours and leave in one access.
template <class ARGS, class INDEX>
MXQ_FN void store_scales(const ARGS &args, INDEX e, INDEX n, INDEX k,
                         const block_scale (&scale)[COLUMNS]) {
  if constexpr (COLUMNS == 1 || ALONG_K) {
    store_scale(args, e, n, k, scale[0]);
  } else {
    unsigned char *const to = scale_place(args, e, n, k);
    if constexpr (SCALE_BITS == 32)
      global_store(reinterpret_cast<words2 *>(to), words2{{scale[0].code, scale[1].code}});
    else
      global_store(reinterpret_cast<unsigned short *>(to),
                   static_cast<unsigned short>(scale[0].code | scale[1].code << 8));
  }
}
