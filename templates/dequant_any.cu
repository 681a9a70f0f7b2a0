//$ paste("args.h", {launch = "dequant_any"})
//$ paste "device.cuh"
//$ paste "dequant_variant.cuh"
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};
// Shared memory, in bytes.
constexpr unsigned IN_TILE = ${kernel.in_offset}, SCALES = ${kernel.maxima_offset};

//$ paste "place.cuh"
//$ paste "decode.cuh"
//$ paste "scale_read.cuh"
// A thread takes one column of every STEP_ROWS-th row, BATCH of them at a time, so that as many loads
// are on their way. Column-major codes come by way of shared memory, [k][n], in lines an odd number
// of words apart, so that neither rows nor columns meet in a bank.
constexpr unsigned BATCH = 16;
constexpr unsigned PACKED = 8 / IN_BITS;  // codes of a byte
constexpr unsigned STEP_ROWS = THREADS / TILE_K;
constexpr unsigned TILE_LINE = TILE_N / PACKED;  // bytes of a column in the tile
constexpr unsigned LINE_BYTES = TILE_LINE + 4;
constexpr unsigned STEP_LINES = THREADS / TILE_LINE;
constexpr unsigned TILE_BLOCKS_N = TILE_N < BLOCK_N ? 1 : TILE_N / BLOCK_N;
constexpr unsigned TILE_BLOCKS_K = TILE_K < BLOCK_K ? 1 : TILE_K / BLOCK_K;
static_assert(THREADS % TILE_K == 0 && TILE_N % (STEP_ROWS * BATCH) == 0, "whole batches");
static_assert(TILE_N % BLOCK_N == 0 || BLOCK_N % TILE_N == 0, "whole blocks, or a part of one");
static_assert(TILE_K % BLOCK_K == 0 || BLOCK_K % TILE_K == 0, "whole blocks, or a part of one");
static_assert(!COLUMN_MAJOR || (THREADS % TILE_LINE == 0 && TILE_K % (STEP_LINES * BATCH) == 0),
              "whole batches of columns");
static_assert(!COLUMN_MAJOR || LINE_BYTES / 4 % 2 == 1, "different banks");

using length = unsigned long long;

// Where a tile begins, and how much of it exists.
struct element_place {
  length n, k, e;
  unsigned rows, columns;
};

MXQ_FN element_place place_of(const mxq_dequant_any_args &args, length tile) {
  const length strip = tile / args.tiles_n, e = strip / args.tiles_k;
  const length n = (tile - strip * args.tiles_n) * TILE_N, k = (strip - e * args.tiles_k) * TILE_K;
  return {n, k, e, static_cast<unsigned>(args.n - n < TILE_N ? args.n - n : TILE_N),
          static_cast<unsigned>(args.k - k < TILE_K ? args.k - k : TILE_K)};
}

// Keeps the scale of every block that has a part in the tile.
MXQ_FN void load_tile_scales(const mxq_dequant_any_args &args, const element_place &at) {
  for (unsigned block = thread_id(); block < TILE_BLOCKS_N * TILE_BLOCKS_K; block += THREADS) {
    const unsigned row = block / TILE_BLOCKS_K * BLOCK_N, column = block % TILE_BLOCKS_K * BLOCK_K;
    if (row < at.rows && column < at.columns)
      shared_store(SCALES + block * 4,
                   float_bits(load_scale(scale_place(args, at.e, at.n + row, at.k + column))));
  }
}

// Copies the bytes of column-major codes that exist.
MXQ_FN void load_tile_codes(const mxq_dequant_any_args &args, const element_place &at) {
  const unsigned byte = thread_id() % TILE_LINE, first = thread_id() / TILE_LINE;
  const length line = args.n / PACKED;
  const length step = STEP_LINES * line;
  const unsigned char *from =
      args.in + (at.e * args.k + at.k + first) * line + at.n / PACKED + byte;
  if (byte * PACKED >= at.rows) return;
  for (unsigned batch = first; batch < at.columns; batch += STEP_LINES * BATCH) {
    unsigned char bytes[BATCH] = {};
    for (unsigned i = 0; i < BATCH; i++, from += step)
      if (batch + i * STEP_LINES < at.columns) bytes[i] = global_load(from);
    for (unsigned i = 0; i < BATCH; i++)
      shared_store(IN_TILE + (batch + i * STEP_LINES) * LINE_BYTES + byte, bytes[i]);
  }
}

