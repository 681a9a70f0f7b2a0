//$ -- The names of other types' primitives are in no expansion, so `if constexpr` will not do.
//$ if input.bits == 16 then need("device_" .. input.token .. ".cuh") end
// Neighbouring columns of the input in one 32-bit word: one of float32, two of 16 bits.
constexpr unsigned COLUMNS = 32 / IN_BITS;
constexpr bool IN_BF16 = IN_BITS == 16 && IN_EXPONENT_BITS == 8;

// The larger magnitude of each column; NaN if either is. The sign is whatever it is.
MXQ_FN unsigned word_max(unsigned a, unsigned b) {
//$ if input.bits == 32 then
  return float_bits(max_magnitude(bits_float(a), bits_float(b)));
//$ elseif input.token == "bf16" then
  return max_magnitude_pair_bf16(a, b);
//$ else
  return max_magnitude_pair_f16(a, b);
//$ end
}

// One column of a word as float32, exactly.
MXQ_FN float column_of(unsigned word, unsigned column) {
//$ if input.bits == 32 then
  return bits_float(word);
//$ elseif input.token == "bf16" then
  return bits_float(column ? word & 0xFFFF0000 : word << 16);
//$ else
  return widen_f16(column ? word >> 16 : word & 0xFFFF);
//$ end
}

//$ if input.token == "bf16" then
// Two multipliers that are bf16 too, as a word: their low halves are zero, or they are NaN.
MXQ_FN unsigned bf16_pair(float first, float second) {
  return permute_bytes(float_bits(first), float_bits(second), 0x7632);
}
//$ end

// The bits of a column's magnitude as float32.
MXQ_FN unsigned column_magnitude(unsigned word, unsigned column) {
  return float_bits(column_of(word, column)) & 0x7FFFFFFF;
}
