//$ paste("args.h", {launch = "vector"})
//$ paste "device.cuh"
//$ paste "variant.cuh"
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};
// Shared memory, in bytes.
constexpr unsigned SCALE_TILE = ${kernel.scales_offset};

//$ paste "scale.cuh"
//$ paste "convert.cuh"
//$ paste "four.cuh"
//$ paste "tile.cuh"
constexpr unsigned RUN_WORDS = ${kernel.held} / COLUMNS;
//$ paste "run.cuh"
//$ paste "scales.cuh"
// K is a multiple of a run: each is inside or outside as a whole.
constexpr unsigned ROW_RUNS = TILE_K / RUN;
constexpr unsigned STEP_ROWS = THREADS / ROW_RUNS;  // rows that the threads hold at a time
constexpr unsigned TILE_COLUMNS = TILE_K / BLOCK;   // of scales
static_assert(TILE_N % STEP_ROWS == 0 && THREADS % ROW_RUNS == 0, "whole steps");
static_assert(TILE_K % RUN == 0 && TILE_K % BLOCK == 0, "whole blocks");

MXQ_FN void store_scales_of_run(const mxq_vector_args &args, tile_place at, unsigned row,
                                unsigned column, const run_scales &scale) {
  if (column % BLOCK != 0) return;
  for (unsigned piece = 0; piece < RUN_PIECES; piece++) {
    const unsigned n = at.n + row, k = at.k + column + piece * BLOCK;
    const unsigned code = scale.piece[piece][0].code;
    if constexpr (SCALES_BY_TILES)
      shared_store(SCALE_TILE + row * TILE_COLUMNS + (column / BLOCK + piece),
                   static_cast<unsigned char>(n < args.n && k < args.k ? code : 0));
    else
      store_scale<MAIN>(args.scale, at.e, n, k, args.n, args.k, code);
  }
}

// Quantizes the run that begins at element (row, column) of the tile.
MXQ_FN void quantize_run(const mxq_vector_args &args, tile_place at, unsigned row,
                         unsigned column) {
  const unsigned n = at.n + row, k = at.k + column;
  const bool inside = n < args.n && k < args.k;
  unsigned words[RUN_WORDS] = {};
  if (inside) {
    const unsigned char *const from =
        args.in + at.e * args.stride_e_bytes + n * args.stride_n_bytes + k * (IN_BITS / 8ull);
    for (unsigned w = 0; w < RUN_WORDS; w += 4) {
      const words4 four = global_load(reinterpret_cast<const words4 *>(from + w * 4));
      for (unsigned i = 0; i < 4; i++) words[w + i] = four.word[i];
    }
  }
  const run_scales scale = scales_of_run(words, 1);
  store_scales_of_run(args, at, row, column, scale);
  if (!inside) return;

  const run_codes codes = codes_of_run(words, scale);
  const unsigned long long code =
      (static_cast<unsigned long long>(at.e) * args.n + n) * args.k + k;
  unsigned char *const to = args.out + code / (8 / OUT_BITS);
  if constexpr (RUN * OUT_BITS < 128)
    global_store(reinterpret_cast<codes16 *>(to), codes.part[0]);
  else
    for (unsigned chunk = 0; chunk < RUN * OUT_BITS / 128; chunk++)
      global_store(reinterpret_cast<words4 *>(to) + chunk, codes_chunk(codes, chunk));
}

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_vector_args) args) {
  const tile_place at = place_of(args, block_id());
  const unsigned first = thread_id() / ROW_RUNS, column = thread_id() % ROW_RUNS * RUN;
  for (unsigned row = first; row < TILE_N; row += STEP_ROWS) quantize_run(args, at, row, column);
  if constexpr (SCALES_BY_TILES) {
    block_sync();  // orders the stores of all scales before their loads
    store_scale_tile<MAIN>(args.scale, SCALE_TILE, at.e, at.n, at.k, args.n, args.k);
  }
}
