//$ paste("args.h", {launch = "dequant_tile"})
//$ paste "device.cuh"
//$ need "device_copy.cuh"
//$ paste "dequant_variant.cuh"
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
constexpr bool TILES_BY_K = true;
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};
// Shared memory, in bytes.
constexpr unsigned IN_TILE = ${kernel.in_offset}, IN_BYTES = ${kernel.in_bytes};
constexpr unsigned OUT_TILE = ${kernel.out_offset};
constexpr unsigned BARRIER = ${kernel.barrier_offset};

//$ paste "place.cuh"
//$ paste "decode.cuh"
//$ paste "scale_read.cuh"
// The input tile is [k][n], in rows of 128 bytes that the tensor map swizzles; the output tile is
// [k / SLAB_K][n][k % SLAB_K], in rows of 128 bytes that its map swizzles.
constexpr unsigned ROW_BYTES = 128;
constexpr unsigned SLAB_K = ROW_BYTES * 8 / OUT_BITS;
constexpr unsigned SLABS = TILE_K / SLAB_K;
constexpr unsigned SLAB_BYTES = ROW_BYTES * TILE_N;
// A thread takes one word of codes along N from each of CHUNK columns k, 16 bytes of the output, and
// so on for STEPS words. Eight threads of a warp hold the eight chunks of a slab, four the words of
// 16 bytes of a row of codes.
constexpr unsigned WORDS16 = 4, PARTS = ROW_BYTES / 16;
constexpr unsigned STEPS = SLABS * PARTS * 32 / THREADS;
constexpr unsigned PART_CODES = 16 * 8 / IN_BITS;
// Scales: of square blocks one for all of a chunk. Those of all steps are the same where the codes of
// all steps lie in one block.
constexpr unsigned SCALES_K = ALONG_K ? 1 : CHUNK;
constexpr bool ONE_BLOCK = STEPS * PART_CODES <= BLOCK;
constexpr unsigned SCALES_N = ONE_BLOCK ? 1 : STEPS;
static_assert(alignof(mxq_dequant_tile_args) == 128, "tensor maps in parameter space");
static_assert(TILE_N * IN_BITS / 8 == ROW_BYTES && TILE_K % SLAB_K == 0, "whole slabs");
static_assert(THREADS * STEPS == SLABS * PARTS * 32 && PARTS % STEPS == 0, "whole parts");
static_assert(BLOCK % CODES == 0 && BLOCK % CHUNK == 0, "a thread's words in one block each");
static_assert(COLUMN_MAJOR && ALONG_N, "columns");

// Where a thread works: on a chunk of columns, and word `word` of 16 bytes of each one's codes.
struct thread_place {
  unsigned slab, chunk, word, first_step;
};

MXQ_FN thread_place thread_place_of(unsigned thread) {
  constexpr unsigned SLAB_WARPS = PARTS / STEPS;
  const unsigned warp = thread / 32;
  return {warp / SLAB_WARPS, thread % PARTS, thread % 32 / PARTS, warp % SLAB_WARPS * STEPS};
}

// The first row of a step. The eight chunks take the 16-byte parts of a row in an order of their own,
// so that neither the reads of a warp nor its writes, below, meet in a bank.
MXQ_FN unsigned row_of(const thread_place &my, unsigned step) {
  return ((my.first_step + step) ^ my.chunk) * PART_CODES + my.word * CODES;
}

// Starts the copy of an input tile. Codes past N or K arrive as zeros and are never stored.
MXQ_FN void load_tile(const mxq_dequant_tile_args &args, tile_place at) {
  barrier_expect(BARRIER, IN_BYTES);
  map_load(IN_TILE, args.in, at.n / (8 / IN_BITS), at.k, at.e, BARRIER);
}

// Starts the copies of an output tile, and waits until they have read it: until then the block's shared
// memory may not go to another one.
MXQ_FN void store_tile(const mxq_dequant_tile_args &args, tile_place at) {
  for (unsigned slab = 0; slab < SLABS; slab++)
    if (at.k + slab * SLAB_K < args.k)
      map_store(args.out, at.k + slab * SLAB_K, at.n, at.e, OUT_TILE + slab * SLAB_BYTES);
  bulk_commit();
  bulk_wait_read();
}

struct thread_scales {
  float value[SCALES_N][SCALES_K];
};

MXQ_FN thread_scales scales_of(const mxq_dequant_tile_args &args, tile_place at,
                               const thread_place &my) {
  thread_scales scales = {};
  const unsigned k = at.k + my.slab * SLAB_K + my.chunk * CHUNK;
  // All steps together cover a run of rows: its first one exists if any does.
  constexpr unsigned RUN = ONE_BLOCK ? STEPS * PART_CODES : CODES;
  for (unsigned s = 0; s < SCALES_N; s++) {
    const unsigned n = at.n + row_of(my, s) / RUN * RUN;
    if (n >= args.n || k >= args.k) continue;
    const unsigned char *const from = scale_place(args, at.e, n, k);
    if constexpr (ALONG_K)
      scales.value[s][0] = load_scale(from);
    else
      load_scales<CHUNK>(args, from, scales.value[s]);
  }
  return scales;
}

// Turns the words of one step: codes of CHUNK columns in each of CODES rows.
MXQ_FN void decode_step(const thread_place &my, unsigned step, const float (&scale)[SCALES_K]) {
  // A swizzle pattern is eight rows high, and CHUNK or CODES rows from a multiple of that many on lie
  // in one: their places differ by constants.
  const unsigned row = row_of(my, step), k = my.slab * SLAB_K + my.chunk * CHUNK;
  const unsigned from = swizzle<ROW_BYTES>(IN_TILE + k * ROW_BYTES + row * IN_BITS / 8);
  const unsigned to = swizzle<ROW_BYTES>(OUT_TILE + my.slab * SLAB_BYTES + row * ROW_BYTES +
                                         my.chunk * 16);
  float x[CHUNK][CODES];
  for (unsigned c = 0; c < CHUNK; c++) {
    const unsigned word = shared_load<unsigned>(from ^ c * 16, c * ROW_BYTES);
    decode<CODES>(&word, x[c]);
  }
  for (unsigned r = 0; r < CODES; r++) {
    float products[CHUNK];
    for (unsigned c = 0; c < CHUNK; c++) products[c] = multiply(x[c][r], scale[ALONG_K ? 0 : c]);
    shared_store(to ^ r * 16, round_chunk(products), r * ROW_BYTES);
  }
}

// A block takes one tile.
MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_dequant_tile_args) args) {
  const thread_place my = thread_place_of(thread_id());
  const tile_place at = place_of<TILES_BY_K>(args, block_id());
  if (thread_id() == 0) {
    barrier_init(BARRIER, 1);
    fence_async_shared();  // orders the barrier's initialization before the copy that completes on it
    load_tile(args, at);
  }
  block_sync();  // orders the barrier's initialization before the other threads' waits
  const thread_scales scales = scales_of(args, at, my);
  barrier_wait(BARRIER, 0);  // orders the copy of the input tile before its reads
  for (unsigned step = 0; step < STEPS; step++)
    decode_step(my, step, scales.value[SCALES_N == 1 ? 0 : step]);
  fence_async_shared();  // orders this thread's elements before the copy engine's reads of them
  block_sync();  // orders all threads' fences before the store
  if (thread_id() == 0) store_tile(args, at);
}