MXQ_FN void store_element(unsigned char *to, float x) {
  if constexpr (OUT_BITS == 32)
    global_store(reinterpret_cast<unsigned *>(to), float_bits(x));
  else if constexpr (OUT_EXPONENT_BITS == 8)
    global_store(reinterpret_cast<unsigned short *>(to),
                 static_cast<unsigned short>(round_pair_bf16(x, 0)));
  else
    global_store(reinterpret_cast<unsigned short *>(to),
                 static_cast<unsigned short>(round_pair_f16(x, 0)));
}

// The value of a byte's code times its scale, both of element (row, column) of the tile.
MXQ_FN float value_of(unsigned byte, unsigned row, unsigned column) {
  const unsigned code = byte >> (COLUMN_MAJOR ? row : column) % PACKED * IN_BITS;
  const unsigned block = row / BLOCK_N * TILE_BLOCKS_K + column / BLOCK_K;
  float x[CODES];
  decode<CODES>(&code, x);
  return multiply(x[0], bits_float(shared_load<unsigned>(SCALES + block * 4)));
}

// Loads the bytes of row-major codes of a batch of rows; `rows` of them exist from the first one on.
MXQ_FN void load_batch(const unsigned char *from, length line, unsigned rows,
                       unsigned char (&bytes)[BATCH]) {
  const length step = STEP_ROWS * line;
  for (unsigned i = 0; i < BATCH; i++, from += step)
    if (i * STEP_ROWS < rows) bytes[i] = global_load(from);
}

// Decodes a batch of rows, the first `first`, and stores them from `to` on, `step` bytes apart.
MXQ_FN void decode_batch(unsigned first, unsigned rows, unsigned column, unsigned char *to,
                         length step, const unsigned char (&bytes)[BATCH]) {
  for (unsigned i = 0; i < BATCH; i++, to += step) {
    const unsigned row = first + i * STEP_ROWS;
    if (i * STEP_ROWS >= rows) continue;
    const unsigned byte =
        COLUMN_MAJOR ? shared_load<unsigned char>(IN_TILE + column * LINE_BYTES + row / PACKED)
                     : bytes[i];
    store_element(to, value_of(byte, row, column));
  }
}

// Decodes the thread's column of a tile whose column-major codes are there; others it loads.
MXQ_FN void decode_tile(const mxq_dequant_any_args &args, const element_place &at,
                        unsigned char (&bytes)[BATCH], const unsigned char *from, unsigned first,
                        unsigned column) {
  const length line = args.k / PACKED, step = STEP_ROWS * args.stride_n_bytes;
  unsigned char *to = args.out + at.e * args.stride_e_bytes + (at.n + first) * args.stride_n_bytes +
                      (at.k + column) * (OUT_BITS / 8);
  for (unsigned row = first; row < at.rows; row += STEP_ROWS * BATCH) {
    if (!COLUMN_MAJOR && row != first) load_batch(from, line, at.rows - row, bytes);
    decode_batch(row, at.rows - row, column, to, step, bytes);
    from += STEP_ROWS * BATCH * line;
    to += BATCH * step;
  }
}

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_dequant_any_args) args) {
  const unsigned first = thread_id() / TILE_K, column = thread_id() % TILE_K;
  for (length tile = block_id(); tile < args.tiles; tile += grid_size()) {
    const element_place at = place_of(args, tile);
    const bool inside = first < at.rows && column < at.columns;
    const length line = args.k / PACKED;  // of row-major codes
    const unsigned char *const from =
        args.in + (at.e * args.n + at.n + first) * line + (at.k + column) / PACKED;
    unsigned char bytes[BATCH] = {};
    if constexpr (COLUMN_MAJOR)
      load_tile_codes(args, at);
    else if (inside)
      load_batch(from, line, at.rows - first, bytes);
    load_tile_scales(args, at);
    block_sync();  // orders the stores of scales and codes before the reads of other threads
    if (inside) decode_tile(args, at, bytes, from, first, column);
    block_sync();  // orders the reads of this tile before the stores of the next one
  }
}
