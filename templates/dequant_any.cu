//$ paste("args.h", {launch = "dequant_any"})
//$ paste "device.cuh"
//$ paste "dequant_variant.cuh"
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
constexpr bool TILES_BY_K = true;
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};
// Shared memory, in bytes.
constexpr unsigned IN_TILE = ${kernel.in_offset}, OUT_TILE = ${kernel.out_offset};
constexpr unsigned SCALES = ${kernel.maxima_offset};

//$ paste "place.cuh"
//$ paste "decode.cuh"
//$ need "device_steps.cuh"
//$ paste "scale_read.cuh"
//$ paste "extent.cuh"
//$ paste "lines_in.cuh"
//$ paste "lines_out.cuh"
// The tile of codes, in the lines that codes have in memory, a gap apart that has room for a shift. Those
// of columns are read CHUNK columns apart: 16 bytes more behind each CHUNK of them keep those in different
// banks.
struct in_tile {
  using element = unsigned char;
  static constexpr unsigned LINES = COLUMN_MAJOR ? TILE_K : TILE_N;
  static constexpr unsigned LINE_BYTES = (COLUMN_MAJOR ? TILE_N : TILE_K) * IN_BITS / 8;
  static constexpr unsigned LINE_PITCH = LINE_BYTES + 16;

  MXQ_FN unsigned place(unsigned line, unsigned byte) {
    return IN_TILE + line * LINE_PITCH + (COLUMN_MAJOR ? line / CHUNK * 16 : 0) + byte;
  }
};

// The tile of elements is [n][k].
struct out_tile {
  using element = ${output.bits == 32 and "unsigned" or "unsigned short"};
  static constexpr unsigned LINES = TILE_N, LINE_BYTES = TILE_K * OUT_BITS / 8, PITCH = LINE_BYTES;

  MXQ_FN unsigned place(unsigned line, unsigned byte) { return OUT_TILE + line * PITCH + byte; }
};

// The values of the tile's scales are [row of blocks][column of blocks], of blocks that have a part in
// the tile. Where each column has its own, the first four of all chunks lie ahead of all chunks' next
// four: neighbouring threads read neighbouring 16 bytes.
constexpr unsigned TILE_BLOCKS_N = TILE_N < BLOCK_N ? 1 : TILE_N / BLOCK_N;
constexpr unsigned TILE_BLOCKS_K = TILE_K < BLOCK_K ? 1 : TILE_K / BLOCK_K;
constexpr unsigned TILE_BLOCKS = TILE_BLOCKS_N * TILE_BLOCKS_K;
constexpr unsigned HELD_SCALES = (TILE_BLOCKS + THREADS - 1) / THREADS;
static_assert(TILE_N % BLOCK_N == 0 || BLOCK_N % TILE_N == 0, "whole blocks, or a part of one");
static_assert(TILE_K % BLOCK_K == 0 || BLOCK_K % TILE_K == 0, "whole blocks, or a part of one");

MXQ_FN void load_scales_of(const mxq_dequant_any_args &args, const tile_extent &at,
                           float (&scale)[HELD_SCALES]) {
#pragma unroll
  for (unsigned i = 0; i < HELD_SCALES; i++) {
    const unsigned block = thread_id() + i * THREADS;
    const unsigned row = block / TILE_BLOCKS_K * BLOCK_N, column = block % TILE_BLOCKS_K * BLOCK_K;
    scale[i] = row < at.rows && column < at.columns
                   ? load_scale(scale_place(args, at.e, at.n + row, at.k + column))
                   : 0;
  }
}

MXQ_FN unsigned scale_at(unsigned row, unsigned column) {
  const unsigned at = column / BLOCK_K, ahead = CHUNK / 4;
  return SCALES + (row / BLOCK_N * TILE_BLOCKS_K +
                   (ALONG_K ? at : at / 4 % ahead * (TILE_K / ahead) + at / CHUNK * 4 + at % 4)) * 4;
}

MXQ_FN void keep_scales(const float (&scale)[HELD_SCALES]) {
#pragma unroll
  for (unsigned i = 0; i < HELD_SCALES; i++) {
    const unsigned block = thread_id() + i * THREADS;
    if (block < TILE_BLOCKS)
      shared_store(scale_at(block / TILE_BLOCKS_K * BLOCK_N, block % TILE_BLOCKS_K * BLOCK_K),
                   float_bits(scale[i]));
  }
}

