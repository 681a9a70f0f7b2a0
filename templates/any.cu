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
//$ paste "scale_columns.cuh"
//$ paste "scales.cuh"
//$ paste "scales_tile.cuh"
constexpr unsigned RUN_WORDS = ${kernel.held} / COLUMNS;
//$ paste "run.cuh"
//$ paste "extent.cuh"
//$ paste "lines_out.cuh"
constexpr unsigned WORDS = TILE_K / COLUMNS;  // of a row
constexpr unsigned HELD_ROWS = 32;
static_assert(THREADS == WORDS * (TILE_N / HELD_ROWS), "a thread for 32 rows of a word");
// The input tile is [n][k]. 16 bytes between rows keep runs in different banks.
struct in_tile {
  static constexpr unsigned PITCH = TILE_K * IN_BITS / 8 + 16;
  static_assert(TILE_K * IN_BITS / 8 % 128 == 0, "whole rows of banks");

  MXQ_FN unsigned place(unsigned line, unsigned byte) { return IN_TILE + line * PITCH + byte; }
};
//$ paste "held_rows.cuh"

// The tile of a part's codes, in the lines that codes have in memory: rows or columns. 16 bytes between
// them keep codes of neighbouring columns in different banks.
template <unsigned PART>
struct out_tile {
  using element = unsigned char;
  static constexpr bool TURNED = PART & 4;
  static constexpr unsigned LINES = TURNED ? TILE_K : TILE_N;
  static constexpr unsigned LINE_BYTES = (TURNED ? TILE_N : TILE_K) * OUT_BITS / 8;
  static constexpr unsigned PITCH = LINE_BYTES + 16;

  MXQ_FN unsigned place(unsigned line, unsigned byte) { return OUT_TILE + line * PITCH + byte; }
};
// Two parts' tiles have one shape, and are stored by the same instructions.
static_assert(ALSO == 0 || out_tile<ALSO>::LINES == out_tile<MAIN>::LINES, "one shape");

template <unsigned PART>
MXQ_FN lines_to lines_of(const mxq_any_args &args, unsigned char *out, const tile_extent &at) {
  constexpr bool TURNED = out_tile<PART>::TURNED;
  constexpr unsigned PACKED = 8 / OUT_BITS;
  const length pitch = (TURNED ? args.n : args.k) / PACKED;
  const length line = TURNED ? at.e * args.k + at.k : at.e * args.n + at.n;
  return {out + line * pitch + (TURNED ? at.n : at.k) / PACKED, pitch,
          TURNED ? at.columns : at.rows, (TURNED ? at.rows : at.columns) / PACKED};
}

//$ paste "kept_scales.cuh"
//$ paste "columns.cuh"
// The row part of two: quantizes run after run. The lanes of a warp take INTERLEAVED rows first, then runs,
// so that the 16 bytes of eight of them lie in different banks.
constexpr unsigned ROW_RUNS = TILE_K / RUN, INTERLEAVED = RUN_WORDS / 4;
constexpr unsigned WARP_RUNS = ROW_RUNS < 32 / INTERLEAVED ? ROW_RUNS : 32 / INTERLEAVED;
constexpr unsigned ROW_WARPS = ROW_RUNS / WARP_RUNS, WARP_ROWS = 32 / WARP_RUNS;
static_assert(ALSO != 2 || (RUN_LANES <= WARP_RUNS && TILE_K % BLOCK == 0), "whole blocks");
static_assert(RUN * OUT_BITS <= 128, "codes of a run in one access");
static_assert(TILE_N * ROW_RUNS % THREADS == 0, "whole warps");

template <unsigned PART>
MXQ_FN void quantize_runs(const mxq_any_args &args, const mxq_scale_args &scales,
                          const tile_extent &at) {
  const unsigned lane = thread_id() % 32;
  const unsigned of = lane / (INTERLEAVED * WARP_RUNS) * INTERLEAVED + lane % INTERLEAVED;
#pragma unroll 1
  for (unsigned warp = thread_id() / 32; warp < TILE_N * ROW_RUNS / 32; warp += THREADS / 32) {
    const unsigned row = warp / ROW_WARPS * WARP_ROWS + of;
    const unsigned run = warp % ROW_WARPS * WARP_RUNS + lane / INTERLEAVED % WARP_RUNS;
    const unsigned from = in_tile::place(row, run * RUN_WORDS * 4);
    unsigned words[RUN_WORDS];
#pragma unroll
    for (unsigned w = 0; w < RUN_WORDS; w += 4) {
      const words4 four = shared_load<words4>(from, w * 4);
      for (unsigned i = 0; i < 4; i++) words[w + i] = four.word[i];
    }
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
MXQ_FN void quantize_part(const mxq_any_args &args, const mxq_scale_args &scales,
                          const tile_extent &at) {
  if constexpr (PART == 2)
    quantize_runs<PART>(args, scales, at);
  else
    quantize_columns<PART>(args, scales, at);
}

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_any_args) args) {
#pragma unroll 1
  for (unsigned pass = 0; exists_in_pass(args, pass); pass++) {
    const tile_extent at = extent_of(args, number_in_pass(args, pass));
    load_tile(args, at);
    block_sync();  // orders all threads' copies and stores before the reads of others
    quantize_part<MAIN>(args, args.scale, at);
    lines_to lines = lines_of<MAIN>(args, args.out, at);
    // The two parts of a tile, after each other: one store serves both.
#pragma unroll 1
    for (unsigned turn = 0;; turn++) {
      block_sync();  // orders the stores of codes and scales before their loads
      store_lines<out_tile<MAIN>>(lines);
      if constexpr (SCALES_BY_TILES) {
        if (turn == 0)
          store_kept_scales<MAIN>(args, args.scale, at);
        else if constexpr (ALSO != 0)
          store_kept_scales<ALSO>(args, args.also_scale, at);
      }
      block_sync();  // orders loads of rows, codes and scales before the next ones' stores
      if (ALSO == 0 || turn != 0) break;
      if constexpr (ALSO != 0) {
        quantize_part<ALSO>(args, args.also_scale, at);
        lines = lines_of<ALSO>(args, args.also, at);
      }
    }
  }
}
