// Four codes at a time, of products of whole words with their blocks' multipliers: a byte each, or four
// bits each in the low half of a word.
//$ if variant.output == "e2m1" and arch.use_narrow == 0 and (arch.number >= 90 or input.bits == 32) then
//$   need "device_steps.cuh"

// e2m1 without a conversion. Codes count steps of 1/2 up to the value 2, of 1 up to 4, of 2 up to 6:
// the code of a magnitude y is min(2 y, y + 2, y / 2 + 4), three lines that cross at 2 and 4, rounded
// to nearest even; that the lines are moved by even numbers leaves ties alone. So with an anchor whose
// last place is worth 1/2, fused multiply-adds of y, 1/2 and 1/4 of it to the anchor and 1 and 2 more
// round once each, and the smallest sum has the code in its low three bits. A NaN's bits are all ones.
constexpr unsigned IN_MANTISSA_BITS = IN_BITS == 32 ? 23 : IN_BF16 ? 7 : 10;
constexpr unsigned IN_BIAS = (1u << (IN_EXPONENT_BITS - 1)) - 1;
constexpr unsigned ONE = IN_BIAS << IN_MANTISSA_BITS;
constexpr unsigned HALF = ONE - (1u << IN_MANTISSA_BITS), QUARTER = HALF - (1u << IN_MANTISSA_BITS);
constexpr unsigned ANCHOR = ONE + ((IN_MANTISSA_BITS - 1) << IN_MANTISSA_BITS);

//$   if input.bits == 32 then
// The code of a word's magnitude, in the low three bits.
MXQ_FN unsigned code_of(unsigned word, const block_scale (&scale)[COLUMNS]) {
  const float y = multiply(magnitude(bits_float(word)), scale[0].multiplier);
  const unsigned steps = float_bits(multiply_add(y, bits_float(ONE), bits_float(ANCHOR)));
  const unsigned twos = float_bits(multiply_add(y, bits_float(HALF), bits_float(ANCHOR + 2)));
  const unsigned fours = float_bits(multiply_add(y, bits_float(QUARTER), bits_float(ANCHOR + 4)));
  // As unsigned numbers: no sum is negative.
  const unsigned larger = SATURATES && fours > ANCHOR + 7 ? ANCHOR + 7 : fours;
  const unsigned smaller = steps < twos ? steps : twos;
  return smaller < larger ? smaller : larger;
}

// Of four words: neighbours in a row, or in a column.
MXQ_FN unsigned narrow_across(const unsigned *words, const block_scale (&scale)[COLUMNS]) {
  unsigned codes = 0, signs = 0;
  for (unsigned i = 4; i-- > 0;) {
    codes = codes * 16 + code_of(words[i], scale);  // what stands above a code leaves or is cut off
    signs = funnel_right(words[i], signs, 28);
  }
  // Sums of NaN carry into each other. All codes of such a block are positive.
  const bool nan = scale[0].code == 255;
  return (codes & 0x7777) | ((signs & (nan ? 0 : 0x8888)) | (nan ? 0x7777 : 0));
}
MXQ_FN void narrow_down(const unsigned *words, const block_scale (&scale)[COLUMNS],
                        unsigned (&four)[COLUMNS]) {
  four[0] = narrow_across(words, scale);
}
//$   else
MXQ_FN constexpr unsigned both(unsigned half) { return half << 16 | half; }

//$     if input.token == "bf16" then
MXQ_FN unsigned product_of(unsigned word, const block_scale (&scale)[COLUMNS]) {
  return multiply_pair_bf16(word, bf16_pair(scale[0].multiplier, scale[1].multiplier));
}
MXQ_FN unsigned sum_of(unsigned y, unsigned by, unsigned anchor) {
  return multiply_add_pair_bf16(y, both(by), both(anchor));
}
MXQ_FN unsigned smaller_of(unsigned a, unsigned b) { return min_pair_bf16(a, b); }
//$     else
// A multiplier 2^k, k from -14 to 26 unless all elements are zeros, as two f16 in a word: 2^k up to 2^15
// in the low half, and what is left in the high one. Products with both are exact, or far below half of
// the smallest code. A NaN stays one.
MXQ_FN unsigned half_multipliers(float multiplier) {
  const unsigned field = float_bits(multiplier) >> 23;  // 127 + k
  const unsigned whole = (field < 157 ? field : 157) - 112, low = whole < 30 ? whole : 30;
  return (whole - low + 15) << 26 | (field == 255 ? 0x7E00 : low << 10);
}
MXQ_FN unsigned product_of(unsigned word, const block_scale (&scale)[COLUMNS]) {
  const unsigned first = half_multipliers(scale[0].multiplier);
  const unsigned second = half_multipliers(scale[1].multiplier);
  return multiply_pair_f16(multiply_pair_f16(word, permute_bytes(first, second, 0x5410)),
                           permute_bytes(first, second, 0x7632));
}
MXQ_FN unsigned sum_of(unsigned y, unsigned by, unsigned anchor) {
  return multiply_add_pair_f16(y, both(by), both(anchor));
}
MXQ_FN unsigned smaller_of(unsigned a, unsigned b) { return min_pair_f16(a, b); }
//$     end
// A word's codes in its halves: in the low three bits of `code`; the top bit of `sign`.
struct pair_codes {
  unsigned code, sign;
};

MXQ_FN pair_codes codes_of(unsigned word, const block_scale (&scale)[COLUMNS]) {
  const unsigned x = product_of(word, scale), y = x & 0x7FFF7FFF;
  const unsigned steps = sum_of(y, ONE, ANCHOR), twos = sum_of(y, HALF, ANCHOR + 2);
  unsigned fours = sum_of(y, QUARTER, ANCHOR + 4);
  if (SATURATES) fours = smaller_of(fours, both(ANCHOR + 7));
  return {smaller_of(smaller_of(steps, twos), fours), x};
}

