//$ need "device_odd.cuh"
// float32 as bf16 that are rounded to odd: truncated, with the last bit set if what is cut off is not zero.
// They lie on the same side of every tie between codes of e2m1 as the float32, and of every bound between
// scales but one (below), so one more rounding gives its code: Boldo and Melquiond, "Emulation of FMA and correctly rounded
// sums: proved algorithms using rounding to odd", 2008. An infinity or a NaN stays one.
static_assert(POWER_OF_TWO && OUT_MANTISSA_BITS == 1, "exact products, and two bits more than a code's");
static_assert(IN_BF16 && READS_ROWS, "packed words, kept for the runs of rows");
MXQ_FN unsigned odd_pair(unsigned low, unsigned high) {
  return permute_bytes(low, high, 0x7632) |
         min_pair_u16(permute_bytes(low, high, 0x5410), 0x00010001);
}

//$ if mode.token == "rceil" then
// 2^-125 * (1.5 + 2^-23): a sixth of it is subnormal and rounds to 2^-127, whose scale is that of 1.5 * 2^-125,
// which this maximum must come to. In every block both have the same code.
constexpr unsigned BETWEEN_SCALES = 0x01400001;
MXQ_FN bool is_between(unsigned word) {
  return magnitude(bits_float(word)) == bits_float(BETWEEN_SCALES);
}

//$ end
// Loads and packs 32 rows of two columns. Whether any element is BETWEEN_SCALES, where that matters.
MXQ_FN bool load_odd(unsigned from, unsigned (&rows)[HELD_ROWS]) {
  bool between = false;
#pragma unroll
  for (unsigned r = 0; r < HELD_ROWS; r++) {
    const words2 two = shared_load<words2>(from, r * ROW_BYTES);
    rows[r] = odd_pair(two.word[0], two.word[1]);
//$ if mode.token == "rceil" then
    between |= is_between(two.word[0]) | is_between(two.word[1]);
//$ end
  }
  return between;
}

//$ if mode.token == "rceil" then
// The same with 1.5 * 2^-125 for BETWEEN_SCALES, which few tiles ever have: by way of this thread's own part
// of the input tile, in less code than would convert it in registers.
MXQ_FN void pack_again(unsigned from, unsigned (&rows)[HELD_ROWS]) {
#pragma unroll 1
  for (unsigned r = 0; r < HELD_ROWS; r++) {
    const words2 two = shared_load<words2>(from + r * ROW_BYTES);
    shared_store(from + r * ROW_BYTES, odd_pair(two.word[0] - is_between(two.word[0]),
                                                two.word[1] - is_between(two.word[1])));
  }
#pragma unroll
  for (unsigned r = 0; r < HELD_ROWS; r++) rows[r] = shared_load<unsigned>(from, r * ROW_BYTES);
}

//$ end
// Packs 32 rows of the columns in packed word `word`, and puts the packed words over the input tile.
MXQ_FN void pack_rows(unsigned first_row, unsigned word, unsigned (&rows)[HELD_ROWS]) {
  const unsigned from = IN_TILE + first_row * ROW_BYTES + word * 8;
//$ if mode.token == "rceil" then
  if (load_odd(from, rows)) pack_again(from, rows);
//$ else
  load_odd(from, rows);
//$ end
  block_sync();  // orders the loads of all float32 before the first store over them
#pragma unroll
  for (unsigned r = 0; r < HELD_ROWS; r += 8)
#pragma unroll
    for (unsigned below = 0; below < 8; below++)
      shared_store(word_place(first_row + below, word), rows[r + below], r * 128);
}
