//$ paste("args.h", {launch = "vector"})
//$ paste "device.cuh"
//$ paste "variant.cuh"
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};
// Shared memory, in bytes.
constexpr unsigned MAXIMA = ${kernel.maxima_offset}, SCALE_TILE = ${kernel.scales_offset};

//$ paste "scale.cuh"
//$ paste "convert.cuh"
//$ paste "four.cuh"
//$ paste "tile.cuh"
//$ paste "scale_columns.cuh"
//$ paste "scales.cuh"
//$ paste "scales_tile.cuh"
// A thread holds one 32-bit word of HELD_ROWS rows, a strip: little work one after the other, where
// there is too little to do for the device's threads. GROUPS neighbouring lanes hold a block along N;
// a warp, as many words beside each other as are left.
constexpr unsigned WORDS = TILE_K / COLUMNS;
constexpr unsigned HELD_ROWS = ${kernel.rows_per_thread};
constexpr unsigned GROUPS = BLOCK / HELD_ROWS;
constexpr unsigned WARP_WORDS = 32 / GROUPS;
constexpr unsigned ROW_WARPS = WORDS / WARP_WORDS;  // for a row of blocks
// A block along K has LANE_WORDS words of a warp and PARTS warps.
constexpr unsigned BLOCK_WORDS = ALONG_K ? BLOCK / COLUMNS : 1;
constexpr unsigned LANE_WORDS = BLOCK_WORDS < WARP_WORDS ? BLOCK_WORDS : WARP_WORDS;
constexpr unsigned PARTS = BLOCK_WORDS / LANE_WORDS;
constexpr unsigned BLOCKS_N = TILE_N / BLOCK;  // of packed scales, a byte each
constexpr bool TILES_BY_K = !COLUMN_MAJOR;
static_assert(ALSO == 0, "one part");
static_assert(THREADS == WORDS * (TILE_N / HELD_ROWS), "a thread for each word of its rows");
static_assert(BLOCK % HELD_ROWS == 0 && GROUPS <= 32 && WORDS % WARP_WORDS == 0, "whole warps");
static_assert(TILE_N % BLOCK == 0 && TILE_K % (BLOCK_WORDS * COLUMNS) == 0, "whole blocks");

// The maximum of the block over the threads that share it.
MXQ_FN unsigned block_max(unsigned largest) {
  for (unsigned mask = 1; mask < GROUPS * (ALONG_K ? LANE_WORDS : 1); mask *= 2)
    largest = word_max(largest, shuffle_xor(largest, mask));
  if constexpr (ALONG_K) largest = across_columns(largest);
  if constexpr (PARTS > 1) {
    const unsigned warp = thread_id() / 32;
    if (thread_id() % 32 == 0) shared_store(MAXIMA + warp * 4, largest);
    block_sync();  // orders the stores of all maxima before their loads
    for (unsigned part = 0; part < PARTS; part++)
      largest = word_max(largest,
                         shared_load<unsigned>(MAXIMA + (warp / PARTS * PARTS + part) * 4));
  }
  return largest;
}

// Keeps or stores the scales of the block, or of the COLUMNS neighbouring blocks, that begin at
// (row, word) of the tile.
MXQ_FN void put_scales(const mxq_vector_args &args, tile_place at, unsigned row, unsigned word,
                       const block_scale (&scale)[COLUMNS]) {
  constexpr unsigned BLOCKS = ALONG_K ? 1 : COLUMNS;
  const unsigned n = at.n + row, k = at.k + word * COLUMNS;
  const bool inside = n < args.n && k < args.k;
  if constexpr (SCALES_BY_TILES) {
    for (unsigned c = 0; c < BLOCKS; c++) {
      const unsigned column = word * COLUMNS + c;
      const unsigned line = ALONG_K ? column / BLOCK : column;
      const unsigned place = scales_of<MAIN>::ROWS_N ? row / BLOCK * (TILE_K / BLOCK) + line
                                                     : line * BLOCKS_N + row / BLOCK;
      shared_store(SCALE_TILE + place, static_cast<unsigned char>(inside ? scale[c].code : 0));
    }
  } else if constexpr (BLOCKS == 2) {
    if (inside) store_scale_pair<MAIN>(args.scale, at.e, n, k, scale[0].code, scale[1].code);
  } else {
    store_scale<MAIN>(args.scale, at.e, n, k, args.n, args.k, inside ? scale[0].code : 0);
  }
}

