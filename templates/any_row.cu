//$ paste "fast_level.cuh"
//$ paste("args.h", {launch = "any"})
//$ paste "device.cuh"
//$ paste "variant.cuh"
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
constexpr bool TILES_BY_K = true;
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};
// Shared memory, in bytes.
constexpr unsigned IN_TILE = ${kernel.in_offset}, OUT_TILE = ${kernel.out_offset};
constexpr unsigned SCALE_TILE = ${kernel.scales_offset};

//$ paste "scale.cuh"
//$ paste "convert.cuh"
//$ paste "four.cuh"
//$ paste "tile.cuh"
//$ paste "scale_columns.cuh"
//$ paste "scales.cuh"
//$ paste "scales_tile.cuh"
constexpr unsigned RUN_WORDS = ${kernel.held} / COLUMNS;
//$ paste "run.cuh"
//$ paste "extent.cuh"
//$ paste "lines_in.cuh"
//$ paste "lines_out.cuh"
// The input tile is [n][k], rows a gap apart that has room for a shift. Runs are read of rows that are
// shifted alike: 16 bytes more behind each ROWS_ALIKE keep 16 bytes in each of such rows in different banks.
constexpr unsigned ROWS_ALIKE = 128 / IN_BITS;
struct in_tile {
  using element = ${input.bits == 32 and "unsigned" or "unsigned short"};
  static constexpr unsigned LINES = TILE_N, LINE_BYTES = TILE_K * IN_BITS / 8;
  static constexpr unsigned LINE_PITCH = LINE_BYTES + 16, GAP = 16;
  static_assert(LINE_BYTES % 128 == 0, "whole rows of banks");

  MXQ_FN unsigned place(unsigned line, unsigned byte) {
    return IN_TILE + line * LINE_PITCH + line / ROWS_ALIKE * GAP + byte;
  }
};

// What of a tile does not exist becomes zeros, which leave a maximum as it is.
MXQ_FN lines_shift load_tile(const mxq_any_args &args, const tile_extent &at) {
  return load_lines<in_tile>(
      {args.in + at.e * args.stride_e_bytes + at.n * args.stride_n_bytes + at.k * (IN_BITS / 8),
       args.stride_n_bytes, at.rows, at.columns * (IN_BITS / 8), at.k ? 16u : 0u,
       at.columns_behind * (IN_BITS / 8)});
}

// The tile of codes is [n][k]. A gap between rows keeps the runs of a warp in different banks.
struct out_tile {
  using element = unsigned char;
  static constexpr unsigned LINES = TILE_N, LINE_BYTES = TILE_K * OUT_BITS / 8;
  static constexpr unsigned PITCH = LINE_BYTES + 16;

  MXQ_FN unsigned place(unsigned line, unsigned byte) { return OUT_TILE + line * PITCH + byte; }
};

MXQ_FN void store_tile(const mxq_any_args &args, const tile_extent &at) {
  constexpr unsigned PACKED = 8 / OUT_BITS;
  const length pitch = args.k / PACKED;
  store_lines<out_tile>({args.out + (at.e * args.n + at.n) * pitch + at.k / PACKED, pitch, at.rows,
                         at.columns / PACKED});
}

//$ paste "kept_scales.cuh"

// Quantizes run after run. The lanes of a warp take INTERLEAVED rows first, then runs,
// so that the 16 bytes of eight of them lie in different banks. Its rows are shifted alike.
constexpr unsigned ROW_RUNS = TILE_K / RUN, INTERLEAVED = RUN_WORDS / 4;
constexpr unsigned WARP_RUNS = ROW_RUNS < 32 / INTERLEAVED ? ROW_RUNS : 32 / INTERLEAVED;
constexpr unsigned ROW_WARPS = ROW_RUNS / WARP_RUNS, WARP_ROWS = 32 / WARP_RUNS;
static_assert(RUN_LANES <= WARP_RUNS && TILE_K % BLOCK == 0, "whole blocks");
static_assert(RUN * OUT_BITS <= 128, "codes of a run in one access");
static_assert(TILE_N * ROW_RUNS % THREADS == 0, "whole warps");
static_assert(TILE_N % (WARP_ROWS * ROWS_ALIKE) == 0, "whole warps");

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

MXQ_FN void quantize_runs(const mxq_any_args &args, const tile_extent &at, lines_shift shift) {
  const unsigned lane = thread_id() % 32;
#pragma unroll 1
  for (unsigned warp = thread_id() / 32; warp < TILE_N * ROW_RUNS / 32; warp += THREADS / 32) {
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
        put_scale<MAIN>(args, args.scale, at, row, run * RUN + piece * BLOCK,
                        scale.piece[piece][0].code);
    const run_codes codes = codes_of_run(words, scale);
    const unsigned to = out_tile::place(row, run * RUN * OUT_BITS / 8);
    if constexpr (RUN * OUT_BITS < 128)
      shared_store(to, codes.part[0]);
    else
      shared_store(to, codes_chunk(codes, 0));
  }
}

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_any_args) args) {
#pragma unroll 1
  for (unsigned pass = 0; exists_in_pass(args, pass); pass++) {
    const tile_extent at = extent_of(args, number_in_pass(args, pass));
    const lines_shift shift = load_tile(args, at);
    copies_wait();  // orders this thread's copies before the barrier
    block_sync();   // orders all threads' copies before the reads of others
    quantize_runs(args, at, shift);
    block_sync();  // orders the stores of codes and scales before their loads
    store_tile(args, at);
    if constexpr (SCALES_BY_TILES) store_kept_scales<MAIN>(args, args.scale, at);
  }
}
