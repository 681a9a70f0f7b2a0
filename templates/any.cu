//$ paste "args.h"
//$ paste "device.cuh"
//$ paste "variant.cuh"
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
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
// The input tile is [n][k]. Where runs are read, 16 bytes in each of neighbouring rows, bits 4 to 6
// of a place are xored with the row, so that those rows lie in different banks.
constexpr unsigned IN_SIZE = IN_BITS / 8;
constexpr unsigned ROW_BYTES = TILE_K * IN_SIZE;
constexpr bool READS_RUNS = MAIN == 2 || ALSO == 2;
static_assert(ROW_BYTES % 128 == 0, "whole rows of banks");

MXQ_FN unsigned in_place(unsigned row, unsigned byte) {
  return IN_TILE + row * ROW_BYTES + (READS_RUNS ? byte ^ row % 8 * 16 : byte);
}

// Copies the `rows` rows of `bytes` bytes that exist, in pieces that neighbouring threads take along a
// row, a batch of them on their way at a time; the rest is zeros, which leave a maximum as it is.
template <class PIECE>
MXQ_FN void load_pieces(const unsigned char *from, length stride, unsigned rows, unsigned bytes) {
  constexpr unsigned SIZE = sizeof(PIECE), ROW_PIECES = ROW_BYTES / SIZE;
  constexpr unsigned STEP = THREADS / ROW_PIECES, STEPS = TILE_N / STEP;
  constexpr unsigned MOST = SIZE == 16 ? 8 : 32, BATCH = STEPS < MOST ? STEPS : MOST;
  static_assert(THREADS % ROW_PIECES == 0 && TILE_N % (STEP * BATCH) == 0, "whole batches");
  const unsigned byte = thread_id() % ROW_PIECES * SIZE;
  length at = thread_id() / ROW_PIECES * stride + byte;
  for (unsigned first = thread_id() / ROW_PIECES; first < TILE_N; first += STEP * BATCH) {
    PIECE piece[BATCH];
#pragma unroll
    for (unsigned i = 0; i < BATCH; i++, at += STEP * stride)
      piece[i] = byte < bytes && first + i * STEP < rows
                     ? global_load(reinterpret_cast<const PIECE *>(from + at))
                     : PIECE{};
#pragma unroll
    for (unsigned i = 0; i < BATCH; i++) shared_store(in_place(first + i * STEP, byte), piece[i]);
  }
}

// In the widest accesses that addresses and the end of a row allow.
MXQ_FN void load_tile(const mxq_any_args &args, const tile_extent &at) {
  const unsigned char *const from =
      args.in + at.e * args.stride_e_bytes + at.n * args.stride_n_bytes + at.k * IN_SIZE;
  const unsigned bytes = at.columns * IN_SIZE;
  const length together = reinterpret_cast<length>(from) | args.stride_n_bytes | bytes;
  if (together % 16 == 0)
    load_pieces<words4>(from, args.stride_n_bytes, at.rows, bytes);
  else if (IN_SIZE == 4 || together % 4 == 0)
    load_pieces<unsigned>(from, args.stride_n_bytes, at.rows, bytes);
  else
    load_pieces<unsigned short>(from, args.stride_n_bytes, at.rows, bytes);
}

//$ paste "lines.cuh"
// Stores the scale of the block that begins at (row, column) of the tile, or keeps it for later where
// packed scales leave by tiles.
template <unsigned PART>
MXQ_FN void put_scale(const mxq_any_args &args, const mxq_scale_args &scales, const tile_extent &at,
                      unsigned row, unsigned column, unsigned code) {
  if (row >= at.rows || column >= at.columns) code = 0;
  if constexpr (SCALES_BY_TILES)
    shared_store(scale_tile<PART>::place(row, column), static_cast<unsigned char>(code));
  else
    store_scale<PART>(scales, at.e, at.n + row, at.k + column, args.n, args.k, code);
}

//$ paste "columns.cuh"
// Blocks along K: quantizes run after run. The lanes of a warp take INTERLEAVED rows first, then runs,
// so that the 16 bytes of eight of them lie in different banks.
constexpr unsigned ROW_RUNS = TILE_K / RUN, INTERLEAVED = RUN_WORDS / 4;
constexpr unsigned WARP_RUNS = ROW_RUNS < 32 / INTERLEAVED ? ROW_RUNS : 32 / INTERLEAVED;
constexpr unsigned ROW_WARPS = ROW_RUNS / WARP_RUNS, WARP_ROWS = 32 / WARP_RUNS;
static_assert(!READS_RUNS || (RUN_LANES <= WARP_RUNS && TILE_K % BLOCK == 0), "whole blocks");
static_assert(TILE_N * ROW_RUNS % THREADS == 0 && TILE_N % WARP_ROWS == 0, "whole warps");

template <unsigned PART>
MXQ_FN void quantize_runs(const mxq_any_args &args, const mxq_scale_args &scales,
                          const tile_extent &at) {
  const unsigned lane = thread_id() % 32;
  for (unsigned warp = thread_id() / 32; warp < TILE_N * ROW_RUNS / 32; warp += THREADS / 32) {
    const unsigned row = warp / ROW_WARPS * WARP_ROWS +
                         lane / (INTERLEAVED * WARP_RUNS) * INTERLEAVED + lane % INTERLEAVED;
    const unsigned run = warp % ROW_WARPS * WARP_RUNS + lane / INTERLEAVED % WARP_RUNS;
    unsigned words[RUN_WORDS];
    for (unsigned w = 0; w < RUN_WORDS; w += 4) {
      const words4 four = shared_load<words4>(in_place(row, (run * RUN_WORDS + w) * 4));
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
      for (unsigned chunk = 0; chunk < RUN * OUT_BITS / 128; chunk++)
        shared_store(to + chunk * 16, codes_chunk(codes, chunk));
  }
}

template <unsigned PART>
MXQ_FN void quantize_tile(const mxq_any_args &args, unsigned char *out,
                          const mxq_scale_args &scales, const tile_extent &at) {
  if constexpr (PART == 2)
    quantize_runs<PART>(args, scales, at);
  else
    quantize_columns<PART>(args, scales, at);
  block_sync();  // orders the stores of codes and scales before their loads
  store_codes<PART>(args, out, at);
  if constexpr (SCALES_BY_TILES) store_kept_scales<PART>(args, scales, at);
  block_sync();  // orders the reads of this tile before the stores of what comes next
}

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_any_args) args) {
  for (length tile = block_id(); tile < args.tiles; tile += grid_size()) {
    const tile_extent at = extent_of<COLUMN_MAJOR>(args, tile);
    load_tile(args, at);
    block_sync();  // orders the elements' stores before the reads of other threads
    quantize_tile<MAIN>(args, args.out, args.scale, at);
    if constexpr (ALSO != 0) quantize_tile<ALSO>(args, args.also, args.also_scale, at);
  }
}
