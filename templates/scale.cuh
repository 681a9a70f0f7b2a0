// The scale of a block from the bits of its maximum magnitude as float32 (NaN if any is NaN).
struct block_scale {
  unsigned code;     // e8m0: 2^(code-127), 255 is NaN; float32: its bits
  float multiplier;  // what elements are multiplied by; NaN makes every code of the block NaN
};

//$ if mode.scale_bits == 8 then
// Whether a block's maximum may come to more than the largest code's value and half a step.
constexpr bool SATURATES = ${mode.token == "floor" or mode.token == "even"};
//$   if mode.token == "floor" then
// Contract, section 2, floor: E - emax.
MXQ_FN int scale_exponent(unsigned amax) { return static_cast<int>(amax >> 23) - OUT_EMAX; }
//$   elseif mode.token == "ceil" then
// Contract, section 2, ceil: E + (m != 0) - emax.
MXQ_FN int scale_exponent(unsigned amax) {
  return static_cast<int>((amax >> 23) + ((amax & 0x7FFFFF) != 0)) - OUT_EMAX;
}
//$   elseif mode.token == "rceil" then
//$     if arch.use_narrow ~= 0 then need "device_narrow.cuh" end
// Contract, section 2, rceil: d = a * (1/max); Ed + (Ed ? md != 0 : md > 0x400000).
MXQ_FN int scale_exponent(unsigned amax) {
  const float quotient = multiply(bits_float(amax), 1.0f / OUT_MAX);
//$     if arch.use_narrow ~= 0 then
  return static_cast<int>(ceil_e8m0(quotient));
//$     else
  // The sum comes to the next exponent for these mantissas.
  const unsigned d = float_bits(quotient);
  return static_cast<int>((d + (d < 0x800000 ? 0x3FFFFF : 0x7FFFFF)) >> 23);
//$     end
}
//$   elseif mode.token == "even" then
// Contract, section 2, even: floor of a rounded to the output's mantissa, exponent at most 254.
MXQ_FN int scale_exponent(unsigned amax) {
  const unsigned rounded = amax + (1u << (22 - OUT_MANTISSA_BITS));
  const unsigned exponent = rounded >> 23;
  return static_cast<int>(exponent > 254 ? 254 : exponent) - OUT_EMAX;
}
//$   end
// The largest finite maximum has E = 254, so no mode comes past 254 - OUT_EMAX + 1: the upper clamp
// of the contract and the subnormal multiplier of code 254 are never needed.
static_assert(OUT_EMAX >= 2, "codes stay below 254");

MXQ_FN block_scale scale_of(unsigned amax) {
  const int exponent = scale_exponent(amax);
  // NOTE: `code == 254 ? 0x00400000 : ...` after clamping to [0, 254] is miscompiled by the
  // assembler of CUDA 13.0 (V13.0.88): the comparison becomes the inverted predicate of VIMNMX.
  const unsigned code = exponent < 0 ? 0 : exponent;
  const unsigned multiplier = (254 - code) << 23;
  if (amax >= 0x7F800000) return {255, bits_float(0x7FC00000)};
  return {code, bits_float(multiplier)};
}
//$ else
//$   if mode.token == "amax" then
// Contract, section 2, amax: s itself.
MXQ_FN float scale_value(float s) { return s; }
//$   elseif mode.token == "pow2" then
// Contract, section 2, pow2: s rounded up to a power of two.
MXQ_FN float scale_value(float s) {
  const unsigned bits = float_bits(s);
  return bits_float((bits + 0x7FFFFF) & 0x7F800000);
}
//$   end
MXQ_FN block_scale scale_of(unsigned amax) {
  if (amax >= 0x7F800000) return {0x7FC00000, bits_float(0x7FC00000)};
  constexpr unsigned SMALLEST = 27u << 23;  // 2^-100
  const float scale = scale_value(bits_float(amax < SMALLEST ? SMALLEST : amax) / OUT_MAX);
  return {float_bits(scale), 1.0f / scale};
}
//$ end