// Of two words: neighbours in a row, or in a column, whose codes then fill a byte each.
MXQ_FN unsigned narrow_across(const unsigned *words, const block_scale (&scale)[COLUMNS]) {
  const pair_codes first = codes_of(words[0], scale), second = codes_of(words[1], scale);
  // Bytes: the low halves' codes, the high halves'.
  const unsigned signs = permute_signs(first.sign, second.sign, 0x7351);
  const unsigned codes =
      (permute_bytes(first.code, second.code, 0x6240) & 0xF7F7F7F7) | (signs & 0x08080808);
  return (codes & 0x0F0F) | (codes >> 12 & ~0x0F0F);
}
// Of four words in a column: four codes for each of its two columns.
MXQ_FN void narrow_down(const unsigned *words, const block_scale (&scale)[COLUMNS],
                        unsigned (&four)[COLUMNS]) {
  pair_codes of[4];
  for (unsigned i = 0; i < 4; i++) of[i] = codes_of(words[i], scale);
  // Bytes: the first and third row, or second and fourth, of the low halves, then of the high ones.
  const unsigned low = permute_bytes(of[0].code, of[2].code, 0x6240);
  const unsigned high = permute_bytes(of[1].code, of[3].code, 0x6240);
  const unsigned low_signs = permute_signs(of[0].sign, of[2].sign, 0x7351);
  const unsigned high_signs = permute_signs(of[1].sign, of[3].sign, 0x7351);
  const unsigned codes = (low & 0x0F0F0F0F) | (high << 4 & 0xF0F0F0F0);
  const unsigned signs = (low_signs & 0x0F0F0F0F) | (high_signs & 0xF0F0F0F0);
  const unsigned eight = (codes & 0x77777777) | (signs & 0x88888888);
  four[0] = eight;
  four[1] = eight >> 16;
}
//$   end
//$ -- Rows of two columns' codes cost a packing here that strips and generic kernels do not win back.
//$ elseif input.token == "bf16" and arch.number >= 90 and mode.power_of_two ~= 0 and output.bits == 8
//$   and output.exponent_bits + output.mantissa_bits == 7
//$   and (kernel.barrier_offset ~= 0 or layout.first == part.along_k or layout.first >= 4) then
//$   need "device_rows.cuh"

// A power of two times a bf16 is a bf16, exactly, unless it is subnormal, and that is far below half
// of the smallest code: the codes are those of the float32 product. The multiplier is a bf16 too.
MXQ_FN unsigned multiplier_pair(const block_scale (&scale)[COLUMNS]) {
  return bf16_pair(scale[0].multiplier, scale[1].multiplier);
}

// Of two words: neighbours in a row, or in a column.
MXQ_FN unsigned narrow_across(const unsigned *words, const block_scale (&scale)[COLUMNS]) {
  return narrow_two_bf16<OUT_EXPONENT_BITS>(words, multiplier_pair(scale));
}
// Of four words in a column: four codes for each of its two columns.
MXQ_FN void narrow_down(const unsigned *words, const block_scale (&scale)[COLUMNS],
                        unsigned (&four)[COLUMNS]) {
  narrow_four_bf16<OUT_EXPONENT_BITS>(words, multiplier_pair(scale), four);
}
//$ else
//$   need "narrow.cuh"

struct row_products {
  float column[COLUMNS];
};

// Every column of a word times its block's multiplier (times OUT_SHIFT), as float32.
MXQ_FN row_products multiply_row(unsigned word, const block_scale (&scale)[COLUMNS]) {
  row_products product;
//$   if input.token == "bf16" then
  if constexpr (HAS_PAIRS && POWER_OF_TWO && OUT_SHIFT >= 1.0f / 64) {
    // A power of two times a bf16 is a bf16, exactly, unless it is subnormal, and that is far below
    // half of the smallest code of any output type: the codes are those of the float32 product.
    // With a shift of at most 6, the multiplier stays a bf16: at least 2^-132.
    const unsigned multipliers =
        bf16_pair(scale[0].multiplier * OUT_SHIFT, scale[1].multiplier * OUT_SHIFT);
    const unsigned pair = multiply_pair_bf16(word, multipliers);
    for (unsigned c = 0; c < COLUMNS; c++) product.column[c] = column_of(pair, c);
    return product;
  }
//$   end
  for (unsigned c = 0; c < COLUMNS; c++)
    product.column[c] = multiply(column_of(word, c), scale[c].multiplier * OUT_SHIFT);
  return product;
}

// Of as many words as hold four elements: neighbours in a row, or in a column.
MXQ_FN unsigned narrow_across(const unsigned *words, const block_scale (&scale)[COLUMNS]) {
  float x[4];
  for (unsigned w = 0; w < 4 / COLUMNS; w++) {
    const row_products product = multiply_row(words[w], scale);
    for (unsigned c = 0; c < COLUMNS; c++) x[w * COLUMNS + c] = product.column[c];
  }
  return narrow_four(x[0], x[1], x[2], x[3]);
}
// Of four words in a column: four codes for each of its columns.
MXQ_FN void narrow_down(const unsigned *words, const block_scale (&scale)[COLUMNS],
                        unsigned (&four)[COLUMNS]) {
  row_products p[4];
  for (unsigned i = 0; i < 4; i++) p[i] = multiply_row(words[i], scale);
  for (unsigned c = 0; c < COLUMNS; c++)
    four[c] = narrow_four(p[0].column[c], p[1].column[c], p[2].column[c], p[3].column[c]);
}
//$ end
