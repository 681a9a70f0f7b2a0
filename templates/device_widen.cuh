// Conversions of codes, and to the wide types.
#ifdef __CUDACC__
// cvt.rn.f16x2: the values of two codes as halves, the first in the low one: a byte each, or four bits
// each of e2m1. Exact; a NaN is 0x7FFF. Bits 6 and 7 of six-bit codes are 0.
template <unsigned EXPONENT_BITS, unsigned MANTISSA_BITS>
MXQ_FN unsigned widen_pair(unsigned codes) {
  unsigned halves;
  const unsigned short pair = static_cast<unsigned short>(codes);
  if constexpr (EXPONENT_BITS == 4 && MANTISSA_BITS == 3)
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
  else if constexpr (EXPONENT_BITS == 5 && MANTISSA_BITS == 2)
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(pair));
  else if constexpr (EXPONENT_BITS == 2 && MANTISSA_BITS == 3)
    asm("cvt.rn.f16x2.e2m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
  else if constexpr (EXPONENT_BITS == 3 && MANTISSA_BITS == 2)
    asm("cvt.rn.f16x2.e3m2x2 %0, %1;" : "=r"(halves) : "h"(pair));
  else
    asm("{\n\t.reg .b8 pair;\n\t"
        "cvt.u8.u16 pair, %1;\n\t"
        "cvt.rn.f16x2.e2m1x2 %0, pair;\n\t}"
        : "=r"(halves) : "h"(pair));
  return halves;
}
// cvt.rn: both rounded to nearest even, the first in the low half; too large is infinity, NaN 0x7FFF.
MXQ_FN unsigned round_pair_bf16(float first, float second) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}
MXQ_FN unsigned round_pair_f16(float first, float second) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}
#endif
