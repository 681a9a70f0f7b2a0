//$ -- Not where many more instructions would be left: float32 to bytes, and 16 bits to two parts of packed codes.
//$ local packed = output.bits == 4
//$ local fast = input.bits == 32 and packed or input.bits == 16 and not (packed and layout.second ~= 0)
//$ -- colt of bf16 to e4m3 and e5m2 with e8m0 scales goes by sixteen rows at a time, which are of one block.
//$ local sixteens = input.token == "bf16" and arch.number >= 90 and mode.scale_bits == 8 and block >= 16
//$   and output.exponent_bits + output.mantissa_bits == 7
//$   and layout.second == 0 and layout.first == part.along_n + part.column_major
//$ if fast then paste "fast_level.cuh" end
//$ -- What the form does not use costs its compile time too. Codes that pass through a row-major tile: of the only
//$ -- part, or of squares in both; scales that leave by tiles: packed ones, and those of two parts' rows.
//$ local main = layout.second ~= 0 and layout.second or layout.first
//$ local stages = main < part.column_major or layout.second ~= 0 and layout.first == part.along_n + part.along_k
//$ local scales_by_tiles = layout.second ~= 0 or mode.scale_bits == 8 and variant.scales ~= "lin"
//$ paste("args.h", {launch = "tma"})
//$ paste "device.cuh"
//$ need "device_copy.cuh"
//$ paste("variant.cuh", {input = held})
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
constexpr bool TILES_BY_K = !COLUMN_MAJOR || ALSO != 0;
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};
// Shared memory, in bytes.
constexpr unsigned IN_TILE = ${kernel.in_offset}, IN_BYTES = ${kernel.in_bytes};
constexpr unsigned OUT_TILE = ${kernel.out_offset}, ALSO_TILE = ${kernel.also_offset};
constexpr unsigned MAXIMA = ${kernel.maxima_offset};
constexpr unsigned SCALE_TILE = ${kernel.scales_offset}, BARRIER = ${kernel.barrier_offset};

//$ if sixteens then
//$   need "device_sixteen.cuh"
//$   paste "convert.cuh"
//$   paste "scale_pair.cuh"
//$   paste "tile.cuh"
//$ else
//$   paste "scale.cuh"
//$   paste("convert.cuh", {input = held})
//$   paste("four.cuh", {input = held})
//$   paste "tile.cuh"
//$   paste "scale_columns.cuh"
//$ end
//$ paste "scales.cuh"
//$ if scales_by_tiles then paste "scales_tile.cuh" end
// The input tile is [n][k]. A thread holds one 32-bit word of HELD_ROWS rows. Where rows are read
// too, by runs of 16 bytes, it is [k / SLAB_WORDS][n][k % SLAB_WORDS] in rows of 128 swizzled bytes, or becomes so
// where it is packed.
constexpr unsigned ROW_BYTES = TILE_K * ${input.bits} / 8;
constexpr unsigned WORDS = TILE_K / COLUMNS;
constexpr unsigned HELD_ROWS = 32;
// Where tiles are small, so few that they leave threads idle, each part has threads of its own.
constexpr unsigned PART_THREADS = WORDS * (TILE_N / HELD_ROWS);
constexpr bool SPLITS = THREADS == 2 * PART_THREADS;
constexpr bool READS_ROWS = ALSO == 2;  // the first part has blocks along K
constexpr bool PACKS = ${held.bits ~= input.bits};  // the input tile becomes one of smaller elements
constexpr unsigned SLAB_WORDS = 32;
constexpr unsigned IN_SLAB_BYTES = TILE_N * 128;
// A column-major output tile is [n / SLAB_ROWS][k][n % SLAB_ROWS], in rows of at most 128 bytes
// that the tensor map swizzles; a row-major one is [n][k].
constexpr unsigned OUT_ROW_BYTES = TILE_K * OUT_BITS / 8;
constexpr unsigned SLAB_ROWS = TILE_N * OUT_BITS < 1024 ? TILE_N : 1024 / OUT_BITS;
constexpr unsigned SLAB_ROW_BYTES = SLAB_ROWS * OUT_BITS / 8;
constexpr unsigned SLAB_BYTES = SLAB_ROW_BYTES * TILE_K;
// How a block is shared out: PIECES blocks along N in one thread's rows; or one block over GROUPS_N
// row groups; if it lies along K, over LANES threads of a warp and GROUPS_K warps of a row group.
constexpr unsigned PIECES = BLOCK < HELD_ROWS ? HELD_ROWS / BLOCK : 1;
constexpr unsigned PIECE_ROWS = HELD_ROWS / PIECES;
constexpr unsigned GROUPS_N = BLOCK < HELD_ROWS ? 1 : BLOCK / HELD_ROWS;
constexpr unsigned BLOCK_WORDS = ALONG_K ? BLOCK / COLUMNS : 1;
constexpr unsigned LANES = BLOCK_WORDS < 32 ? BLOCK_WORDS : 32;
constexpr unsigned GROUPS_K = BLOCK_WORDS / LANES;
// Scales of a tile that leave together, one a block.
constexpr unsigned BLOCKS_N = TILE_N / BLOCK;
constexpr unsigned SCALE_BYTES = BLOCKS_N * (ALONG_K ? TILE_K / BLOCK : TILE_K);
constexpr unsigned ALSO_SCALE_TILE = SCALE_TILE + (SCALES_BY_TILES ? SCALE_BYTES : 0);
static_assert(alignof(mxq_tma_args) == 128, "tensor maps in parameter space");
static_assert(SPLITS || THREADS == PART_THREADS, "a thread for each word of 32 rows");
static_assert(!SPLITS || (READS_ROWS && !PACKS && GROUPS_N * GROUPS_K == 1), "parts that wait for none");
static_assert(WORDS % 32 == 0, "a warp stays in one row group");
static_assert(TILE_N % BLOCK == 0 && TILE_K % (BLOCK_WORDS * COLUMNS) == 0, "whole blocks");
static_assert(TILE_N % SLAB_ROWS == 0, "whole slabs");

