// Primitives of two numbers of 16 bits in a word.
#ifdef __CUDACC__
// min.u16x2: the smaller of each half. From sm_90 on one instruction.
MXQ_FN unsigned min_pair_u16(unsigned a, unsigned b) {
  unsigned smaller;
  asm("min.u16x2 %0, %1, %2;" : "=r"(smaller) : "r"(a), "r"(b));
  return smaller;
}
// max.u16x2: the larger of each half.
MXQ_FN unsigned max_pair_u16(unsigned a, unsigned b) {
  unsigned larger;
  asm("max.u16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}
#endif
