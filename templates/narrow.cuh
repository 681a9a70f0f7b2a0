//$ -- The names of primitives that an arch lacks are in no expansion, so `if constexpr` will not do.
//$ local converts = arch.use_narrow ~= 0 or (output.bits == 8 and arch.has_fp8 ~= 0)
//$ if converts then need "device_narrow.cuh" end
// On magnitudes, e2m3(y) is e4m3(y * 2^-6) and e3m2(y) is e5m2(y * 2^-12), with 0x20 and NaN for
// what saturates: without conversions of their own, those to eight bits serve both.
constexpr unsigned OUT_BIAS = (1u << (OUT_EXPONENT_BITS - 1)) - 1;
constexpr bool OUT_SIX = OUT_EXPONENT_BITS + OUT_MANTISSA_BITS == 5;
constexpr bool THROUGH_WIDER = OUT_SIX && HAS_FP8 && !HAS_NARROW;
constexpr unsigned WIDER_BITS = 7 - OUT_MANTISSA_BITS;  // exponent bits of that eight-bit type
constexpr unsigned WIDER_BIAS = (1u << (WIDER_BITS - 1)) - 1;
constexpr float OUT_SHIFT = THROUGH_WIDER ? 1.0f / (1u << (WIDER_BIAS - OUT_BIAS)) : 1.0f;

//$ if converts then
// Four codes, the first in the low bits: a byte each, or four bits each if OUT_BITS is 4.
MXQ_FN unsigned narrow_four(float a, float b, float c, float d) {
  if constexpr (THROUGH_WIDER) {
    const unsigned wide = narrow_pair<WIDER_BITS, OUT_MANTISSA_BITS>(a, b) |
                          narrow_pair<WIDER_BITS, OUT_MANTISSA_BITS>(c, d) << 16;
    // 0x20 and the NaN 0x7F become 0x1F; the sign moves from bit 7 to bit 5.
    const unsigned over = wide >> 5 & 0x01010101;
    return ((wide | over * 0x1F) & 0x1F1F1F1F) | (wide >> 2 & 0x20202020);
  }
  return narrow_pair<OUT_EXPONENT_BITS, OUT_MANTISSA_BITS>(a, b) |
         narrow_pair<OUT_EXPONENT_BITS, OUT_MANTISSA_BITS>(c, d) << 2 * OUT_BITS;
}
//$ else
// One code by arithmetic, for the types and archs that lack a conversion. Adding 2^(e+23-mantissa
// bits), e the exponent of the value, at least that of the smallest normal one, rounds it to
// nearest even at the last place of the type; what that leaves in the sum's low bits, counted from
// the exponent's first code, is the code. NaN is a select for the types that have one.
MXQ_FN unsigned narrow_one(float x) {
  const float y = min_number(magnitude(x), OUT_MAX);
  constexpr unsigned LOWEST = (128 - OUT_BIAS) << 23;  // exponent field of the smallest normal value
  const unsigned exponent = float_bits(y) & 0x7F800000;
  const unsigned anchor = (exponent < LOWEST ? LOWEST : exponent) + ((23 - OUT_MANTISSA_BITS) << 23);
  const unsigned steps = float_bits(y + bits_float(anchor)) - anchor;
  constexpr unsigned FIRST = LOWEST + ((23 - OUT_MANTISSA_BITS) << 23);
  const unsigned code = steps + ((anchor - FIRST) >> (23 - OUT_MANTISSA_BITS));
  constexpr unsigned SIGN = OUT_EXPONENT_BITS + OUT_MANTISSA_BITS;
  if (OUT_BITS == 8 && !OUT_SIX && x != x) return OUT_NAN;
  return code | (float_bits(x) >> 31) << SIGN;
}

// Four codes, the first in the low bits: a byte each, or four bits each if OUT_BITS is 4.
MXQ_FN unsigned narrow_four(float a, float b, float c, float d) {
  return narrow_one(a) | narrow_one(b) << OUT_BITS | narrow_one(c) << 2 * OUT_BITS |
         narrow_one(d) << 3 * OUT_BITS;
}
//$ end