// Starts the copy of an input tile. Rows past N and columns past K arrive as zeros, which leave a
// maximum as it is and are never stored.
MXQ_FN void load_tile(const mxq_tma_args &args, tile_place at) {
  barrier_expect(BARRIER, IN_BYTES);
  if constexpr (READS_ROWS && !PACKS)
    for (unsigned slab = 0; slab < WORDS / SLAB_WORDS; slab++)
      map_load(IN_TILE + slab * IN_SLAB_BYTES, args.in, at.k + slab * SLAB_WORDS * COLUMNS, at.n,
               at.e, BARRIER);
  else
    map_load(IN_TILE, args.in, at.k, at.n, at.e, BARRIER);
}

// Starts the copies of an output tile, and waits until its shared memory may be given up.
MXQ_FN void store_tile(const mxq_tma_args &args, tile_place at) {
  // Maps of packed codes count bytes.
  constexpr unsigned PACKED = 8 / OUT_BITS;
  if constexpr (COLUMN_MAJOR) {
    for (unsigned slab = 0; slab < TILE_N / SLAB_ROWS; slab++)
      if (at.n + slab * SLAB_ROWS < args.n)
        map_store(args.out, (at.n + slab * SLAB_ROWS) / PACKED, at.k, at.e,
                  OUT_TILE + slab * SLAB_BYTES);
  } else {
    map_store(args.out, at.k / PACKED, at.n, at.e, OUT_TILE);
  }
  if constexpr (ALSO != 0) map_store(args.also, at.k / PACKED, at.n, at.e, ALSO_TILE);
  bulk_commit();
  bulk_wait_read();
}

MXQ_FN unsigned word_place(unsigned row, unsigned word) {
  if constexpr (READS_ROWS)
    return swizzle<128>(IN_TILE + word / SLAB_WORDS * IN_SLAB_BYTES + row * 128 +
                        word % SLAB_WORDS * 4);
  return IN_TILE + row * ROW_BYTES + word * 4;
}

// The word `r` rows below one that is a multiple of eight: swizzles repeat after eight rows.
MXQ_FN unsigned load_word(unsigned row, unsigned r, unsigned word) {
  constexpr unsigned ALIKE = READS_ROWS ? 8 : 1, PITCH = READS_ROWS ? 128 : ROW_BYTES;
  return shared_load<unsigned>(word_place(row + r % ALIKE, word), r / ALIKE * ALIKE * PITCH);
}

