//$ paste("args.h", {launch = "any"})
//$ paste "device.cuh"
//$ paste "variant.cuh"
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
constexpr bool TILES_BY_K = !COLUMN_MAJOR || ALSO != 0;
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};
// Shared memory, in bytes.
constexpr unsigned IN_TILE = ${kernel.in_offset}, OUT_TILE = ${kernel.out_offset};
constexpr unsigned MAXIMA = ${kernel.maxima_offset}, SCALE_TILE = ${kernel.scales_offset};

//$ paste "scale.cuh"
//$ paste "convert.cuh"
//$ paste "four.cuh"
//$ paste "tile.cuh"
//$ paste "scales.cuh"
constexpr unsigned RUN_WORDS = ${kernel.held} / COLUMNS;
//$ paste "run.cuh"
//$ paste "extent.cuh"
//$ paste "lines.cuh"
constexpr bool READS_RUNS = MAIN == 2 || ALSO == 2;
// The input tile is [n][k], rows a gap apart that has room for a shift. Runs are read of rows that are
// shifted alike: 16 bytes more behind each ROWS_ALIKE keep 16 bytes in each of such rows in different banks.
constexpr unsigned ROWS_ALIKE = 128 / IN_BITS;
struct in_tile {
  using element = ${input.bits == 32 and "unsigned" or "unsigned short"};
  static constexpr unsigned LINES = TILE_N, LINE_BYTES = TILE_K * IN_BITS / 8;
  static constexpr unsigned LINE_PITCH = LINE_BYTES + 16, GAP = READS_RUNS ? 16 : 0;
  static_assert(LINE_BYTES % 128 == 0, "whole rows of banks");

  MXQ_FN unsigned place(unsigned line, unsigned byte) {
    return IN_TILE + line * LINE_PITCH + line / ROWS_ALIKE * GAP + byte;
  }
};
constexpr bool WORDS_WHOLE = sizeof(in_tile::element) == 4;  // words of shifted lines are words too

// What of a tile does not exist becomes zeros, which leave a maximum as it is.
MXQ_FN lines_shift load_tile(const mxq_any_args &args, const tile_extent &at) {
  return load_lines<in_tile>(
      {{args.in + at.e * args.stride_e_bytes + at.n * args.stride_n_bytes + at.k * (IN_BITS / 8),
        args.stride_n_bytes, at.rows, at.columns * (IN_BITS / 8)},
       at.k ? 16u : 0u, at.columns_behind * (IN_BITS / 8)});
}

// The tile of a part's codes, in the lines that codes have in memory: rows, with a gap behind each
// ROWS_ALIKE that keeps the runs of a warp in different banks, or columns, swizzled as a tensor map does it.
template <unsigned PART>
struct out_tile {
  using element = unsigned char;
  static constexpr bool TURNED = PART & 4;
  static constexpr unsigned LINES = TURNED ? TILE_K : TILE_N;
  static constexpr unsigned LINE_BYTES = (TURNED ? TILE_N : TILE_K) * OUT_BITS / 8;
  static constexpr unsigned GAP = READS_RUNS ? 512 / RUN_WORDS : 0;

  MXQ_FN unsigned place(unsigned line, unsigned byte) {
    const unsigned begin = line * LINE_BYTES;
    if constexpr (TURNED) return OUT_TILE + begin + (byte ^ swizzle<LINE_BYTES>(begin) ^ begin);
    return OUT_TILE + begin + line / ROWS_ALIKE * GAP + byte;
  }
};

template <unsigned PART>
MXQ_FN void store_tile(const mxq_any_args &args, unsigned char *out, const tile_extent &at) {
  constexpr bool TURNED = out_tile<PART>::TURNED;
  constexpr unsigned PACKED = 8 / OUT_BITS;
  const length pitch = (TURNED ? args.n : args.k) / PACKED;
  const length line = TURNED ? at.e * args.k + at.k : at.e * args.n + at.n;
  store_lines<out_tile<PART>>({out + line * pitch + (TURNED ? at.n : at.k) / PACKED, pitch,
                               TURNED ? at.columns : at.rows,
                               (TURNED ? at.rows : at.columns) / PACKED});
}

//$ paste "kept_scales.cuh"
//$ paste "columns.cuh"
// Blocks along K: quantizes run after run. The lanes of a warp take INTERLEAVED rows first, then runs,
// so that the 16 bytes of eight of them lie in different banks. Its rows are shifted alike.
constexpr unsigned ROW_RUNS = TILE_K / RUN, INTERLEAVED = RUN_WORDS / 4;
constexpr unsigned WARP_RUNS = ROW_RUNS < 32 / INTERLEAVED ? ROW_RUNS : 32 / INTERLEAVED;
constexpr unsigned ROW_WARPS = ROW_RUNS / WARP_RUNS, WARP_ROWS = 32 / WARP_RUNS;
static_assert(!READS_RUNS || (RUN_LANES <= WARP_RUNS && TILE_K % BLOCK == 0), "whole blocks");
static_assert(RUN * OUT_BITS <= 128, "codes of a run in one access");
static_assert(TILE_N * ROW_RUNS % THREADS == 0, "whole warps");
static_assert(!READS_RUNS || TILE_N % (WARP_ROWS * ROWS_ALIKE) == 0, "whole warps");

