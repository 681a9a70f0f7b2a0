//$ paste("args.h", {launch = "any"})
//$ paste "device.cuh"
//$ paste "variant.cuh"
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};
// Shared memory, in bytes.
constexpr unsigned IN_TILE = ${kernel.in_offset}, MULTIPLIERS = ${kernel.maxima_offset};

//$ paste "scale.cuh"
//$ paste "convert.cuh"
//$ paste "tile.cuh"
//$ paste "scales.cuh"
// The input tile is [n][k], its rows an odd number of words apart, so that neither rows nor columns
// meet in a bank.
constexpr unsigned IN_SIZE = IN_BITS / 8;
constexpr unsigned ROW_BYTES = TILE_K * IN_SIZE + 4;
// What a part of the layout makes of the tile. A block along K is shared by LANES neighbouring
// threads, each of which takes every LANES-th column.
template <unsigned PART>
struct part_of {
  static constexpr bool TURNED = PART & 4;
  static constexpr unsigned BLOCK_N = PART & 1 ? BLOCK : 1, BLOCK_K = PART & 2 ? BLOCK : 1;
  static constexpr unsigned BLOCKS_N = TILE_N / BLOCK_N, BLOCKS_K = TILE_K / BLOCK_K;
  static constexpr unsigned LANES = BLOCK_K < 32 ? BLOCK_K : 32, TEAMS = THREADS / LANES;
  static_assert(TILE_N % BLOCK_N == 0 && TILE_K % BLOCK_K == 0, "whole blocks");
  static_assert(BLOCKS_N * BLOCKS_K % (32 / LANES) == 0 || LANES == 1, "whole warps shuffle");
};

using length = unsigned long long;
struct element_place {
  length n, k, e;
};

MXQ_FN float widen_element(unsigned row, unsigned column) {
  const unsigned at = IN_TILE + row * ROW_BYTES + column * IN_SIZE;
  if constexpr (IN_BITS == 32)
    return column_of(shared_load<unsigned>(at), 0);
  else
    return column_of(shared_load<unsigned short>(at), 0);
}

// Copies the part of the tile that exists; the rest is zeros, which leave a maximum as it is.
MXQ_FN void load_tile(const mxq_any_args &args, element_place at) {
  const unsigned char *const from = args.in + at.e * args.stride_e_bytes;
  for (unsigned i = thread_id(); i < TILE_N * TILE_K; i += THREADS) {
    const unsigned row = i / TILE_K, column = i % TILE_K;
    const length n = at.n + row, k = at.k + column;
    const bool inside = n < args.n && k < args.k;
    const unsigned char *const element = from + n * args.stride_n_bytes + k * IN_SIZE;
    const unsigned to = IN_TILE + row * ROW_BYTES + column * IN_SIZE;
    if constexpr (IN_BITS == 32)
      shared_store(to, inside ? global_load(reinterpret_cast<const unsigned *>(element)) : 0u);
    else
      shared_store(to, inside ? global_load(reinterpret_cast<const unsigned short *>(element))
                              : static_cast<unsigned short>(0));
  }
}

// Finds the scale of every block of the tile; stores it, and keeps its multiplier.
template <unsigned PART>
MXQ_FN void scale_blocks(const mxq_any_args &args, const mxq_scale_args &scales, element_place at) {
  using part = part_of<PART>;
  const unsigned lane = thread_id() % part::LANES;
  for (unsigned block = thread_id() / part::LANES; block < part::BLOCKS_N * part::BLOCKS_K;
       block += part::TEAMS) {
    const unsigned row = block / part::BLOCKS_K * part::BLOCK_N;
    const unsigned column = block % part::BLOCKS_K * part::BLOCK_K;
    float largest = 0;
    for (unsigned r = 0; r < part::BLOCK_N; r++)
      for (unsigned c = lane; c < part::BLOCK_K; c += part::LANES)
        largest = max_magnitude(largest, widen_element(row + r, column + c));
    for (unsigned mask = 1; mask < part::LANES; mask *= 2)
      largest = max_magnitude(largest, bits_float(shuffle_xor(float_bits(largest), mask)));
    const block_scale scale = scale_of(float_bits(largest) & 0x7FFFFFFF);
    if (lane != 0) continue;
    shared_store(MULTIPLIERS + block * 4, float_bits(scale.multiplier));
    const length n = at.n + row, k = at.k + column;
    store_scale<PART>(scales, at.e, n, k, args.n, args.k,
                      n < args.n && k < args.k ? scale.code : 0);
  }
}

template <unsigned PART>
MXQ_FN unsigned code_of(unsigned row, unsigned column) {
  using part = part_of<PART>;
  const unsigned block = row / part::BLOCK_N * part::BLOCKS_K + column / part::BLOCK_K;
  const float multiplier = bits_float(shared_load<unsigned>(MULTIPLIERS + block * 4));
  return narrow_four(multiply(widen_element(row, column), multiplier * OUT_SHIFT), 0, 0, 0) &
         ((1u << OUT_BITS) - 1);
}

// Stores the codes that exist, a byte at a time; two codes of four bits are neighbours along the
// output's contiguous axis, whose length is even.
template <unsigned PART>
MXQ_FN void store_tile(const mxq_any_args &args, unsigned char *out, element_place at) {
  constexpr bool TURNED = part_of<PART>::TURNED;
  constexpr unsigned PACKED = 8 / OUT_BITS;
  for (unsigned i = thread_id() * PACKED; i < TILE_N * TILE_K; i += THREADS * PACKED) {
    const unsigned row = TURNED ? i % TILE_N : i / TILE_K;
    const unsigned column = TURNED ? i / TILE_N : i % TILE_K;
    const length n = at.n + row, k = at.k + column;
    if (n >= args.n || k >= args.k) continue;
    unsigned codes = code_of<PART>(row, column);
    if (PACKED == 2)
      codes |= (TURNED ? code_of<PART>(row + 1, column) : code_of<PART>(row, column + 1)) << 4;
    const length code = TURNED ? (at.e * args.k + k) * args.n + n : (at.e * args.n + n) * args.k + k;
    global_store(out + code / PACKED, static_cast<unsigned char>(codes));
  }
}

template <unsigned PART>
MXQ_FN void quantize_tile(const mxq_any_args &args, unsigned char *out,
                          const mxq_scale_args &scales, element_place at) {
  scale_blocks<PART>(args, scales, at);
  block_sync();  // orders the multipliers' stores before their loads
  store_tile<PART>(args, out, at);
  block_sync();  // orders the reads of this tile before the stores of what comes next
}

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_any_args) args) {
  for (length tile = block_id(); tile < args.tiles; tile += grid_size()) {
    const length strip = tile / args.tiles_n;
    const element_place at = {tile % args.tiles_n * TILE_N, strip % args.tiles_k * TILE_K,
                              strip / args.tiles_k};
    load_tile(args, at);
    block_sync();  // orders the elements' stores before the reads of other threads
    quantize_tile<MAIN>(args, args.out, args.scale, at);
    if constexpr (ALSO != 0) quantize_tile<ALSO>(args, args.also, args.also_scale, at);
  }
}
