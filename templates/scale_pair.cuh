//$ need "device_odd.cuh"
// The scales of two neighbouring columns of bf16 from the word of their largest magnitudes, whose signs do
// not count: both halves at a time.
struct pair_scale {
  unsigned codes;        // e8m0: 2^(code-127), 255 is NaN; a byte each, the rest is zero
  unsigned multipliers;  // bf16 in halves: what elements are multiplied by; NaN makes every code NaN
};

MXQ_FN constexpr unsigned both(unsigned half) { return half << 16 | half; }

// What comes to the next exponent where the mode rounds up, in places of a bf16's mantissa.
//$ if mode.token == "floor" then
// Contract, section 2, floor: E - emax.
constexpr unsigned ROUND_UP = 0;
//$ elseif mode.token == "ceil" then
// Contract, section 2, ceil: E + (m != 0) - emax.
constexpr unsigned ROUND_UP = 127;
//$ elseif mode.token == "rceil" then
// Contract, section 2, rceil: that of a * (1/max), rounded up, is E - emax, or one more for a mantissa above that
// of the largest code. No bf16 lies so close to it that the product's rounding decides.
constexpr unsigned ROUND_UP = 255 - static_cast<unsigned>(OUT_MAX / (1 << OUT_EMAX) * 128);
//$ elseif mode.token == "even" then
// Contract, section 2, even: floor of a rounded to the output's mantissa, exponent at most 254.
constexpr unsigned ROUND_UP = 1u << (6 - OUT_MANTISSA_BITS);
//$ end
static_assert(OUT_EMAX >= 2, "exponents fit into a byte, and halves do not borrow from each other");

MXQ_FN pair_scale scales_of_pair(unsigned largest) {
  const unsigned magnitudes = largest & both(0x7FFF);
//$ if mode.token == "even" then
  const unsigned rounded = min_pair_u16(magnitudes + both(ROUND_UP), both(254 << 7 | 0x7F));
//$ else
  const unsigned rounded = magnitudes + both(ROUND_UP);
//$ end
  const unsigned above = max_pair_u16(rounded, both(OUT_EMAX << 7)) - both(OUT_EMAX << 7);
  // All ones where a magnitude is infinite or NaN.
  const unsigned nan = permute_signs(magnitudes + both(0x0080), 0, 0x3311);
  const unsigned multipliers = both(254 << 7) - (above & both(0xFF80));
  return {permute_bytes(above >> 7 | nan, 0, 0x4420), (multipliers & ~nan) | (nan & both(0x7FC0))};
}
