//$ paste "args.h"
//$ paste "device.cuh"
//$ paste "variant.cuh"
constexpr unsigned TILE_N = ${kernel.tile_n}, TILE_K = ${kernel.tile_k};
constexpr unsigned THREADS = ${kernel.threads}, BLOCKS_PER_SM = ${kernel.blocks_per_sm};

//$ paste "scale.cuh"
//$ paste "convert.cuh"
//$ paste "four.cuh"
//$ paste "tile.cuh"
// A thread holds HELD neighbouring elements, all of them inside: K is a multiple of them. PIECES blocks lie in one thread, or one block in LANES neighbouring threads.
constexpr unsigned HELD = ${kernel.held};
constexpr unsigned HELD_WORDS = HELD / COLUMNS;
constexpr unsigned PIECES = BLOCK < HELD ? HELD / BLOCK : 1;
constexpr unsigned PIECE_WORDS = HELD_WORDS / PIECES;
constexpr unsigned LANES = BLOCK < HELD ? 1 : BLOCK / HELD;
constexpr unsigned ROW_THREADS = TILE_K / HELD;
static_assert(THREADS == TILE_N * ROW_THREADS, "a thread for each piece of a row");
static_assert(TILE_K % (BLOCK > HELD ? BLOCK : HELD) == 0, "whole blocks");

MXQ_KERNEL(${kernel.symbol}, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_vector_args) args) {
  const tile_place at = place_of(args, block_id());
  const unsigned n = at.n + thread_id() / ROW_THREADS;
  const unsigned k = at.k + thread_id() % ROW_THREADS * HELD;
  const bool inside = n < args.n && k < args.k;

  unsigned words[HELD_WORDS] = {};
  if (inside) {
    const unsigned char *const from =
        args.in + at.e * args.stride_e_bytes + n * args.stride_n_bytes + k * (IN_BITS / 8ull);
    for (unsigned w = 0; w < HELD_WORDS; w += 4) {
      const words4 four = global_load(reinterpret_cast<const words4 *>(from + w * 4));
      for (unsigned i = 0; i < 4; i++) words[w + i] = four.word[i];
    }
  }

  block_scale scale[PIECES][COLUMNS];
  for (unsigned piece = 0; piece < PIECES; piece++) {
    unsigned largest = words[piece * PIECE_WORDS];
    for (unsigned w = 1; w < PIECE_WORDS; w++)
      largest = word_max(largest, words[piece * PIECE_WORDS + w]);
    for (unsigned mask = 1; mask < LANES; mask *= 2)
      largest = word_max(largest, shuffle_xor(largest, mask));
    largest = across_columns(largest);
    for (unsigned c = 0; c < COLUMNS; c++) scale[piece][c] = scale_of(column_magnitude(largest, 0));
    if (inside && k % BLOCK == 0)
      store_scales(args, at.e, n, k + piece * BLOCK, scale[piece]);
  }
  if (!inside) return;

  codes16 codes[HELD / 16];
  for (unsigned quad = 0; quad < HELD / 4; quad++) {
    const unsigned word = quad * 4 / COLUMNS;
    place_four(codes[quad / 4], quad % 4, narrow_across(words + word, scale[word / PIECE_WORDS]));
  }
  const unsigned long long code =
      (static_cast<unsigned long long>(at.e) * args.n + n) * args.k + k;
  unsigned char *const to = args.out + code / (8 / OUT_BITS);
  if constexpr (HELD * OUT_BITS == 128) {
    words4 stored;
    for (unsigned w = 0; w < 4; w++)
      stored.word[w] = codes[w / (OUT_BITS / 2)].word[w % (OUT_BITS / 2)];
    global_store(reinterpret_cast<words4 *>(to), stored);
  } else {
    global_store(reinterpret_cast<codes16 *>(to), codes[0]);
  }
}
