// Primitives that round two bf16 or f16 in a word to codes by arithmetic.
#ifdef __CUDACC__
// add.rn: both halves, each rounded by itself.
MXQ_FN unsigned add_pair_bf16(unsigned a, unsigned b) {
  unsigned sum;
  asm("add.rn.bf16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}
MXQ_FN unsigned add_pair_f16(unsigned a, unsigned b) {
  unsigned sum;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}
// abs and min: each half's magnitude, at most that of `most`, which a NaN becomes too.
MXQ_FN unsigned limit_pair_bf16(unsigned x, unsigned most) {
  unsigned limited;
  asm("{\n\t.reg .b32 magnitude;\n\tabs.bf16x2 magnitude, %1;\n\t"
      "min.bf16x2 %0, magnitude, %2;\n\t}"
      : "=r"(limited) : "r"(x), "r"(most));
  return limited;
}
MXQ_FN unsigned limit_pair_f16(unsigned x, unsigned most) {
  unsigned limited;
  asm("{\n\t.reg .b32 magnitude;\n\tabs.f16x2 magnitude, %1;\n\t"
      "min.f16x2 %0, magnitude, %2;\n\t}"
      : "=r"(limited) : "r"(x), "r"(most));
  return limited;
}
// max.u16x2: the larger of each half, as unsigned integers.
MXQ_FN unsigned max_pair_u16(unsigned a, unsigned b) {
  unsigned larger;
  asm("max.u16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}
#endif
