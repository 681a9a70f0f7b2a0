//$ paste "args.h"
//$ paste "device.cuh"
//$ paste "variant.cuh"
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};
// Shared memory, in bytes.
constexpr unsigned OUT_TILE = 0, MAXIMA = ${kernel.maxima_offset};
constexpr unsigned SCALE_TILE = ${kernel.scales_offset};

//$ paste "scale.cuh"
//$ paste "convert.cuh"
//$ paste "four.cuh"
//$ paste "tile.cuh"
//$ paste "scales.cuh"
// A thread holds one 32-bit word of HELD_ROWS rows; a warp, 32 neighbouring words.
constexpr unsigned WORDS = TILE_K / COLUMNS;
constexpr unsigned HELD_ROWS = 32;
// How a block is shared out: PIECES blocks along N in one thread's rows; or one block over GROUPS_N
// row groups; if it lies along K, over LANES threads of a warp and GROUPS_K warps of a row group.
constexpr unsigned PIECES = BLOCK < HELD_ROWS ? HELD_ROWS / BLOCK : 1;
constexpr unsigned PIECE_ROWS = HELD_ROWS / PIECES;
constexpr unsigned GROUPS_N = BLOCK < HELD_ROWS ? 1 : BLOCK / HELD_ROWS;
constexpr unsigned BLOCK_WORDS = ALONG_K ? BLOCK / COLUMNS : 1;
constexpr unsigned LANES = BLOCK_WORDS < 32 ? BLOCK_WORDS : 32;
constexpr unsigned GROUPS_K = BLOCK_WORDS / LANES;
// The tile of codes: [k][n], swizzled, of column-major output, else [n][k].
constexpr unsigned LINE_BYTES = (COLUMN_MAJOR ? TILE_N : TILE_K) * OUT_BITS / 8;
constexpr unsigned BLOCKS_N = TILE_N / BLOCK;  // of packed scales, a byte each
static_assert(ALSO == 0, "one part");
static_assert(THREADS == WORDS * (TILE_N / HELD_ROWS), "a thread for each word of 32 rows");
static_assert(WORDS % 32 == 0, "a warp stays in one row group");
static_assert(TILE_N % BLOCK == 0 && TILE_K % (BLOCK_WORDS * COLUMNS) == 0, "whole blocks");

// The maximum of the block over the threads that share it.
MXQ_FN unsigned block_max(unsigned largest, unsigned word, unsigned group) {
  if constexpr (ALONG_K) {
    for (unsigned mask = 1; mask < LANES; mask *= 2)
      largest = word_max(largest, shuffle_xor(largest, mask));
    largest = across_columns(largest);
  }
  if constexpr (GROUPS_N * GROUPS_K > 1) {
    constexpr unsigned PARTS = ALONG_K ? WORDS / 32 : WORDS;  // of a row group
    const unsigned part = ALONG_K ? word / 32 : word;
    if (!ALONG_K || word % 32 == 0) shared_store(MAXIMA + (group * PARTS + part) * 4, largest);
    block_sync();  // orders the stores of all maxima before their loads
    const unsigned first = group / GROUPS_N * GROUPS_N * PARTS + part / GROUPS_K * GROUPS_K;
    for (unsigned g = 0; g < GROUPS_N; g++)
      for (unsigned p = 0; p < GROUPS_K; p++)
        largest =
            word_max(largest, shared_load<unsigned>(MAXIMA + (first + g * PARTS + p) * 4));
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
    // Neighbours in memory: one access.
    if (!inside) return;
    const unsigned long long place =
        at.e * args.scale.stride_e + scale_place<MAIN>(args.scale.pitch, k, n / BLOCK);
    unsigned char *const to = args.scale.to + place * (SCALE_BITS / 8);
    if constexpr (SCALE_BITS == 32)
      global_store(reinterpret_cast<words2 *>(to), words2{{scale[0].code, scale[1].code}});
    else
      global_store(reinterpret_cast<unsigned short *>(to),
                   static_cast<unsigned short>(scale[0].code | scale[1].code << 8));
  } else {
    store_scale<MAIN>(args.scale, at.e, n, k, args.n, args.k, inside ? scale[0].code : 0);
  }
}

// Puts four codes into a row-major tile: those of two columns in two rows, or of one in four.
MXQ_FN void stage_four(unsigned row, unsigned word, unsigned four) {
  const unsigned line = OUT_TILE + row * LINE_BYTES;
  if constexpr (COLUMNS == 2 && OUT_BITS == 8) {
    shared_store(line + word * 2, static_cast<unsigned short>(four));
    shared_store(line + word * 2 + LINE_BYTES, static_cast<unsigned short>(four >> 16));
  } else if constexpr (COLUMNS == 2) {
    shared_store(line + word, static_cast<unsigned char>(four));
    shared_store(line + word + LINE_BYTES, static_cast<unsigned char>(four >> 8));
  } else if constexpr (OUT_BITS == 8) {
    for (unsigned r = 0; r < 4; r++)
      shared_store(line + word + r * LINE_BYTES, static_cast<unsigned char>(four >> 8 * r));
  } else {
    // Two neighbouring threads hold the two codes of a byte: each finishes two of the four rows.
    const unsigned odd = word % 2;
    const unsigned theirs = shuffle_xor(four, 1);
    const unsigned low = odd ? theirs : four, high = odd ? four : theirs;
    for (unsigned r = odd * 2; r < odd * 2 + 2; r++)
      shared_store(line + word / 2 + r * LINE_BYTES,
                   static_cast<unsigned char>((low >> 4 * r & 0xF) | (high >> 4 * r & 0xF) << 4));
  }
}

