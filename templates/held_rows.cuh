//$ need "device_async.cuh"
//$ if input.bits == 16 then need "device_pairs.cuh" end
// A thread holds a word, COLUMNS elements, of HELD_ROWS rows. Words are shared out along rows, so that the
// lanes of a warp have neighbours.

// Half of the threads hold the second sixteen rows first, so that the 16-byte stores of codes of eight
// neighbouring threads, which lie two columns apart, fall into different banks. Not where those threads
// share two blocks: each must find the same one first.
constexpr bool FLIPS = ((MAIN | ALSO) & 4) != 0 && OUT_BITS == 8 && COLUMNS == 2 &&
                       !((MAIN & 3) == 3 && BLOCK < HELD_ROWS);

MXQ_FN unsigned held_word() { return thread_id() % WORDS; }
MXQ_FN unsigned held_group() { return thread_id() / WORDS; }
// The row of the tile that held row `held` is.
MXQ_FN unsigned tile_row(unsigned held) {
  return held_group() * HELD_ROWS + (held ^ (FLIPS ? held_word() / 4 % 2 * 16 : 0));
}

MXQ_FN length least(length a, length b) { return a < b ? a : b; }

// What lies outside of the tensor becomes its last row, and its last piece or element: a block's maximum
// stays what it is.
MXQ_FN const unsigned char *row_at(const mxq_any_args &args, const tile_extent &at, unsigned row, length k) {
  return args.in + at.e * args.stride_e_bytes + least(at.n + row, args.n - 1) * args.stride_n_bytes +
         k * (IN_BITS / 8);
}

// Starts to load the input tile by pieces of 16 bytes, where all of them lie at multiples of 16.
MXQ_FN void load_pieces(const mxq_any_args &args, const tile_extent &at) {
  constexpr unsigned ELEMENTS = 128 / IN_BITS, PIECES = TILE_K / ELEMENTS, STEP = THREADS / PIECES;
  static_assert(THREADS % PIECES == 0 && TILE_N % STEP == 0, "whole steps");
  const unsigned first = thread_id() / PIECES, piece = thread_id() % PIECES;
  const length k = least(at.k + piece * ELEMENTS, args.k - ELEMENTS);
  const unsigned to = in_tile::place(first, piece * 16);
#pragma unroll 4
  for (unsigned row = 0; row < TILE_N; row += STEP)
    copy_async<16>(to + row * in_tile::PITCH, row_at(args, at, first + row, k));
}

// Loads the input tile at any address: a thread the words that it holds.
MXQ_FN void load_words(const mxq_any_args &args, const tile_extent &at) {
  const length k = least(at.k + held_word() * COLUMNS, args.k - 1);
#pragma unroll 1
  for (unsigned half = 0; half < HELD_ROWS; half += 16) {
    const unsigned row = tile_row(half), to = in_tile::place(row, held_word() * 4);
    const unsigned char *from = row_at(args, at, row, k);
    const unsigned behind = static_cast<unsigned>(least(args.n - 1 - least(at.n + row, args.n - 1), 15));
    unsigned words[16];
#pragma unroll
    for (unsigned r = 0; r < 16; r++) {
//$ if input.bits == 16 then
      words[r] = global_load_pair(reinterpret_cast<const unsigned short *>(from), k + 1 < args.k);
//$ else
      words[r] = global_load(reinterpret_cast<const unsigned *>(from));
//$ end
      if (r < behind) from += args.stride_n_bytes;
    }
#pragma unroll
    for (unsigned r = 0; r < 16; r++) shared_store(to, words[r], r * in_tile::PITCH);
  }
}

MXQ_FN void load_tile(const mxq_any_args &args, const tile_extent &at) {
  if ((reinterpret_cast<length>(args.in) | args.stride_e_bytes | args.stride_n_bytes |
       args.k * (IN_BITS / 8)) % 16 == 0) {
    load_pieces(args, at);
    copies_wait();  // orders this thread's copies before the barrier
  } else {
    load_words(args, at);
  }
}

MXQ_FN void held_rows(unsigned (&rows)[HELD_ROWS]) {
#pragma unroll
  for (unsigned half = 0; half < HELD_ROWS; half += 16) {
    const unsigned from = in_tile::place(tile_row(half), held_word() * 4);
#pragma unroll
    for (unsigned r = 0; r < 16; r++) rows[half + r] = shared_load<unsigned>(from, r * in_tile::PITCH);
  }
}
