//$ paste "place.cuh"

// Sixteen codes, as they are stored.
struct alignas(2 * OUT_BITS) codes16 {
  unsigned word[OUT_BITS / 2];
};

// Puts four codes of narrow_four into their place.
MXQ_FN void place_four(codes16 &codes, unsigned quad, unsigned four) {
  if constexpr (OUT_BITS == 8)
    codes.word[quad] = four;
  else if (quad % 2 == 0)
    codes.word[quad / 2] = four;
  else
    codes.word[quad / 2] = permute_bytes(codes.word[quad / 2], four, 0x5410);
}

// The larger of a word's columns, in both.
MXQ_FN unsigned across_columns(unsigned word) {
  if constexpr (COLUMNS == 2) return word_max(word, word >> 16 | word << 16);
  return word;
}
