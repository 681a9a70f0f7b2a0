//$ paste "args.h"
//$ paste "device.cuh"
// The variant and its schedule.
constexpr unsigned IN_BITS = ${input.bits}, IN_EXPONENT_BITS = ${input.exponent_bits};
constexpr unsigned OUT_EXPONENT_BITS = ${output.exponent_bits};
constexpr unsigned OUT_MANTISSA_BITS = ${output.mantissa_bits};
constexpr int OUT_EMAX = ${output.emax};
constexpr float OUT_MAX = ${output.max};
constexpr unsigned BLOCK = ${block};
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};
// Shared memory, in bytes.
constexpr unsigned IN_TILE = ${kernel.in_offset}, IN_BYTES = ${kernel.in_bytes};
constexpr unsigned OUT_TILE = ${kernel.out_offset};
constexpr unsigned BARRIER = ${kernel.barrier_offset};

//$ paste "scale.cuh"
//$ paste "convert.cuh"
//$ paste "tile.cuh"
constexpr unsigned ROW_BYTES = TILE_K * IN_BITS / 8;  // of the input tile, [n][k]
constexpr unsigned WORDS = TILE_K / COLUMNS;          // words in such a row
constexpr unsigned SLAB_ROWS = 128;                   // the output tile is [n / 128][k][n % 128]
constexpr unsigned SLAB_BYTES = SLAB_ROWS * TILE_K;
static_assert(alignof(mxq_tma_args) == 128, "tensor maps in parameter space");
static_assert(THREADS == WORDS * (TILE_N / BLOCK), "a thread for each word of each block");
static_assert(BLOCK == 32, "a thread holds the rows of one block");
static_assert(TILE_N % SLAB_ROWS == 0, "the swizzle spans 128 bytes");

// Starts the copy of an input tile. Rows past N and columns past K arrive as zeros, which leave a
// maximum as it is and are never stored.
MXQ_FN void load_tile(const mxq_tma_args &args, tile_place at) {
  barrier_expect(BARRIER, IN_BYTES);
  map_load(IN_TILE, args.in, at.k, at.n, at.e, BARRIER);
}

// Starts the copies of an output tile, and waits until its shared memory may be written again.
MXQ_FN void store_tile(const mxq_tma_args &args, tile_place at) {
  for (unsigned slab = 0; slab < TILE_N / SLAB_ROWS; slab++)
    if (at.n + slab * SLAB_ROWS < args.n)
      map_store(args.out, at.n + slab * SLAB_ROWS, at.k, at.e, OUT_TILE + slab * SLAB_BYTES);
  bulk_commit();
  bulk_wait_read();
}

// Quantizes the block of rows `first_row` and up of the columns in word `word` of the input tile.
MXQ_FN void quantize_block(const mxq_tma_args &args, tile_place at, unsigned word,
                           unsigned first_row) {
  // Half of the threads read the second sixteen rows first, so that the 16-byte stores of eight
  // neighbouring threads below, which lie two columns apart, fall into different banks.
  const unsigned flip = COLUMNS == 2 ? (word / 4 % 2) * 16 : 0;
  unsigned rows[BLOCK];
  for (unsigned half = 0; half < BLOCK; half += 16)
    for (unsigned r = 0; r < 16; r++)
      rows[half + r] = shared_load<unsigned>(
          IN_TILE + (first_row + (half ^ flip) + r) * ROW_BYTES + word * 4);

  unsigned largest = rows[0];
  for (unsigned r = 1; r < BLOCK; r++) largest = word_max(largest, rows[r]);
  block_scale scale[COLUMNS];
  for (unsigned c = 0; c < COLUMNS; c++) scale[c] = scale_of(column_magnitude(largest, c));

  const unsigned n = at.n + first_row, k = at.k + word * COLUMNS;
  if (n < args.n && k < args.k) store_scales(args, at.e, n / BLOCK, k, scale);

  for (unsigned half = 0; half < BLOCK; half += 16) {
    words4 codes[COLUMNS];
    for (unsigned quad = 0; quad < 4; quad++) {
      row_products product[4];
      for (unsigned r = 0; r < 4; r++) product[r] = multiply_row(rows[half + quad * 4 + r], scale);
      for (unsigned c = 0; c < COLUMNS; c++)
        codes[c].word[quad] = narrow_four(product[0].column[c], product[1].column[c],
                                          product[2].column[c], product[3].column[c]);
    }
    for (unsigned c = 0; c < COLUMNS; c++) {
      const unsigned row = first_row + (half ^ flip), column = word * COLUMNS + c;
      shared_store(swizzle_128(OUT_TILE + row / SLAB_ROWS * SLAB_BYTES + column * SLAB_ROWS +
                               row % SLAB_ROWS),
                   codes[c]);
    }
  }
}

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_tma_args) args) {
  const unsigned word = thread_id() % WORDS;
  const unsigned first_row = thread_id() / WORDS * BLOCK;
  unsigned tile = block_id();
  if (thread_id() == 0) {
    barrier_init(BARRIER, 1);
    fence_async_shared();  // orders the barrier's initialization before the copy that completes on it
    load_tile(args, place_of(args, tile));
  }
  block_sync();  // orders the barrier's initialization before the other threads' waits
  for (unsigned parity = 0;; parity ^= 1) {
    const tile_place at = place_of(args, tile);
    barrier_wait(BARRIER, parity);  // orders the copy of the input tile before its reads
    quantize_block(args, at, word, first_row);
    fence_async_shared();  // orders this thread's codes before the copy engine's reads of them
    block_sync();  // orders all threads' fences before the store, their reads before the next load
    tile += grid_size();
    if (thread_id() == 0) {
      store_tile(args, at);  // its wait, before the next load, orders this tile's copy before the
                             // codes of the next one: nobody writes them before that load is in
      if (tile < args.tiles) load_tile(args, place_of(args, tile));
    }
    if (tile >= args.tiles) return;
  }
}