// Stores four codes of row-major output: those of two columns in two rows, or of one in four.
MXQ_FN void store_four(const mxq_vector_args &args, unsigned long long matrix, unsigned n,
                       unsigned k, unsigned four) {
  const unsigned long long code = matrix + n * static_cast<unsigned long long>(args.k) + k;
  const unsigned long long pitch = args.k / (8 / OUT_BITS);
  unsigned char *const to = args.out + code / (8 / OUT_BITS);
  if constexpr (COLUMNS == 1 && OUT_BITS == 4) {
    // Neighbouring words hold the two codes of a byte: each thread finishes two of the four rows.
    const unsigned odd = k % 2;
    const unsigned theirs = shuffle_xor(four, GROUPS);
    const unsigned low = odd ? theirs : four, high = odd ? four : theirs;
    for (unsigned r = odd * 2; r < odd * 2 + 2; r++)
      if (n + r < args.n && k < args.k)
        global_store(to + r * pitch, static_cast<unsigned char>((low >> 4 * r & 0xF) |
                                                               (high >> 4 * r & 0xF) << 4));
  } else if constexpr (COLUMNS == 2 && OUT_BITS == 8) {
    for (unsigned r = 0; r < 2; r++)
      if (n + r < args.n && k < args.k)
        global_store(reinterpret_cast<unsigned short *>(to + r * pitch),
                     static_cast<unsigned short>(four >> 16 * r));
  } else {
    for (unsigned r = 0; r < 4 / COLUMNS; r++)
      if (n + r < args.n && k < args.k)
        global_store(to + r * pitch, static_cast<unsigned char>(four >> 8 * r));
  }
}

// Stores the codes of a column's rows, which lie together: N is a multiple of as many as fill 16
// bytes, so they are inside or outside as a whole.
MXQ_FN void store_column(const mxq_vector_args &args, unsigned long long matrix, unsigned n,
                         unsigned k, const codes16 &codes) {
  static_assert(HELD_ROWS == 8 || HELD_ROWS == 16, "one access");
  const unsigned long long code = matrix + k * static_cast<unsigned long long>(args.n) + n;
  unsigned char *const to = args.out + code / (8 / OUT_BITS);
  constexpr unsigned BYTES = HELD_ROWS * OUT_BITS / 8;
  const unsigned *const word = codes.word;
  if constexpr (BYTES == 16)
    global_store(reinterpret_cast<words4 *>(to), words4{{word[0], word[1], word[2], word[3]}});
  else if constexpr (BYTES == 8)
    global_store(reinterpret_cast<words2 *>(to), words2{{word[0], word[1]}});
  else
    global_store(reinterpret_cast<unsigned *>(to), word[0]);
}

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_vector_args) args) {
  const tile_place at = place_of<TILES_BY_K>(args, block_id());
  const unsigned lane = thread_id() % 32, warp = thread_id() / 32;
  const unsigned word = warp % ROW_WARPS * WARP_WORDS + lane / GROUPS;
  const unsigned block_row = warp / ROW_WARPS * BLOCK, row = block_row + lane % GROUPS * HELD_ROWS;
  const unsigned n = at.n + row, k = at.k + word * COLUMNS;
  const unsigned char *const from =
      args.in + at.e * args.stride_e_bytes + n * args.stride_n_bytes + k * (IN_BITS / 8ull);
  // Rows past N count as zeros, which leave a maximum as it is and are never stored.
  unsigned rows[HELD_ROWS] = {};
  for (unsigned r = 0; r < HELD_ROWS; r++)
    if (k < args.k && n + r < args.n)
      rows[r] = global_load(reinterpret_cast<const unsigned *>(from + r * args.stride_n_bytes));

  unsigned largest = rows[0];
  for (unsigned r = 1; r < HELD_ROWS; r++) largest = word_max(largest, rows[r]);
  largest = block_max(largest);
  block_scale scale[COLUMNS];
  scales_of_columns<ALONG_K>(largest, scale);
  if (row == block_row && word % BLOCK_WORDS == 0) put_scales(args, at, row, word, scale);

  const unsigned long long matrix = static_cast<unsigned long long>(at.e) * args.n * args.k;
  if constexpr (COLUMN_MAJOR) {
    codes16 codes[COLUMNS];
    for (unsigned quad = 0; quad < HELD_ROWS / 4; quad++) {
      unsigned four[COLUMNS];
      narrow_down(rows + quad * 4, scale, four);
      for (unsigned c = 0; c < COLUMNS; c++) place_four(codes[c], quad, four[c]);
    }
    if (k < args.k && n < args.n)
      for (unsigned c = 0; c < COLUMNS; c++) store_column(args, matrix, n, k + c, codes[c]);
  } else {
    for (unsigned r = 0; r < HELD_ROWS; r += 4 / COLUMNS)
      store_four(args, matrix, n + r, k, narrow_across(rows + r, scale));
  }
  if constexpr (SCALES_BY_TILES) {
    block_sync();  // orders the stores of all scales before their loads
    store_scale_tile<MAIN>(args.scale, SCALE_TILE, at.e, at.n, at.k, args.n, args.k);
  }
}
