// A run: neighbouring elements of a row, RUN_WORDS words of them in a thread. RUN_PIECES blocks
// along K lie in one run, or a block in RUN_LANES runs.
constexpr unsigned RUN = RUN_WORDS * COLUMNS;
constexpr unsigned RUN_PIECES = BLOCK < RUN ? RUN / BLOCK : 1;
constexpr unsigned PIECE_WORDS = RUN_WORDS / RUN_PIECES;
constexpr unsigned RUN_LANES = BLOCK < RUN ? 1 : BLOCK / RUN;
static_assert(RUN_LANES <= 32, "a block in one warp");

struct run_scales {
  block_scale piece[RUN_PIECES][COLUMNS];  // the same for all columns
};
struct run_codes {
  codes16 part[RUN / 16];
};

// Runs of one block lie in lanes that are `lane_step` apart. The whole warp takes part; words of a run that
// does not exist have no part in a maximum.
MXQ_FN run_scales scales_of_run(const unsigned (&words)[RUN_WORDS], unsigned lane_step,
                                bool exists = true) {
  run_scales scale;
#pragma unroll
  for (unsigned piece = 0; piece < RUN_PIECES; piece++) {
    unsigned largest = words[piece * PIECE_WORDS];
    for (unsigned w = 1; w < PIECE_WORDS; w++)
      largest = word_max(largest, words[piece * PIECE_WORDS + w]);
    if (!exists) largest = 0;
    for (unsigned lanes = 1; lanes < RUN_LANES; lanes *= 2)
      largest = word_max(largest, shuffle_xor(largest, lanes * lane_step));
    scales_of_columns<true>(across_columns(largest), scale.piece[piece]);
  }
  return scale;
}

MXQ_FN run_codes codes_of_run(const unsigned (&words)[RUN_WORDS], const run_scales &scale) {
  run_codes codes;
#pragma unroll
  for (unsigned quad = 0; quad < RUN / 4; quad++) {
    const unsigned word = quad * 4 / COLUMNS;
    place_four(codes.part[quad / 4], quad % 4,
               narrow_across(words + word, scale.piece[word / PIECE_WORDS]));
  }
  return codes;
}

// Sixteen bytes of a run's codes.
MXQ_FN words4 codes_chunk(const run_codes &codes, unsigned chunk) {
  constexpr unsigned PART_WORDS = OUT_BITS / 2;
  words4 bytes;
  for (unsigned w = 0; w < 4; w++)
    bytes.word[w] = codes.part[(chunk * 4 + w) / PART_WORDS].word[(chunk * 4 + w) % PART_WORDS];
  return bytes;
}