// Scales of the CHUNK columns from one on, in a row: all the same where blocks lie along K.
constexpr unsigned SCALES_K = ALONG_K ? 1 : CHUNK;
struct chunk_scales {
  float value[SCALES_K];
};

MXQ_FN chunk_scales scales_of(unsigned row, unsigned column) {
  chunk_scales scales;
  const unsigned at = scale_at(row, column);
  if constexpr (ALONG_K)
    scales.value[0] = bits_float(shared_load<unsigned>(at));
  else
    for (unsigned i = 0; i < CHUNK; i += 4) {
      const words4 four = shared_load<words4>(at, i * TILE_K / CHUNK * 4);
      for (unsigned j = 0; j < 4; j++) scales.value[i + j] = bits_float(four.word[j]);
    }
  return scales;
}

// COUNT codes of a line: a word or two, or half of one.
template <unsigned COUNT>
struct code_words {
  static constexpr unsigned BYTES = COUNT * IN_BITS / 8;
  static_assert(BYTES == 2 || BYTES == 4 || BYTES == 8, "one access");
  unsigned word[(BYTES + 3) / 4];
};

// `next`: of so many lines on, fewer than a CHUNK; `line` is a multiple of it where codes are columns.
template <unsigned COUNT>
MXQ_FN code_words<COUNT> load_codes(unsigned line, unsigned next, unsigned code) {
  using codes = code_words<COUNT>;
  const unsigned from = in_tile::place(line, code * IN_BITS / 8), apart = next * in_tile::LINE_PITCH;
  if constexpr (codes::BYTES == 8) {
    const words2 two = shared_load<words2>(from, apart);
    return {{two.word[0], two.word[1]}};
  } else if constexpr (codes::BYTES == 4) {
    return {{shared_load<unsigned>(from, apart)}};
  } else {
    return {{shared_load<unsigned short>(from, apart)}};
  }
}

// The same where lines are shifted.
template <unsigned COUNT>
MXQ_FN code_words<COUNT> load_shifted(unsigned line, unsigned next, unsigned code, lines_shift shift) {
  constexpr unsigned BYTES = code_words<COUNT>::BYTES, WORDS = (BYTES + 3) / 4;
  const unsigned at = code * IN_BITS / 8, half = BYTES == 2 ? at % 4 : 0;  // of a word
  const unsigned byte = ahead_of(shift, line + next) + half, apart = next * in_tile::LINE_PITCH;
  const unsigned from = in_tile::place(line, at - half);
  unsigned held[WORDS + 1];
  for (unsigned w = 0; w < WORDS; w++) held[w] = shared_load<unsigned>(from + byte / 4 * 4, apart + w * 4);
  // Behind the last half of a word of a line there may be no word.
  const unsigned last = BYTES == 2 ? (byte + 1) / 4 * 4 : byte / 4 * 4;
  held[WORDS] = shared_load<unsigned>(from + last, apart + (BYTES == 2 ? 0 : WORDS * 4));
  code_words<COUNT> words;
  for (unsigned w = 0; w < WORDS; w++) words.word[w] = funnel_right(held[w], held[w + 1], byte * 8);
  return words;
}

constexpr unsigned CHUNKS = TILE_K / CHUNK;  // of a row

// A chunk of a row at a time.
MXQ_FN void decode_rows(lines_shift shift) {
  constexpr unsigned STEPS = TILE_N * CHUNKS / THREADS, STEP_ROWS = THREADS / CHUNKS;
  static_assert(THREADS % CHUNKS == 0 && TILE_N % STEP_ROWS == 0, "whole steps");
  const unsigned first = thread_id() / CHUNKS, column = thread_id() % CHUNKS * CHUNK;
  constexpr unsigned PAIR = STEPS % 2 == 0 ? 2 : 1;
  constexpr bool SHARES = BLOCK_N % (PAIR * STEP_ROWS) == 0;  // scales
#pragma unroll 1
  for (unsigned step = 0; step < STEPS; step += PAIR) {
    chunk_scales scales;
#pragma unroll
    for (unsigned i = 0; i < PAIR; i++) {
      const unsigned row = first + (step + i) * STEP_ROWS;
      if (i == 0 || !SHARES) scales = scales_of(row, column);
      float x[CHUNK];
      const code_words<CHUNK> codes = is_shifted(shift) ? load_shifted<CHUNK>(row, 0, column, shift)
                                                        : load_codes<CHUNK>(row, 0, column);
      decode<CHUNK>(codes.word, x);
      for (unsigned c = 0; c < CHUNK; c++) x[c] = multiply(x[c], scales.value[ALONG_K ? 0 : c]);
      shared_store(out_tile::place(row, column * OUT_BITS / 8), round_chunk(x));
    }
  }
}

