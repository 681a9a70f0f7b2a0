// Loads of two neighbouring elements of 16 bits.
#ifdef __CUDACC__
// ld.global: the element at `first` in the low half; in the high half the one behind it, or zero if that does
// not exist. No branch: loads of several pairs go on at a time.
MXQ_FN unsigned global_load_pair(const unsigned short *first, bool second_exists) {
  unsigned pair;
  asm("{\n\t.reg .pred exists;\n\t.reg .u32 low, high;\n\t"
      "setp.ne.u32 exists, %2, 0;\n\t"
      "mov.u32 high, 0;\n\t"
      "ld.global.u16 low, [%1];\n\t"
      "@exists ld.global.u16 high, [%1 + 2];\n\t"
      "prmt.b32 %0, low, high, 0x5410;\n\t}"
      : "=r"(pair)
      : "l"(__cvta_generic_to_global(first)), "r"(static_cast<unsigned>(second_exists)));
  return pair;
}
#endif
