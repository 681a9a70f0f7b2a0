//$ need "device_codes.cuh"
// Primitives that multiply words of two bf16 and convert the products to codes of eight bits, in one
// piece of assembly each: the compiler need not go through their instructions one by one.
#ifdef __CUDACC__
// Codes of the halves of two words, in order: mul.rn.bf16x2; the halves as float32; cvt.rn.satfinite.
#define MXQ_NARROW_TWO(type)                               \
  asm("{\n\t.reg .b32 a, b, c, d;\n\t.reg .b16 p, q;\n\t" \
      "mul.rn.bf16x2 a, %1, %3;\n\t"                       \
      "mul.rn.bf16x2 b, %2, %3;\n\t"                       \
      "shl.b32 c, a, 16;\n\t"                              \
      "shl.b32 d, b, 16;\n\t"                              \
      "and.b32 a, a, 0xFFFF0000;\n\t"                      \
      "and.b32 b, b, 0xFFFF0000;\n\t"                      \
      "cvt.rn.satfinite." type "x2.f32 p, a, c;\n\t"       \
      "cvt.rn.satfinite." type "x2.f32 q, b, d;\n\t"       \
      "mov.b32 %0, {p, q};\n\t}"                           \
      : "=r"(codes) : "r"(words[0]), "r"(words[1]), "r"(multiplier))
template <unsigned EXPONENT_BITS>
MXQ_FN unsigned narrow_two_bf16(const unsigned *words, unsigned multiplier) {
  unsigned codes;
  if constexpr (EXPONENT_BITS == 4)
    MXQ_NARROW_TWO("e4m3");
  else
    MXQ_NARROW_TWO("e5m2");
  return codes;
}
// The same of four words: the codes of their low halves, and those of their high halves.
#define MXQ_NARROW_FOUR(type) \
  asm("{\n\t" MXQ_CODES_REGISTERS MXQ_CODES(type, 6, 0, 1, 2, 3, 4, 5) "}" \
      : "=r"(four[0]), "=r"(four[1]) \
      : "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]), "r"(multiplier))
template <unsigned EXPONENT_BITS>
MXQ_FN void narrow_four_bf16(const unsigned *words, unsigned multiplier, unsigned (&four)[2]) {
  if constexpr (EXPONENT_BITS == 4)
    MXQ_NARROW_FOUR(e4m3);
  else
    MXQ_NARROW_FOUR(e5m2);
}
#endif
