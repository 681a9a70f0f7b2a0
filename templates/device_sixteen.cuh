//$ need "device_codes.cuh"
// Primitives of sixteen words, an array `words`, in one piece of assembly each: the compiler need not go
// through their instructions one by one. Macros, because functions with that many references take it longer.
#ifdef __CUDACC__
// Operands of an asm.
#define MXQ_FOUR(constraint, words, at) \
  constraint((words)[at]), constraint((words)[at + 1]), constraint((words)[at + 2]), constraint((words)[at + 3])
#define MXQ_SIXTEEN(constraint, words) \
  MXQ_FOUR(constraint, words, 0), MXQ_FOUR(constraint, words, 4), \
  MXQ_FOUR(constraint, words, 8), MXQ_FOUR(constraint, words, 12)
// ld.shared.u32: words that lie `pitch` bytes apart, a constant.
#define MXQ_LOAD(i) "ld.shared.u32 %" #i ", [%16+" #i "*%17];\n\t"
#define MXQ_LOAD_SIXTEEN(words, offset, pitch) \
  asm volatile(MXQ_LOAD(0) MXQ_LOAD(1) MXQ_LOAD(2) MXQ_LOAD(3) MXQ_LOAD(4) MXQ_LOAD(5) MXQ_LOAD(6) MXQ_LOAD(7) \
               MXQ_LOAD(8) MXQ_LOAD(9) MXQ_LOAD(10) MXQ_LOAD(11) MXQ_LOAD(12) MXQ_LOAD(13) MXQ_LOAD(14) MXQ_LOAD(15) \
               : MXQ_SIXTEEN("=&r", words) : "r"(shared_address(offset)), "n"(pitch) : "memory")
// max.NaN.xorsign.abs.bf16x2: the largest magnitude of each half, NaN if any is NaN; any sign. From sm_86 on.
#define MXQ_MAX(a, i) "max.NaN.xorsign.abs.bf16x2 %0, %" #a ", %" #i ";\n\t"
#define MXQ_MAX_SIXTEEN(largest, words) \
  asm(MXQ_MAX(1, 2) MXQ_MAX(0, 3) MXQ_MAX(0, 4) MXQ_MAX(0, 5) MXQ_MAX(0, 6) MXQ_MAX(0, 7) MXQ_MAX(0, 8) MXQ_MAX(0, 9) \
      MXQ_MAX(0, 10) MXQ_MAX(0, 11) MXQ_MAX(0, 12) MXQ_MAX(0, 13) MXQ_MAX(0, 14) MXQ_MAX(0, 15) MXQ_MAX(0, 16) \
      : "=&r"(largest) : MXQ_SIXTEEN("r", words))
// The words times `multiplier`, as codes of eight bits: those of the low halves, four in a word, and those of
// the high ones.
#define MXQ_NARROW_SIXTEEN(low, high, words, multiplier) \
  asm("{\n\t" MXQ_CODES_REGISTERS \
      MXQ_CODES(${output.token}, 24, 0, 4, 8, 9, 10, 11) \
      MXQ_CODES(${output.token}, 24, 1, 5, 12, 13, 14, 15) \
      MXQ_CODES(${output.token}, 24, 2, 6, 16, 17, 18, 19) \
      MXQ_CODES(${output.token}, 24, 3, 7, 20, 21, 22, 23) "}" \
      : MXQ_FOUR("=&r", low, 0), MXQ_FOUR("=&r", high, 0) : MXQ_SIXTEEN("r", words), "r"(multiplier))
#endif