// The words of a run that begins in word AHEAD of those that are held, and some bytes later.
template <unsigned AHEAD>
MXQ_FN void join_run(const unsigned (&held)[RUN_WORDS + 4], unsigned selector, unsigned (&words)[RUN_WORDS]) {
#pragma unroll
  for (unsigned w = 0; w < RUN_WORDS; w++)
    words[w] = permute_bytes(held[AHEAD + w], held[AHEAD + w + 1], selector);
}

// All lanes of a warp begin in the same word.
template <bool SHIFTED>
MXQ_FN void load_run(unsigned row, unsigned run, lines_shift shift, unsigned (&words)[RUN_WORDS]) {
  const unsigned from = in_tile::place(row, run * RUN_WORDS * 4);
  unsigned held[RUN_WORDS + 4];
#pragma unroll
  for (unsigned w = 0; w < RUN_WORDS + (SHIFTED ? 4 : 0); w += 4) {
    const words4 four = shared_load<words4>(from, w * 4);
    for (unsigned i = 0; i < 4; i++) held[w + i] = four.word[i];
  }
  if constexpr (SHIFTED) {
    const unsigned ahead = ahead_of(shift, row), selector = shift_selector(ahead);
    switch (ahead / 4) {
      case 0: return join_run<0>(held, selector, words);
      case 1: return join_run<1>(held, selector, words);
      case 2: return join_run<2>(held, selector, words);
      default: return join_run<3>(held, selector, words);
    }
  }
  for (unsigned w = 0; w < RUN_WORDS; w++) words[w] = held[w];
}

template <unsigned PART>
MXQ_FN void quantize_runs(const mxq_any_args &args, const mxq_scale_args &scales,
                          const tile_extent &at, lines_shift shift) {
  const unsigned lane = thread_id() % 32;
#pragma unroll 1
  for (unsigned step = 0; step < TILE_N * ROW_RUNS / THREADS; step++) {
    const unsigned warp = thread_id() / 32 + step * (THREADS / 32);
    const unsigned of = lane / (INTERLEAVED * WARP_RUNS) * INTERLEAVED + lane % INTERLEAVED;
    const unsigned row = warp / ROW_WARPS / ROWS_ALIKE * (WARP_ROWS * ROWS_ALIKE) +
                         of * ROWS_ALIKE + warp / ROW_WARPS % ROWS_ALIKE;
    const unsigned run = warp % ROW_WARPS * WARP_RUNS + lane / INTERLEAVED % WARP_RUNS;
    unsigned words[RUN_WORDS];
    if (is_shifted(shift))
      load_run<true>(row, run, shift, words);
    else
      load_run<false>(row, run, shift, words);
    const run_scales scale = scales_of_run(words, INTERLEAVED);
    if (run * RUN % BLOCK == 0)
      for (unsigned piece = 0; piece < RUN_PIECES; piece++)
        put_scale<PART>(args, scales, at, row, run * RUN + piece * BLOCK,
                        scale.piece[piece][0].code);
    const run_codes codes = codes_of_run(words, scale);
    const unsigned to = out_tile<PART>::place(row, run * RUN * OUT_BITS / 8);
    if constexpr (RUN * OUT_BITS < 128)
      shared_store(to, codes.part[0]);
    else
      shared_store(to, codes_chunk(codes, 0));
  }
}

template <unsigned PART>
MXQ_FN void quantize_tile(const mxq_any_args &args, unsigned char *out,
                          const mxq_scale_args &scales, const tile_extent &at,
                          lines_shift shift) {
  if constexpr (PART == 2)
    quantize_runs<PART>(args, scales, at, shift);
  else
    quantize_columns<PART>(args, scales, at, shift);
  block_sync();  // orders the stores of codes and scales before their loads
  store_tile<PART>(args, out, at);
  if constexpr (SCALES_BY_TILES) store_kept_scales<PART>(args, scales, at);
}

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_any_args) args) {
  tile_number number = number_of(args, block_id());
  for (length tile = block_id();;) {
    const tile_extent at = extent_of(args, number);
    const lines_shift shift = load_tile(args, at);
    copies_wait();  // orders this thread's copies before the barrier
    block_sync();   // orders all threads' copies before the reads of others
    quantize_tile<MAIN>(args, args.out, args.scale, at, shift);
    if constexpr (ALSO != 0) {
      block_sync();  // orders the loads of one part's codes and scales before the other's stores
      quantize_tile<ALSO>(args, args.also, args.also_scale, at, shift);
    }
    tile += grid_size();
    if (tile >= args.tiles) return;
    number = number_behind(args, number, number_of(args, grid_size()));
  }
}
