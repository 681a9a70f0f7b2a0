// Words of two bf16, whose columns become codes of eight bits by sixteen rows at a time: little code for the
// optimizer to go through.
static_assert(HELD_ROWS == 32 && COLUMNS == 2 && COLUMN_MAJOR && !ALONG_K, "two halves of a column");

// Quantizes 32 rows of the columns in word `word` of the input tile.
MXQ_FN void quantize_rows(const mxq_tma_args &args, tile_place at, unsigned word, unsigned group) {
  // Half of the threads read the second sixteen rows first, so that the 16-byte stores of eight
  // neighbouring threads below, which lie two columns apart, fall into different banks.
  const unsigned row = group * HELD_ROWS + word / 4 % 2 * 16;
  unsigned rows[16], beside[16], largest, others;
  MXQ_LOAD_SIXTEEN(rows, word_place(row, word), ROW_BYTES);
  MXQ_LOAD_SIXTEEN(beside, word_place(row ^ 16, word), ROW_BYTES);
  MXQ_MAX_SIXTEEN(largest, rows);
  MXQ_MAX_SIXTEEN(others, beside);
//$ if block == 16 then
  const pair_scale scale = scales_of_pair(largest), scale_beside = scales_of_pair(others);
  put_scales(args, at, row, word, scale.codes & 0xFF, scale.codes >> 8);
  put_scales(args, at, row ^ 16, word, scale_beside.codes & 0xFF, scale_beside.codes >> 8);
//$ else
  const pair_scale scale = scales_of_pair(block_max(word_max(largest, others), word, group));
  if (group % GROUPS_N == 0)
    put_scales(args, at, group * HELD_ROWS, word, scale.codes & 0xFF, scale.codes >> 8);
//$ end

  codes16 codes[COLUMNS], codes_beside[COLUMNS];
  MXQ_NARROW_SIXTEEN(codes[0].word, codes[1].word, rows, scale.multipliers);
  MXQ_NARROW_SIXTEEN(codes_beside[0].word, codes_beside[1].word, beside,
                     ${block == 16 and "scale_beside" or "scale"}.multipliers);
  const unsigned to = codes_place(row, word);
  constexpr unsigned NEXT = SLAB_ROW_BYTES >> 3 & (SLAB_ROW_BYTES - 16);  // swizzled, from column to column
  shared_store(to, codes[0]);
  shared_store(to ^ NEXT, codes[1], SLAB_ROW_BYTES);
  shared_store(to ^ 16, codes_beside[0]);
  shared_store(to ^ 16 ^ NEXT, codes_beside[1], SLAB_ROW_BYTES);
}
