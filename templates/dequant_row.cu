//$ paste("args.h", {launch = "dequant_row"})
//$ paste "device.cuh"
//$ paste "dequant_variant.cuh"
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
constexpr bool TILES_BY_K = true;
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};
// A thread holds HELD neighbouring elements, 16 bytes of the output, of each of ROWS rows. K is a
// multiple of them: they are inside or outside as a whole.
constexpr unsigned HELD = ${kernel.held}, ROWS = ${kernel.rows_per_thread};

//$ paste "place.cuh"
//$ paste "decode.cuh"
//$ paste "scale_read.cuh"
constexpr unsigned ROW_THREADS = TILE_K / HELD;
constexpr unsigned HELD_BYTES = HELD * IN_BITS / 8;
// Scales of a thread's elements: one for each row unless blocks lie along N, for each column unless
// along K.
constexpr unsigned SCALES_K = ALONG_K ? 1 : HELD;
static_assert(HELD == CHUNK, "16 bytes of the output");
static_assert(THREADS * ROWS == TILE_N * ROW_THREADS, "a thread for each piece of its rows");
static_assert(BLOCK % ROWS == 0 && BLOCK % HELD == 0, "a thread's elements in one block");
static_assert(!COLUMN_MAJOR && ALONG_N + ALONG_K > 0, "rows");

template <unsigned COUNT>
struct row_scales {
  float value[ALONG_N ? 1 : COUNT][SCALES_K];
};

// Those of COUNT rows from n on, all of them inside: one row, or ROWS.
template <unsigned COUNT>
MXQ_FN row_scales<COUNT> scales_of(const mxq_dequant_row_args &args, unsigned e, unsigned n,
                                   unsigned k) {
  row_scales<COUNT> scales;
  const unsigned char *const from = scale_place(args, e, n, k);
  if constexpr (ALONG_N && !ALONG_K) {
    load_scales<HELD>(args, from, scales.value[0]);
  } else if constexpr (ALONG_N || COUNT == 1) {
    scales.value[0][0] = load_scale(from);
  } else {
    float of_row[COUNT];
    load_scales<COUNT>(args, from, of_row);
    for (unsigned r = 0; r < COUNT; r++) scales.value[r][0] = of_row[r];
  }
  return scales;
}

// Codes of one row, in one access.
struct held_codes {
  unsigned word[HELD_BYTES < 4 ? 1 : HELD_BYTES / 4];
};

MXQ_FN held_codes load_codes(const unsigned char *from) {
  held_codes codes;
  if constexpr (HELD_BYTES == 8) {
    const words2 two = global_load(reinterpret_cast<const words2 *>(from));
    for (unsigned w = 0; w < 2; w++) codes.word[w] = two.word[w];
  } else if constexpr (HELD_BYTES == 4) {
    codes.word[0] = global_load(reinterpret_cast<const unsigned *>(from));
  } else {
    static_assert(HELD_BYTES == 8 || HELD_BYTES == 4 || HELD_BYTES == 2, "one access");
    codes.word[0] = global_load(reinterpret_cast<const unsigned short *>(from));
  }
  return codes;
}

// Decodes HELD elements of each of COUNT rows, from row n and column k of matrix e on.
template <unsigned COUNT>
MXQ_FN void decode_rows(const mxq_dequant_row_args &args, unsigned e, unsigned n, unsigned k) {
  const unsigned long long row_bytes = static_cast<unsigned long long>(args.k) * IN_BITS / 8;
  const unsigned char *const from =
      args.in + (static_cast<unsigned long long>(e) * args.n + n) * row_bytes + k / (8 / IN_BITS);
  unsigned char *const to = args.out + e * args.stride_e_bytes + n * args.stride_n_bytes +
                            k * (OUT_BITS / 8ull);
  held_codes codes[COUNT];
  for (unsigned r = 0; r < COUNT; r++) codes[r] = load_codes(from + r * row_bytes);
  const row_scales<COUNT> scales = scales_of<COUNT>(args, e, n, k);
  for (unsigned r = 0; r < COUNT; r++) {
    float x[HELD];
    decode<HELD>(codes[r].word, x);
    for (unsigned i = 0; i < HELD; i++)
      x[i] = multiply(x[i], scales.value[ALONG_N ? 0 : r][ALONG_K ? 0 : i]);
    global_store(reinterpret_cast<words4 *>(to + r * args.stride_n_bytes), round_chunk(x));
  }
}

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_dequant_row_args) args) {
  const tile_place at = place_of<TILES_BY_K>(args, block_id());
  const unsigned n = at.n + thread_id() / ROW_THREADS * ROWS;
  const unsigned k = at.k + thread_id() % ROW_THREADS * HELD;
  if (n >= args.n || k >= args.k) return;
  if (args.n - n >= ROWS)
    decode_rows<ROWS>(args, at.e, n, k);
  else
#pragma unroll 1
    for (unsigned row = n; row < args.n; row++) decode_rows<1>(args, at.e, row, k);
}
