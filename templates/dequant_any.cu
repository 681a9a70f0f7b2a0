//$ paste "args.h"
//$ paste "device.cuh"
//$ paste "dequant_variant.cuh"
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};
// Shared memory, in bytes.
constexpr unsigned IN_TILE = ${kernel.in_offset}, SCALES = ${kernel.maxima_offset};

//$ paste "place.cuh"
//$ paste "decode.cuh"
//$ paste "scale_read.cuh"
// A thread takes one column of every STEP_ROWS-th row. Column-major codes come by way of shared
// memory, [k][n], in lines an odd number of words apart, so that neither rows nor columns meet in a
// bank.
constexpr unsigned LINE_BYTES = TILE_N * IN_BITS / 8 + 4;
constexpr unsigned PACKED = 8 / IN_BITS;  // codes of a byte
constexpr unsigned STEP_ROWS = THREADS / TILE_K;
constexpr unsigned TILE_BLOCKS_N = TILE_N < BLOCK_N ? 1 : TILE_N / BLOCK_N;
constexpr unsigned TILE_BLOCKS_K = TILE_K < BLOCK_K ? 1 : TILE_K / BLOCK_K;
static_assert(THREADS % TILE_K == 0 && TILE_N % STEP_ROWS == 0, "whole rows");
static_assert(TILE_N % BLOCK_N == 0 || BLOCK_N % TILE_N == 0, "whole blocks, or a part of one");
static_assert(TILE_K % BLOCK_K == 0 || BLOCK_K % TILE_K == 0, "whole blocks, or a part of one");
static_assert(LINE_BYTES / 4 % 2 == 1, "different banks");

using length = unsigned long long;
struct element_place {
  length n, k, e;
};

// Keeps the scale of every block that has a part in the tile.
MXQ_FN void load_tile_scales(const mxq_dequant_any_args &args, element_place at) {
  for (unsigned block = thread_id(); block < TILE_BLOCKS_N * TILE_BLOCKS_K; block += THREADS) {
    const length n = at.n + block / TILE_BLOCKS_K * BLOCK_N;
    const length k = at.k + block % TILE_BLOCKS_K * BLOCK_K;
    if (n < args.n && k < args.k)
      shared_store(SCALES + block * 4, float_bits(load_scale(scale_place(args, at.e, n, k))));
  }
}

// Copies the bytes of column-major codes that exist.
MXQ_FN void load_tile_codes(const mxq_dequant_any_args &args, element_place at) {
  constexpr unsigned LINE = TILE_N / PACKED;
  const unsigned char *const from = args.in + (at.e * args.k + at.k) * (args.n / PACKED) + at.n / PACKED;
  for (unsigned i = thread_id(); i < LINE * TILE_K; i += THREADS) {
    const unsigned column = i / LINE, byte = i % LINE;
    if (at.k + column < args.k && at.n + byte * PACKED < args.n)
      shared_store(IN_TILE + column * LINE_BYTES + byte,
                   global_load(from + column * (args.n / PACKED) + byte));
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

MXQ_FN void decode_tile(const mxq_dequant_any_args &args, element_place at) {
  const unsigned column = thread_id() % TILE_K, first = thread_id() / TILE_K;
  if (at.k + column >= args.k) return;
  const length line = args.k / PACKED;  // of row-major codes, in bytes
  const unsigned char *const from =
      args.in + (at.e * args.n + at.n) * line + (at.k + column) / PACKED;
  unsigned char *const to = args.out + at.e * args.stride_e_bytes + at.n * args.stride_n_bytes +
                            (at.k + column) * (OUT_BITS / 8);
  for (unsigned row = first; row < TILE_N && at.n + row < args.n; row += STEP_ROWS) {
    const unsigned low = (COLUMN_MAJOR ? row : column) % PACKED * IN_BITS;
    const unsigned code =
        (COLUMN_MAJOR ? shared_load<unsigned char>(IN_TILE + column * LINE_BYTES + row / PACKED)
                      : global_load(from + row * line)) >>
        low;
    const unsigned block = row / BLOCK_N * TILE_BLOCKS_K + column / BLOCK_K;
    const float scale = bits_float(shared_load<unsigned>(SCALES + block * 4));
    float x[CODES];
    decode<CODES>(&code, x);
    store_element(to + row * args.stride_n_bytes, multiply(x[0], scale));
  }
}

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_dequant_any_args) args) {
  for (length tile = block_id(); tile < args.tiles; tile += grid_size()) {
    const length strip = tile / args.tiles_n;
    const element_place at = {tile % args.tiles_n * TILE_N, strip % args.tiles_k * TILE_K,
                              strip / args.tiles_k};
    load_tile_scales(args, at);
    if constexpr (COLUMN_MAJOR) load_tile_codes(args, at);
    block_sync();  // orders the stores of scales and codes before the reads of other threads
    decode_tile(args, at);
    block_sync();  // orders the reads of this tile before the stores of the next one
  }
}
