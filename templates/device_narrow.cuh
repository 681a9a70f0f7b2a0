// Conversions to codes.
#ifdef __CUDACC__
// cvt.rn.satfinite: two codes, the first in the low bits: a byte each, or four bits each of e2m1.
// NaN gives 0x7F of eight bits and the largest value of six and four; -0 stays -0.
template <unsigned EXPONENT_BITS, unsigned MANTISSA_BITS>
MXQ_FN unsigned narrow_pair(float first, float second) {
  unsigned short codes;
  if constexpr (EXPONENT_BITS == 4 && MANTISSA_BITS == 3)
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(second), "f"(first));
  else if constexpr (EXPONENT_BITS == 5 && MANTISSA_BITS == 2)
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(second), "f"(first));
  else if constexpr (EXPONENT_BITS == 2 && MANTISSA_BITS == 3)
    asm("cvt.rn.satfinite.e2m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(second), "f"(first));
  else if constexpr (EXPONENT_BITS == 3 && MANTISSA_BITS == 2)
    asm("cvt.rn.satfinite.e3m2x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(second), "f"(first));
  else
    asm("{\n\t.reg .b8 pair;\n\t"
        "cvt.rn.satfinite.e2m1x2.f32 pair, %1, %2;\n\t"
        "cvt.u16.u8 %0, pair;\n\t}"
        : "=h"(codes) : "f"(second), "f"(first));
  return codes;
}
// cvt.rp.satfinite.ue8m0x2: the e8m0 code of the smallest power of two that is not below x.
MXQ_FN unsigned ceil_e8m0(float x) {
  unsigned short codes;
  asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(0.0f), "f"(x));
  return codes & 0xFF;
}
#endif
