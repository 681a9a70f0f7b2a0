//$ paste("args.h", {launch = "vector"})
//$ paste "device.cuh"
//$ paste "variant.cuh"
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
constexpr bool TILES_BY_K = true;
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};
// Shared memory, in bytes.
constexpr unsigned SCALE_TILE = ${kernel.scales_offset};

//$ paste "scale.cuh"
//$ paste "convert.cuh"
//$ paste "four.cuh"
//$ paste "tile.cuh"
//$ paste "scale_columns.cuh"
//$ need "device_guarded.cuh"
constexpr unsigned RUN_WORDS = ${kernel.held} / COLUMNS;
//$ paste "run.cuh"
//$ paste "scales.cuh"
//$ paste "scales_tile.cuh"
// K is a multiple of a run: each is inside or outside as a whole.
constexpr unsigned ROW_THREADS = THREADS / TILE_N;
constexpr unsigned STEP = ROW_THREADS * RUN;       // columns from one run of a thread to its next
constexpr unsigned STEPS = TILE_K / STEP;
constexpr unsigned TILE_COLUMNS = TILE_K / BLOCK;  // of scales
static_assert(THREADS % TILE_N == 0 && TILE_K % STEP == 0, "whole steps");
static_assert(STEP % RUN == 0 && STEP % BLOCK == 0, "whole blocks");

// The first run of a thread. The others lie in the same row, at constant distances.
struct run_place {
  unsigned row, column;  // in the tile
  unsigned n, k;
  const unsigned char *from;
  unsigned char *to;
  unsigned long long scale_at;  // of linear scales
};

MXQ_FN run_place run_of(const mxq_vector_args &args, tile_place at) {
  run_place run;
  run.row = thread_id() / ROW_THREADS;
  run.column = thread_id() % ROW_THREADS * RUN;
  run.n = at.n + run.row;
  run.k = at.k + run.column;
  run.from = args.in + at.e * args.stride_e_bytes + run.n * args.stride_n_bytes +
             run.k * (IN_BITS / 8ull);
  const unsigned long long code =
      (static_cast<unsigned long long>(at.e) * args.n + run.n) * args.k + run.k;
  run.to = args.out + code / (8 / OUT_BITS);
  run.scale_at =
      at.e * args.scale.stride_e + scale_place<MAIN>(args.scale.pitch, run.n, run.k / BLOCK);
  return run;
}

// The run of a step.
MXQ_FN bool run_exists(const mxq_vector_args &args, const run_place &run, unsigned step) {
  return run.n < args.n && run.k + step * STEP < args.k;
}

struct run_words {
  unsigned word[RUN_WORDS];
};

MXQ_FN run_words load_run(const mxq_vector_args &args, const run_place &run, unsigned step) {
  run_words words;
  const bool exists = run_exists(args, run, step);
  const unsigned char *const from = run.from + step * (STEP * IN_BITS / 8);
  for (unsigned w = 0; w < RUN_WORDS; w += 4) {
    const words4 four = global_load_if(exists, reinterpret_cast<const words4 *>(from + w * 4));
    for (unsigned i = 0; i < 4; i++) words.word[w + i] = four.word[i];
  }
  return words;
}

MXQ_FN void store_scales_of_run(const mxq_vector_args &args, unsigned e, const run_place &run,
                                unsigned step, const run_scales &scale) {
  if (run.column % BLOCK != 0) return;
  for (unsigned piece = 0; piece < RUN_PIECES; piece++) {
    const unsigned column = run.column / BLOCK + step * (STEP / BLOCK) + piece;
    const unsigned k = run.k + step * STEP + piece * BLOCK;
    const bool inside = run.n < args.n && k < args.k;
    const unsigned code = scale.piece[piece][0].code;
    if constexpr (SCALES_BY_TILES)
      shared_store(SCALE_TILE + run.row * TILE_COLUMNS + column,
                   static_cast<unsigned char>(inside ? code : 0));
    else if constexpr (!SCALES_LIN)
      store_scale<MAIN>(args.scale, e, run.n, k, args.n, args.k, code);
    else if (inside)
      store_scale_at(args.scale, run.scale_at + (step * (STEP / BLOCK) + piece), code);
  }
}

MXQ_FN void quantize_run(const mxq_vector_args &args, unsigned e, const run_place &run,
                         unsigned step, const run_words &words) {
  const bool exists = run_exists(args, run, step);
  const run_scales scale = scales_of_run(words.word, 1, exists);
  store_scales_of_run(args, e, run, step, scale);
  const run_codes codes = codes_of_run(words.word, scale);
  unsigned char *const to = run.to + step * (STEP * OUT_BITS / 8);
  if constexpr (RUN * OUT_BITS < 128) {
    if (exists) global_store(reinterpret_cast<codes16 *>(to), codes.part[0]);
  } else {
    for (unsigned chunk = 0; chunk < RUN * OUT_BITS / 128; chunk++)
      global_store_if(exists, reinterpret_cast<words4 *>(to) + chunk, codes_chunk(codes, chunk));
  }
}

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_vector_args) args) {
  const tile_place at = place_of<TILES_BY_K>(args, block_id());
  const run_place run = run_of(args, at);
  run_words words[STEPS];
#pragma unroll
  for (unsigned step = 0; step < STEPS; step++) words[step] = load_run(args, run, step);
#pragma unroll
  for (unsigned step = 0; step < STEPS; step++) quantize_run(args, at.e, run, step, words[step]);
  if constexpr (SCALES_BY_TILES) {
    block_sync();  // orders the stores of all scales before their loads
    store_scale_tile<MAIN>(args.scale, SCALE_TILE, at.e, at.n, at.k, args.n, args.k);
  }
}
