// The scale of a block from the bits of its maximum magnitude as float32 (NaN if any is NaN).
struct block_scale {
  unsigned code;     // e8m0: 2^(code-127), 255 is NaN
  float multiplier;  // 2^(127-code), exact; NaN for code 255, which makes every code of the block NaN
};

//$ if mode.token == "floor" then
// Contract, section 2, floor: E - emax.
MXQ_FN int scale_exponent(unsigned amax) { return static_cast<int>(amax >> 23) - OUT_EMAX; }
//$ elseif mode.token == "rceil" then
// Contract, section 2, rceil: d = a * (1/max); Ed + (Ed ? md != 0 : md > 0x400000).
MXQ_FN int scale_exponent(unsigned amax) {
  const unsigned d = float_bits(bits_float(amax) * (1.0f / OUT_MAX));
  const unsigned exponent = d >> 23, mantissa = d & 0x7FFFFF;
  return static_cast<int>(exponent + (exponent ? mantissa != 0 : mantissa > 0x400000));
}
//$ end

// The largest finite maximum has E = 254, so no mode comes past 254 - OUT_EMAX + 1: the upper clamp
// of the contract and the subnormal multiplier of code 254 are never needed.
static_assert(OUT_EMAX >= 2, "codes stay below 254");

MXQ_FN block_scale scale_of(unsigned amax) {
  if (amax >= 0x7F800000) return {255, bits_float(0x7FC00000)};
  const int exponent = scale_exponent(amax);
  // NOTE: `code == 254 ? 0x00400000 : ...` after clamping to [0, 254] is miscompiled by the
  // assembler of CUDA 13.0 (V13.0.88): the comparison becomes the inverted predicate of VIMNMX.
  const unsigned code = exponent < 0 ? 0 : exponent;
  return {code, bits_float((254 - code) << 23)};
}
