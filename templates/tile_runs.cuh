// The first part of two: blocks along K, from the same input tile, by runs of 64 bytes.
constexpr unsigned RUN_WORDS = 16;
//$ paste "run.cuh"
constexpr unsigned TILE_RUNS = TILE_K / RUN;                         // in a row
constexpr unsigned WARP_ROWS = 32 / RUN_LANES;                       // a warp holds a block of that many rows
constexpr unsigned ROW_WARPS = TILE_RUNS / RUN_LANES;                // warps for all blocks of those rows
constexpr unsigned STEP_ROWS = PART_THREADS / 32 / ROW_WARPS * WARP_ROWS;  // rows of all warps together
static_assert(TILE_RUNS % RUN_LANES == 0 && PART_THREADS / 32 % ROW_WARPS == 0, "whole warps");
static_assert(TILE_N % STEP_ROWS == 0 && STEP_ROWS % 8 == 0, "whole steps, swizzled alike");

// Sixteen bytes of a row-major tile whose rows the tensor map swizzles.
MXQ_FN unsigned also_place(unsigned row, unsigned byte) {
  return swizzle<OUT_ROW_BYTES>(ALSO_TILE + row * OUT_ROW_BYTES + byte);
}

MXQ_FN void put_scales_of_run(const mxq_tma_args &args, tile_place at, unsigned row,
                              unsigned column, const run_scales &scale) {
  if (column % BLOCK != 0) return;
  for (unsigned piece = 0; piece < RUN_PIECES; piece++) {
    const unsigned n = at.n + row, k = at.k + column + piece * BLOCK;
    const unsigned code = scale.piece[piece][0].code;
    if constexpr (scales_of<ALSO>::BY_TILES)
      shared_store(ALSO_SCALE_TILE +
                       (row * (TILE_K / BLOCK) + column / BLOCK + piece) * SCALE_SIZE,
                   static_cast<scale_access<SCALE_SIZE>::type>(n < args.n && k < args.k ? code : 0));
    else
      store_scale<ALSO>(args.also_scale, at.e, n, k, args.n, args.k,
                        n < args.n && k < args.k ? code : 0);
  }
}

MXQ_FN void quantize_runs(const mxq_tma_args &args, tile_place at) {
  // Neighbouring lanes hold neighbouring rows, whose 16 bytes fall into different banks.
  const unsigned warp = thread_id() % PART_THREADS / 32, lane = thread_id() % 32;
  const unsigned first_row = warp / ROW_WARPS * WARP_ROWS + lane % WARP_ROWS;
  const unsigned run = warp % ROW_WARPS * RUN_LANES + lane / WARP_ROWS;
  // Places within a run differ in bits that the swizzle changes, those of steps above them.
  const unsigned from = word_place(first_row, run * RUN_WORDS);
  const unsigned to = also_place(first_row, run * RUN * OUT_BITS / 8);
#pragma unroll 1
  for (unsigned below = 0; below < TILE_N; below += STEP_ROWS) {
    const unsigned row = first_row + below;
    unsigned words[RUN_WORDS];
    for (unsigned w = 0; w < RUN_WORDS; w += 4) {
      const words4 four = shared_load<words4>((from + below * 128) ^ w * 4);
      for (unsigned j = 0; j < 4; j++) words[w + j] = four.word[j];
    }
    const run_scales scale = scales_of_run(words, WARP_ROWS);
    put_scales_of_run(args, at, row, run * RUN, scale);
    const run_codes codes = codes_of_run(words, scale);
    if constexpr (RUN * OUT_BITS < 128)
      shared_store(to + below * OUT_ROW_BYTES, codes.part[0]);
    else
      for (unsigned chunk = 0; chunk < RUN * OUT_BITS / 128; chunk++)
        shared_store((to + below * OUT_ROW_BYTES) ^ chunk * 16, codes_chunk(codes, chunk));
  }
}