// The place of a byte of a column-major tile.
MXQ_FN unsigned turned_place(unsigned column, unsigned byte) {
  const unsigned offset = column * LINE_BYTES + byte;
  if constexpr (LINE_BYTES >= 32) return OUT_TILE + swizzle<LINE_BYTES>(offset);
  return OUT_TILE + offset;
}

// Stores the tile of codes, 16 bytes a thread, lines in order: lengths are multiples of as many codes.
MXQ_FN void store_codes(const mxq_vector_args &args, tile_place at) {
  constexpr unsigned CHUNK = 128 / OUT_BITS, CHUNKS = LINE_BYTES / 16;
  constexpr unsigned LINES = COLUMN_MAJOR ? TILE_K : TILE_N;
  const unsigned long long matrix = static_cast<unsigned long long>(at.e) * args.n * args.k;
  for (unsigned unit = thread_id(); unit < LINES * CHUNKS; unit += THREADS) {
    const unsigned line = unit / CHUNKS, chunk = unit % CHUNKS;
    const unsigned n = at.n + (COLUMN_MAJOR ? chunk * CHUNK : line);
    const unsigned k = at.k + (COLUMN_MAJOR ? line : chunk * CHUNK);
    if (n >= args.n || k >= args.k) continue;
    const unsigned long long code =
        COLUMN_MAJOR ? k * static_cast<unsigned long long>(args.n) + n
                     : n * static_cast<unsigned long long>(args.k) + k;
    const unsigned from =
        COLUMN_MAJOR ? turned_place(line, chunk * 16) : OUT_TILE + line * LINE_BYTES + chunk * 16;
    global_store(reinterpret_cast<words4 *>(args.out + (matrix + code) / (8 / OUT_BITS)),
                 shared_load<words4>(from));
  }
}

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_vector_args) args) {
  const tile_place at = place_of(args, block_id());
  const unsigned word = thread_id() % WORDS, group = thread_id() / WORDS;
  const unsigned n = at.n + group * HELD_ROWS, k = at.k + word * COLUMNS;
  const unsigned char *const from =
      args.in + at.e * args.stride_e_bytes + n * args.stride_n_bytes + k * (IN_BITS / 8ull);
  // Rows past N count as zeros, which leave a maximum as it is and are never stored.
  unsigned rows[HELD_ROWS] = {};
  if (k < args.k) {
    if (n + HELD_ROWS <= args.n) {
      for (unsigned r = 0; r < HELD_ROWS; r++)
        rows[r] = global_load(reinterpret_cast<const unsigned *>(from + r * args.stride_n_bytes));
    } else {
      for (unsigned r = 0; r < HELD_ROWS; r++)
        if (n + r < args.n)
          rows[r] = global_load(reinterpret_cast<const unsigned *>(from + r * args.stride_n_bytes));
    }
  }

  block_scale scale[PIECES][COLUMNS];
  for (unsigned piece = 0; piece < PIECES; piece++) {
    unsigned largest = rows[piece * PIECE_ROWS];
    for (unsigned r = 1; r < PIECE_ROWS; r++)
      largest = word_max(largest, rows[piece * PIECE_ROWS + r]);
    largest = block_max(largest, word, group);
    for (unsigned c = 0; c < COLUMNS; c++)
      scale[piece][c] = scale_of(column_magnitude(largest, c));
    if (group % GROUPS_N == 0 && word % BLOCK_WORDS == 0)
      put_scales(args, at, group * HELD_ROWS + piece * PIECE_ROWS, word, scale[piece]);
  }

  // Unrolled by word, or the compiler keeps the rows in local memory.
#pragma unroll
  for (unsigned half = 0; half < HELD_ROWS; half += 16) {
    const unsigned row = group * HELD_ROWS + half;
    const auto &of = scale[PIECES == 2 ? half / 16 : 0];
    codes16 codes[COLUMNS];
#pragma unroll
    for (unsigned quad = 0; quad < 4; quad++) {
      const unsigned *const four_rows = rows + half + quad * 4;
      if constexpr (COLUMN_MAJOR) {
        unsigned four[COLUMNS];
        narrow_down(four_rows, of, four);
        for (unsigned c = 0; c < COLUMNS; c++) place_four(codes[c], quad, four[c]);
      } else {
        for (unsigned r = 0; r < 4; r += 4 / COLUMNS)
          stage_four(row + quad * 4 + r, word, narrow_across(four_rows + r, of));
      }
    }
    if constexpr (COLUMN_MAJOR)
      for (unsigned c = 0; c < COLUMNS; c++)
        shared_store(turned_place(word * COLUMNS + c, row * OUT_BITS / 8), codes[c]);
  }
  block_sync();  // orders the stores of all codes and scales before their loads
  store_codes(args, at);
  if constexpr (SCALES_BY_TILES)
    store_scale_tile<MAIN>(args.scale, SCALE_TILE, at.e, at.n, at.k, args.n, args.k);
}
