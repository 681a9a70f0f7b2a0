// Four codes at a time, of products of whole words with their blocks' multipliers.
//$ if variant.output == "e2m1" and arch.use_narrow == 0 then
//$   if input.bits == 16 then need "device_steps.cuh" end

// e2m1 without a conversion, two elements at a time where the input has 16 bits: adding an anchor,
// 2^(e + mantissa bits - 1) with e the exponent of the product, at least that of the smallest normal
// code, rounds the product to nearest even at the code's last place. The low bits of the sum count
// steps from the exponent's first code, which is twice its distance from the smallest exponent: a
// SHIFT of the products makes that a multiple of 8 away from twice the anchor's exponent field.
constexpr unsigned IN_MANTISSA_BITS = IN_BITS == 32 ? 23 : IN_BF16 ? 7 : 10;
constexpr unsigned SHIFT_BITS = IN_EXPONENT_BITS == 8 ? 1 : 0;  // products are halved
constexpr unsigned SMALLEST = (1u << (IN_EXPONENT_BITS - 1)) - 1 - SHIFT_BITS;  // field of code 2
constexpr unsigned ANCHOR_BITS = (IN_MANTISSA_BITS - 1) << IN_MANTISSA_BITS;
constexpr unsigned LARGEST_BITS = ((SMALLEST + 2) << IN_MANTISSA_BITS) | (1u << (IN_MANTISSA_BITS - 1));
static_assert((SMALLEST + IN_MANTISSA_BITS - 1) % 4 == 0, "the smallest anchor counts from 0");

MXQ_FN constexpr unsigned both(unsigned half) { return half << 16 | half; }

//$   if input.bits == 32 then
// The code of a word: in the low three bits of `code`, below others; the top bit of `sign`.
struct word_code {
  unsigned code, sign;
};

MXQ_FN word_code code_of(unsigned word, const block_scale (&scale)[COLUMNS]) {
  const float x = multiply(bits_float(word), scale[0].multiplier * 0.5f);
  const float y = min_number(magnitude(x), bits_float(LARGEST_BITS));
  const unsigned field = float_bits(y) & 0x7F800000;
  constexpr unsigned LOWEST = SMALLEST << IN_MANTISSA_BITS;
  const unsigned anchor = (field < LOWEST ? LOWEST : field) + ANCHOR_BITS;
  const unsigned sum = float_bits(y + bits_float(anchor));
  const unsigned code = sum + (anchor >> (IN_MANTISSA_BITS - 1));
  return {code, float_bits(x)};
}

// Of four words: neighbours in a row, or in a column.
MXQ_FN unsigned narrow_across(const unsigned *words, const block_scale (&scale)[COLUMNS]) {
  unsigned four = 0;
  for (unsigned i = 0; i < 4; i++) {
    const word_code of = code_of(words[i], scale);
    four |= (of.code << 4 * i & 7u << 4 * i) | (of.sign >> (28 - 4 * i) & 8u << 4 * i);
  }
  return four;
}
MXQ_FN void narrow_down(const unsigned *words, const block_scale (&scale)[COLUMNS],
                        unsigned (&four)[COLUMNS]) {
  four[0] = narrow_across(words, scale);
}
//$   else
//$     if input.token == "bf16" then
MXQ_FN unsigned product_of(unsigned word, const block_scale (&scale)[COLUMNS]) {
  return multiply_pair_bf16(word, (float_bits(scale[1].multiplier * 0.5f) & 0xFFFF0000) |
                                      float_bits(scale[0].multiplier * 0.5f) >> 16);
}
//$     else
// The halves of a multiplier 2^k, k at most 26 unless all elements are zeros, are both f16: their
// products with an element are exact, or far below half of the smallest code.
MXQ_FN unsigned half_multiplier(float multiplier, unsigned second) {
  const unsigned field = float_bits(multiplier) >> 23;
  if (field == 255) return 0x7E00;
  const int k = static_cast<int>(field < 153 ? field : 153) - 127;
  return static_cast<unsigned>(15 + (second ? k - (k >> 1) : k >> 1)) << 10;
}
MXQ_FN unsigned product_of(unsigned word, const block_scale (&scale)[COLUMNS]) {
  unsigned product = word;
  for (unsigned second = 0; second < 2; second++)
    product = multiply_pair_f16(product, half_multiplier(scale[1].multiplier, second) << 16 |
                                             half_multiplier(scale[0].multiplier, second));
  return product;
}
//$     end
// A word's codes in its halves: in the low three bits of `code`, below others; the top bit of `sign`.
struct pair_codes {
  unsigned code, sign;
};

MXQ_FN pair_codes codes_of(unsigned word, const block_scale (&scale)[COLUMNS]) {
  constexpr unsigned FIELD = both(((1u << IN_EXPONENT_BITS) - 1) << IN_MANTISSA_BITS);
  const unsigned x = product_of(word, scale);
  const unsigned y = IN_BF16 ? limit_pair_bf16(x, both(LARGEST_BITS))
                             : limit_pair_f16(x, both(LARGEST_BITS));
  const unsigned field = max_pair_u16(y & FIELD, both(SMALLEST << IN_MANTISSA_BITS));
  const unsigned anchor = field + both(ANCHOR_BITS);
  const unsigned sum = IN_BF16 ? add_pair_bf16(y, anchor) : add_pair_f16(y, anchor);
  return {sum + (anchor >> (IN_MANTISSA_BITS - 1)), x};
}

// Adds them to others, `at` bits above the low ends of the halves.
MXQ_FN void place_codes(unsigned &codes, pair_codes pair, unsigned at) {
  codes |= (pair.code << at & both(7u << at)) | (pair.sign >> (12 - at) & both(8u << at));
}

// Of two words: neighbours in a row, or in a column, whose codes then fill a byte each.
MXQ_FN unsigned narrow_across(const unsigned *words, const block_scale (&scale)[COLUMNS]) {
  unsigned codes = 0;
  for (unsigned i = 0; i < 2; i++) place_codes(codes, codes_of(words[i], scale), 8 * i);
  return (codes | codes >> 12) & 0xFFFF;
}
// Of four words in a column: four codes for each of its two columns.
MXQ_FN void narrow_down(const unsigned *words, const block_scale (&scale)[COLUMNS],
                        unsigned (&four)[COLUMNS]) {
  unsigned codes = 0;
  for (unsigned i = 0; i < 4; i++) place_codes(codes, codes_of(words[i], scale), 4 * i);
  four[0] = codes & 0xFFFF;
  four[1] = codes >> 16;
}
//$   end
//$ else

struct row_products {
  float column[COLUMNS];
};

// Every column of a word times its block's multiplier (times OUT_SHIFT), as float32.
MXQ_FN row_products multiply_row(unsigned word, const block_scale (&scale)[COLUMNS]) {
  row_products product;
//$   if input.token == "bf16" then
  if constexpr (POWER_OF_TWO && OUT_SHIFT >= 1.0f / 64) {
    // A power of two times a bf16 is a bf16, exactly, unless it is subnormal, and that is far below
    // half of the smallest code of any output type: the codes are those of the float32 product.
    // With a shift of at most 6, the multiplier stays a bf16: at least 2^-132.
    const unsigned multipliers =
        (float_bits(scale[1].multiplier * OUT_SHIFT) & 0xFFFF0000) |
        (float_bits(scale[0].multiplier * OUT_SHIFT) >> 16);
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
