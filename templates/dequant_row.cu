//$ paste "args.h"
//$ paste "device.cuh"
//$ paste "dequant_variant.cuh"
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};
// A thread holds HELD neighbouring elements, 16 bytes of the output, of each of ROWS rows. K is a
// multiple of them: they are inside or outside as a whole.
constexpr unsigned HELD = ${kernel.held}, ROWS = ${kernel.rows_per_thread};

//$ paste "place.cuh"
//$ paste "decode.cuh"
//$ paste "scale_read.cuh"
constexpr unsigned ROW_THREADS = TILE_K / HELD;
constexpr unsigned HELD_BYTES = HELD * IN_BITS / 8;
// Scales of one thread: one for each row unless blocks lie along N, for each column unless along K.
constexpr unsigned SCALES_N = ALONG_N ? 1 : ROWS, SCALES_K = ALONG_K ? 1 : HELD;
static_assert(HELD == CHUNK, "16 bytes of the output");
static_assert(THREADS * ROWS == TILE_N * ROW_THREADS, "a thread for each piece of its rows");
static_assert(BLOCK % ROWS == 0 && BLOCK % HELD == 0, "a thread's elements in one block");
static_assert(!COLUMN_MAJOR && ALONG_N + ALONG_K > 0, "rows");

struct thread_scales {
  float value[SCALES_N][SCALES_K];
};

// Those of the thread whose elements begin at row n and column k.
MXQ_FN thread_scales scales_of(const mxq_dequant_row_args &args, unsigned e, unsigned n,
                               unsigned k) {
  thread_scales scales;
  const unsigned char *const from = scale_place(args, e, n, k);
  if constexpr (ALONG_N && ALONG_K) {
    scales.value[0][0] = load_scale(from);
  } else if constexpr (ALONG_N) {
    load_scales<HELD>(args, from, HELD, scales.value[0]);
  } else {
    float rows[ROWS];
    load_scales<ROWS>(args, from, args.n - n, rows);
    for (unsigned r = 0; r < ROWS; r++) scales.value[r][0] = rows[r];
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

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_dequant_row_args) args) {
  const tile_place at = place_of(args, block_id());
  const unsigned n = at.n + thread_id() / ROW_THREADS * ROWS;
  const unsigned k = at.k + thread_id() % ROW_THREADS * HELD;
  if (n >= args.n || k >= args.k) return;
  const unsigned long long row_bytes = static_cast<unsigned long long>(args.k) * IN_BITS / 8;
  const unsigned char *const from =
      args.in + (static_cast<unsigned long long>(at.e) * args.n + n) * row_bytes + k * 1ull * IN_BITS / 8;
  unsigned char *const to = args.out + at.e * args.stride_e_bytes + n * args.stride_n_bytes +
                            k * (OUT_BITS / 8ull);

  held_codes codes[ROWS] = {};
  for (unsigned r = 0; r < ROWS; r++)
    if (r < args.n - n) codes[r] = load_codes(from + r * row_bytes);
  const thread_scales scales = scales_of(args, at.e, n, k);
  for (unsigned r = 0; r < ROWS; r++) {
    if (r >= args.n - n) return;
    float x[HELD];
    decode<HELD>(codes[r].word, x);
    for (unsigned i = 0; i < HELD; i++)
      x[i] = multiply(x[i], scales.value[ALONG_N ? 0 : r][ALONG_K ? 0 : i]);
    global_store(reinterpret_cast<words4 *>(to + r * args.stride_n_bytes), round_chunk(x));
  }
}
