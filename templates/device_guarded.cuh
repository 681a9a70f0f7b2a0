// Primitives: accesses that happen if the data exists. No branch, so nothing waits for one to end.
#ifdef __CUDACC__
// ld.global: 16 bytes; any values if they do not exist.
MXQ_FN words4 global_load_if(bool exists, const words4 *pointer) {
  words4 four;
  asm volatile(
      "{\n\t.reg .pred exists;\n\t"
      "setp.ne.u32 exists, %5, 0;\n\t"
      "@exists ld.global.v4.u32 {%0, %1, %2, %3}, [%4];\n\t}"
      : "=r"(four.word[0]), "=r"(four.word[1]), "=r"(four.word[2]), "=r"(four.word[3])
      : "l"(__cvta_generic_to_global(pointer)), "r"(static_cast<unsigned>(exists)) : "memory");
  return four;
}
// st.global: 16 bytes.
MXQ_FN void global_store_if(bool exists, words4 *pointer, const words4 &four) {
  asm volatile(
      "{\n\t.reg .pred exists;\n\t"
      "setp.ne.u32 exists, %5, 0;\n\t"
      "@exists st.global.v4.u32 [%4], {%0, %1, %2, %3};\n\t}"
      :: "r"(four.word[0]), "r"(four.word[1]), "r"(four.word[2]), "r"(four.word[3]),
         "l"(__cvta_generic_to_global(pointer)), "r"(static_cast<unsigned>(exists)) : "memory");
}
#endif