// A word of codes, CODES rows, of each column of a chunk at a time. Eight neighbouring threads take
// eight chunks; four times eight the words of 16 bytes of a column.
MXQ_FN void decode_columns(lines_shift shift) {
  constexpr unsigned STEPS = CHUNKS * (TILE_N / CODES) / THREADS;
  constexpr unsigned CHUNK_WARPS = CHUNKS / 8, STEP_ROWS = THREADS / CHUNKS * CODES;
  static_assert(!COLUMN_MAJOR || (CHUNKS % 8 == 0 && THREADS / 32 % CHUNK_WARPS == 0), "whole warps");
  static_assert(!COLUMN_MAJOR || (STEPS > 0 && TILE_N % STEP_ROWS == 0), "whole steps");
  const unsigned warp = thread_id() / 32;
  const unsigned column = (warp % CHUNK_WARPS * 8 + thread_id() % 8) * CHUNK;
  const unsigned first = (warp / CHUNK_WARPS * 4 + thread_id() % 32 / 8) * CODES;
#pragma unroll 1
  for (unsigned step = 0; step < STEPS; step++) {
    const unsigned row = first + step * STEP_ROWS;
    const chunk_scales scales = scales_of(row, column);
    // Unrolled by word, or the compiler keeps the codes in local memory where there are many.
    code_words<CODES> codes[CHUNK];
    if (is_shifted(shift)) {
#pragma unroll
      for (unsigned c = 0; c < CHUNK; c++) codes[c] = load_shifted<CODES>(column, c, row, shift);
    } else {
#pragma unroll
      for (unsigned c = 0; c < CHUNK; c++) codes[c] = load_codes<CODES>(column, c, row);
    }
    float x[CHUNK][CODES];
#pragma unroll
    for (unsigned c = 0; c < CHUNK; c++) decode<CODES>(codes[c].word, x[c]);
#pragma unroll
    for (unsigned r = 0; r < CODES; r++) {
      float products[CHUNK];
#pragma unroll
      for (unsigned c = 0; c < CHUNK; c++)
        products[c] = multiply(x[c][r], scales.value[ALONG_K ? 0 : c]);
      shared_store(out_tile::place(row + r, column * OUT_BITS / 8), round_chunk(products));
    }
  }
}

// The codes of a tile that exist; others are zeros and never stored.
MXQ_FN lines_shift load_tile(const mxq_dequant_any_args &args, const tile_extent &at) {
  constexpr unsigned PACKED = 8 / IN_BITS;
  const length pitch = (COLUMN_MAJOR ? args.n : args.k) / PACKED;
  const length line = COLUMN_MAJOR ? at.e * args.k + at.k : at.e * args.n + at.n;
  const length begin = COLUMN_MAJOR ? at.n : at.k;
  return load_lines<in_tile>(
      {args.in + line * pitch + begin / PACKED, pitch, COLUMN_MAJOR ? at.columns : at.rows,
       (COLUMN_MAJOR ? at.rows : at.columns) / PACKED, begin ? 16u : 0u,
       (COLUMN_MAJOR ? at.rows_behind : at.columns_behind) / PACKED});
}

MXQ_FN void store_tile(const mxq_dequant_any_args &args, const tile_extent &at) {
  store_lines<out_tile>({args.out + at.e * args.stride_e_bytes + at.n * args.stride_n_bytes +
                             at.k * (OUT_BITS / 8),
                         args.stride_n_bytes, at.rows, at.columns * (OUT_BITS / 8)});
}

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_dequant_any_args) args) {
  tile_number number = number_of(args, block_id());
  for (length tile = block_id();;) {
    const tile_extent at = extent_of(args, number);
    float scale[HELD_SCALES];
    load_scales_of(args, at, scale);
    const lines_shift shift = load_tile(args, at);
    keep_scales(scale);
    copies_wait();  // orders this thread's copies before the barrier
    block_sync();   // orders all threads' scales and codes before the reads of others
    if constexpr (COLUMN_MAJOR)
      decode_columns(shift);
    else
      decode_rows(shift);
    block_sync();  // orders the stores of elements before the reads of other threads
    store_tile(args, at);
    tile += grid_size();
    if (tile >= args.tiles) return;
    number = number_behind(args, number, number_of(args, grid_size()));
  }
}