//$ if held.bits ~= input.bits then paste "held_odd.cuh" end
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
// (row, word) of the tile: the code of the first column and of the last one.
MXQ_FN void put_scales(const mxq_tma_args &args, tile_place at, unsigned row, unsigned word,
                       unsigned first, unsigned last) {
  constexpr unsigned BLOCKS = ALONG_K ? 1 : COLUMNS;
  const unsigned n = at.n + row, k = at.k + word * COLUMNS;
  const bool inside = n < args.n && k < args.k;
  if constexpr (SCALES_BY_TILES) {
    // [rows of blocks][columns], the rows of scales along K but for sq.
    for (unsigned c = 0; c < BLOCKS; c++) {
      const unsigned column = word * COLUMNS + c;
      const unsigned line = ALONG_K ? column / BLOCK : column;
      const unsigned char code = static_cast<unsigned char>(inside ? c ? last : first : 0);
      const unsigned turned = line * BLOCKS_N + row / BLOCK;
      const unsigned straight = row / BLOCK * (TILE_K / BLOCK) + line;
      shared_store(SCALE_TILE + (scales_of<MAIN>::ROWS_N ? straight : turned),
                   code);
      if constexpr (ALSO == 3)
        shared_store(ALSO_SCALE_TILE + straight, code);
    }
  } else if constexpr (BLOCKS == 2) {
    if (inside) store_scale_pair<MAIN>(args.scale, at.e, n, k, first, last);
  } else {
    store_scale<MAIN>(args.scale, at.e, n, k, args.n, args.k, inside ? first : 0);
    if constexpr (ALSO == 3)
      store_scale<ALSO>(args.also_scale, at.e, n, k, args.n, args.k, inside ? first : 0);
  }
}

//$ if stages then paste "tile_stage.cuh" end
// Where the codes of sixteen rows of a word's first column go in a column-major tile. Those of its second one
// are a row of the tile on, and those of the sixteen rows beside these in the other half of as many bytes:
// swizzled, both differ in bits that nothing carries into.
MXQ_FN unsigned codes_place(unsigned row, unsigned word) {
  if constexpr (COLUMN_MAJOR)
    return swizzle<SLAB_ROW_BYTES>(OUT_TILE + row / SLAB_ROWS * SLAB_BYTES +
                                   word * COLUMNS * SLAB_ROW_BYTES + row % SLAB_ROWS * OUT_BITS / 8);
  return 0;
}

//$ if sixteens then
//$   paste "tile_sixteen.cuh"
//$ else
// Quantizes sixteen rows of a word's columns, which begin at `row`; `scale`: of the blocks they are in; `to`:
// their codes_place.
MXQ_FN void convert_half(unsigned row, unsigned to, unsigned word, const unsigned *rows,
                         const block_scale (*scale)[COLUMNS]) {
  codes16 codes[COLUMNS];
#pragma unroll
  for (unsigned quad = 0; quad < 4; quad++) {
    const unsigned *const four_rows = rows + quad * 4;
    const auto &of = scale[quad * 4 / PIECE_ROWS];
    if constexpr (COLUMN_MAJOR) {
      unsigned four[COLUMNS];
      narrow_down(four_rows, of, four);
      for (unsigned c = 0; c < COLUMNS; c++) place_four(codes[c], quad, four[c]);
    }
//$ if stages then
    stage_quad(row, quad, word, four_rows, of);
//$ end
  }
  if constexpr (COLUMN_MAJOR)
    for (unsigned c = 0; c < COLUMNS; c++)
      shared_store(to ^ (c * SLAB_ROW_BYTES >> 3 & (SLAB_ROW_BYTES - 16)), codes[c],
                   c * SLAB_ROW_BYTES);
}

