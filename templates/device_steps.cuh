// Primitives that round to codes by arithmetic.
#ifdef __CUDACC__
// fma.rn.f32: a * b + c, rounded once.
MXQ_FN float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
// fma.rn: both halves of a * b + c, each rounded once.
MXQ_FN unsigned multiply_add_pair_bf16(unsigned a, unsigned b, unsigned c) {
  unsigned sum;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
}
MXQ_FN unsigned multiply_add_pair_f16(unsigned a, unsigned b, unsigned c) {
  unsigned sum;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
}
// min: the smaller of each half; the other if one is NaN.
MXQ_FN unsigned min_pair_bf16(unsigned a, unsigned b) {
  unsigned smaller;
  asm("min.bf16x2 %0, %1, %2;" : "=r"(smaller) : "r"(a), "r"(b));
  return smaller;
}
MXQ_FN unsigned min_pair_f16(unsigned a, unsigned b) {
  unsigned smaller;
  asm("min.f16x2 %0, %1, %2;" : "=r"(smaller) : "r"(a), "r"(b));
  return smaller;
}
// shf.r.wrap.b32: the low word of high:low moved right.
MXQ_FN unsigned funnel_right(unsigned low, unsigned high, unsigned by) {
  return __funnelshift_r(low, high, by);
}
#endif
