// Primitives of two numbers of 16 bits in a word.
#ifdef __CUDACC__
// min.u16x2: the smaller of each half. Before sm_90 several instructions.
MXQ_FN unsigned min_pair_u16(unsigned a, unsigned b) {
#if __CUDA_ARCH__ >= 900
  unsigned smaller;
  asm("min.u16x2 %0, %1, %2;" : "=r"(smaller) : "r"(a), "r"(b));
  return smaller;
#else
  return __vminu2(a, b);
#endif
}
#endif
