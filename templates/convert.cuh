// Neighbouring columns of the input in one 32-bit word: one of float32, two of 16 bits.
constexpr unsigned COLUMNS = 32 / IN_BITS;

// The larger magnitude of each column; NaN if either is. The sign is whatever it is.
MXQ_FN unsigned word_max(unsigned a, unsigned b) {
  if constexpr (IN_BITS == 32)
    return float_bits(max_magnitude(bits_float(a), bits_float(b)));
  else if constexpr (IN_EXPONENT_BITS == 8)
    return max_magnitude_pair_bf16(a, b);
  else
    return max_magnitude_pair_f16(a, b);
}

// One column of a word as float32, exactly.
MXQ_FN float column_of(unsigned word, unsigned column) {
  if constexpr (IN_BITS == 32)
    return bits_float(word);
  else if constexpr (IN_EXPONENT_BITS == 8)
    return bits_float(column ? word & 0xFFFF0000 : word << 16);
  else
    return widen_f16(column ? word >> 16 : word & 0xFFFF);
}

// The bits of a column's magnitude as float32.
MXQ_FN unsigned column_magnitude(unsigned word, unsigned column) {
  return float_bits(column_of(word, column)) & 0x7FFFFFFF;
}

struct row_products {
  float column[COLUMNS];
};

// Every column of a word times its block's multiplier, as float32.
MXQ_FN row_products multiply_row(unsigned word, const block_scale (&scale)[COLUMNS]) {
  row_products product;
  if constexpr (IN_BITS == 16 && IN_EXPONENT_BITS == 8) {
    // A power of two times a bf16 is a bf16, exactly, unless it is subnormal, and that is far below
    // half of the smallest code of any output type: the codes are those of the float32 product.
    const unsigned multipliers = (float_bits(scale[1].multiplier) & 0xFFFF0000) |
                                 (float_bits(scale[0].multiplier) >> 16);
    const unsigned pair = multiply_pair_bf16(word, multipliers);
    for (unsigned c = 0; c < COLUMNS; c++) product.column[c] = column_of(pair, c);
  } else {
    for (unsigned c = 0; c < COLUMNS; c++)
      product.column[c] = column_of(word, c) * scale[c].multiplier;
  }
  return product;
}

// Four codes of one column in a word, the first in the low byte.
MXQ_FN unsigned narrow_four(float a, float b, float c, float d) {
  return narrow_pair<OUT_EXPONENT_BITS, OUT_MANTISSA_BITS>(a, b) |
         narrow_pair<OUT_EXPONENT_BITS, OUT_MANTISSA_BITS>(c, d) << 16;
}
