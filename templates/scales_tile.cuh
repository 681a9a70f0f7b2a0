// Whether scales that follow a multiple of `count` in each row and matrix begin at a multiple of it.
MXQ_FN bool aligned_scales(const mxq_scale_args &scales, unsigned count) {
  return (reinterpret_cast<unsigned long long>(scales.to) & (count * (SCALE_BITS / 8) - 1)) == 0 &&
         ((scales.stride_e | scales.pitch) & (count - 1)) == 0;
}

// Scales that leave by tiles: one for each block of the tile lies in shared memory at `tile`, [rows of
// blocks][columns], and goes to each of its places. e, n, k: where the tile begins.
constexpr unsigned SCALE_SIZE = SCALE_BITS / 8;
template <unsigned BYTES>
struct scale_access {
  using type = words4;
};
template <>
struct scale_access<8> {
  using type = words2;
};
template <>
struct scale_access<4> {
  using type = unsigned;
};
template <>
struct scale_access<2> {
  using type = unsigned short;
};
template <>
struct scale_access<1> {
  using type = unsigned char;
};

template <unsigned PART, class INDEX>
MXQ_FN void store_scale_tile(const mxq_scale_args &scales, unsigned tile, INDEX e, INDEX n, INDEX k,
                             INDEX rows_n, INDEX columns_k) {
  using part = scales_of<PART>;
  constexpr unsigned ROWS = part::ROWS_N ? TILE_N : TILE_K;
  constexpr unsigned COLUMNS_HELD = (part::ROWS_N ? TILE_K : TILE_N) / BLOCK;
  // Scales of one access: a word of packed ones, 16 bytes of linear ones.
  constexpr unsigned MOST = SCALES_LIN ? 16 / SCALE_SIZE : 4;
  constexpr unsigned ACCESS = COLUMNS_HELD < MOST ? COLUMNS_HELD : MOST;
  using access = typename scale_access<ACCESS * SCALE_SIZE>::type;
  const INDEX rows = part::ROWS_N ? rows_n : columns_k;
  const INDEX columns = ((part::ROWS_N ? columns_k : rows_n) + BLOCK - 1) / BLOCK;
#pragma unroll 1
  for (unsigned unit = thread_id(); unit < ROWS * COLUMNS_HELD / ACCESS; unit += THREADS) {
    // Neighbouring threads take neighbouring words: of blk, those of rows 32 apart.
    const unsigned line = unit % ROWS, first = unit / ROWS * ACCESS;
    const unsigned local = SCALES_BLK && ROWS % 128 == 0
                               ? line / 128 * 128 + line % 4 * 32 + line % 128 / 4
                               : line;
    const INDEX row = (part::ROWS_N ? n : k) + local;
    const INDEX column = (part::ROWS_N ? k : n) / BLOCK + first;
    if (row >= rows_stored<PART>(rows) || column >= columns_stored<PART>(columns)) continue;
    const unsigned from =
        tile + ((part::SQUARE ? local / BLOCK : local) * COLUMNS_HELD + first) * SCALE_SIZE;
    unsigned char *const to =
        scales.to + (e * scales.stride_e + scale_place<PART>(scales.pitch, row, column)) * SCALE_SIZE;
    if constexpr (SCALES_LIN && ACCESS > 1)
      if (!aligned_scales(scales, ACCESS)) {
        using one = typename scale_access<SCALE_SIZE>::type;
#pragma unroll 1
        for (unsigned c = 0; c < ACCESS; c++)
          if (column + c < columns)
            global_store(reinterpret_cast<one *>(to) + c, shared_load<one>(from, c * SCALE_SIZE));
        continue;
      }
    access together = shared_load<access>(from);
    if constexpr (!SCALES_LIN)
      if (row >= rows) together = 0;
    global_store(reinterpret_cast<access *>(to), together);
  }
}