// Quantizes 32 rows of the columns in word `word` of the input tile: the main part.
MXQ_FN void quantize_rows(const mxq_tma_args &args, tile_place at, unsigned word, unsigned group) {
  // Half of the threads read the second sixteen rows first, so that the 16-byte stores of eight
  // neighbouring threads below, which lie two columns apart, fall into different banks. Not where
  // those threads share two blocks: each must find the same one first.
  constexpr bool FLIPS = COLUMN_MAJOR && OUT_BITS == 8 && COLUMNS == 2 && !(ALONG_K && PIECES > 1);
  const unsigned flip = FLIPS ? (word / 4 % 2) * 16 : 0;
  const unsigned first_row = group * HELD_ROWS;
  const unsigned to = codes_place(first_row + flip, word);
  unsigned rows[HELD_ROWS];
//$ if held.bits ~= input.bits then
  pack_rows(first_row, word, rows);
//$ else
  for (unsigned half = 0; half < HELD_ROWS; half += 16)
    for (unsigned r = 0; r < 16; r++)
      rows[half + r] = load_word(first_row + (half ^ flip), r, word);
//$ end

  block_scale scale[PIECES][COLUMNS];
#pragma unroll
  for (unsigned piece = 0; piece < PIECES; piece++) {
    unsigned largest = rows[piece * PIECE_ROWS];
    for (unsigned r = 1; r < PIECE_ROWS; r++)
      largest = word_max(largest, rows[piece * PIECE_ROWS + r]);
    largest = block_max(largest, word, group);
    scales_of_columns<ALONG_K>(largest, scale[piece]);
    if (group % GROUPS_N == 0 && word % BLOCK_WORDS == 0)
      put_scales(args, at, first_row + (PIECES > 1 ? piece * PIECE_ROWS ^ flip : 0), word,
                 scale[piece][0].code, scale[piece][COLUMNS - 1].code);
  }

  if constexpr (OUT_BITS == 4 && ALSO != 0) {
    // Much code follows from a row: one piece of it for both halves is half as much to compile, for a move
    // of each row of the second one.
#pragma unroll 1
    for (unsigned half = 0;; half += 16) {
      convert_half(first_row + (half ^ flip), to ^ half * OUT_BITS / 8, word, rows, scale);
      if (half != 0) break;
#pragma unroll
      for (unsigned r = 0; r < 16; r++) rows[r] = rows[16 + r];
#pragma unroll
      for (unsigned piece = 0; piece < PIECES / 2; piece++)
        for (unsigned c = 0; c < COLUMNS; c++) scale[piece][c] = scale[PIECES / 2 + piece][c];
    }
  } else {
#pragma unroll
    for (unsigned half = 0; half < HELD_ROWS; half += 16)
      convert_half(first_row + (half ^ flip), to ^ half * OUT_BITS / 8, word, rows + half,
                   scale + half / PIECE_ROWS);
  }
}
//$ end

//$ if layout.second ~= 0 and layout.first == part.along_k then
//$   paste "tile_runs.cuh"
//$ end
MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_tma_args) args) {
  const unsigned word = thread_id() % WORDS;
  const unsigned group = thread_id() / WORDS;
  const tile_place at = place_of<TILES_BY_K>(args, block_id());
  if (thread_id() == 0) {
    barrier_init(BARRIER, 1);
    fence_async_shared();  // orders the barrier's initialization before the copy that completes on it
    load_tile(args, at);
    map_prefetch(args.out);
    if constexpr (ALSO != 0) map_prefetch(args.also);
  }
  block_sync();  // orders the barrier's initialization before the other threads' waits
  barrier_wait(BARRIER, 0);  // orders the copy of the input tile before its reads
  if (!SPLITS || thread_id() < PART_THREADS) quantize_rows(args, at, word, group);
//$ if layout.second ~= 0 and layout.first == part.along_k then
//$   if held.bits ~= input.bits then
  block_sync();  // orders the stores of all packed words before their loads
//$   end
  if (!SPLITS || thread_id() >= PART_THREADS) quantize_runs(args, at);
//$ end
  fence_async_shared();  // orders this thread's codes before the copy engine's reads of them
  block_sync();  // orders all threads' fences before the store, the stores of scales before their loads
  if (thread_id() == 0) store_tile(args, at);
//$ if scales_by_tiles then
  if constexpr (SCALES_BY_TILES)
    store_scale_tile<MAIN>(args.scale, SCALE_TILE, at.e, at.n, at.k, args.n, args.k);
  if constexpr (ALSO != 0 && scales_of<ALSO>::BY_TILES)
    store_scale_tile<ALSO>(args.also_scale, ALSO_SCALE_TILE, at.e, at.n, at.k, args.n, args.k);
//$ end
}
