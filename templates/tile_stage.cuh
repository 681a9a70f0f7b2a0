// Puts four codes into a row-major tile, `below` rows below `row`: those of two columns in two rows,
// or of one in four.
MXQ_FN void stage_four(unsigned tile, unsigned row, unsigned below, unsigned word, unsigned four) {
  const unsigned to = tile + row * OUT_ROW_BYTES, apart = below * OUT_ROW_BYTES;
  if constexpr (COLUMNS == 2 && OUT_BITS == 8) {
    shared_store(to + word * 2, static_cast<unsigned short>(four), apart);
    shared_store(to + word * 2, static_cast<unsigned short>(four >> 16), apart + OUT_ROW_BYTES);
  } else if constexpr (COLUMNS == 2) {
    shared_store(to + word, static_cast<unsigned char>(four), apart);
    shared_store(to + word, static_cast<unsigned char>(four >> 8), apart + OUT_ROW_BYTES);
  } else {
    for (unsigned r = 0; r < 4; r++)
      shared_store(to + word, static_cast<unsigned char>(four >> 8 * r), apart + r * OUT_ROW_BYTES);
  }
}

// Puts the codes of eight rows into a packed row-major tile. Two neighbouring threads hold the two codes
// of a byte: each finishes four of the rows.
MXQ_FN void stage_eight(unsigned tile, unsigned row, unsigned below, unsigned word, unsigned eight) {
  const unsigned odd = word % 2, theirs = shuffle_xor(eight, 1);
  // The even column's four codes in the low half, the odd one's in the high half.
  const unsigned both_columns = permute_bytes(eight, theirs, odd ? 0x3276 : 0x5410);
  const unsigned even_rows = both_columns & 0x0F0F0F0F, odd_rows = both_columns >> 4 & 0x0F0F0F0F;
  const unsigned to = tile + (row + odd * 4) * OUT_ROW_BYTES + word / 2;
  const unsigned apart = below * OUT_ROW_BYTES;
  const unsigned zero_two = even_rows | even_rows >> 12, one_three = odd_rows | odd_rows >> 12;
  shared_store(to, static_cast<unsigned char>(zero_two), apart);
  shared_store(to, static_cast<unsigned char>(one_three), apart + OUT_ROW_BYTES);
  shared_store(to, static_cast<unsigned char>(zero_two >> 8), apart + 2 * OUT_ROW_BYTES);
  shared_store(to, static_cast<unsigned char>(one_three >> 8), apart + 3 * OUT_ROW_BYTES);
}

// Quantizes four rows of a word's columns into the row-major tile of the main part, or of the first
// part where both have the same squares.
MXQ_FN void stage_quad(unsigned row, unsigned quad, unsigned word, const unsigned *four_rows,
                       const block_scale (&of)[COLUMNS]) {
  constexpr unsigned TILE = COLUMN_MAJOR ? ALSO_TILE : OUT_TILE;
  if constexpr (COLUMNS == 2 || OUT_BITS == 8) {
    for (unsigned r = 0; r < 4; r += 4 / COLUMNS)
      stage_four(TILE, row, quad * 4 + r, word, narrow_across(four_rows + r, of));
  } else if (quad % 2) {
    const unsigned before = narrow_across(four_rows - 4, of), here = narrow_across(four_rows, of);
    stage_eight(TILE, row, quad * 4 - 4, word, permute_bytes(before, here, 0x5410));
  }
}
