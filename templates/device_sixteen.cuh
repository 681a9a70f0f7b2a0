// Primitives of sixteen words, an array `words`, in one piece of assembly each: the compiler need not go
// through their instructions one by one. Macros, because functions with that many references take it longer.
#ifdef __CUDACC__
// ld.shared.u32: words that lie `pitch` bytes apart, a constant.
#define MXQ_LOAD_SIXTEEN(words, offset, pitch)                                      \
  asm volatile(                                                                     \
      "ld.shared.u32 %0, [%16];\n\t"                                                \
      "ld.shared.u32 %1, [%16+1*%17];\n\t"                                          \
      "ld.shared.u32 %2, [%16+2*%17];\n\t"                                          \
      "ld.shared.u32 %3, [%16+3*%17];\n\t"                                          \
      "ld.shared.u32 %4, [%16+4*%17];\n\t"                                          \
      "ld.shared.u32 %5, [%16+5*%17];\n\t"                                          \
      "ld.shared.u32 %6, [%16+6*%17];\n\t"                                          \
      "ld.shared.u32 %7, [%16+7*%17];\n\t"                                          \
      "ld.shared.u32 %8, [%16+8*%17];\n\t"                                          \
      "ld.shared.u32 %9, [%16+9*%17];\n\t"                                          \
      "ld.shared.u32 %10, [%16+10*%17];\n\t"                                        \
      "ld.shared.u32 %11, [%16+11*%17];\n\t"                                        \
      "ld.shared.u32 %12, [%16+12*%17];\n\t"                                        \
      "ld.shared.u32 %13, [%16+13*%17];\n\t"                                        \
      "ld.shared.u32 %14, [%16+14*%17];\n\t"                                        \
      "ld.shared.u32 %15, [%16+15*%17];\n\t"                                        \
      : "=r"((words)[0]), "=r"((words)[1]), "=r"((words)[2]), "=r"((words)[3]),     \
        "=r"((words)[4]), "=r"((words)[5]), "=r"((words)[6]), "=r"((words)[7]),     \
        "=r"((words)[8]), "=r"((words)[9]), "=r"((words)[10]), "=r"((words)[11]),   \
        "=r"((words)[12]), "=r"((words)[13]), "=r"((words)[14]), "=r"((words)[15])  \
      : "r"(shared_address(offset)), "n"(pitch) : "memory")
// max.NaN.xorsign.abs.bf16x2: the largest magnitude of each half, NaN if any is NaN; any sign. From sm_86 on.
#define MXQ_MAX_SIXTEEN(largest, words)                                             \
  asm(                                                                              \
      "max.NaN.xorsign.abs.bf16x2 %0, %1, %2;\n\t"                                  \
      "max.NaN.xorsign.abs.bf16x2 %0, %0, %3;\n\t"                                  \
      "max.NaN.xorsign.abs.bf16x2 %0, %0, %4;\n\t"                                  \
      "max.NaN.xorsign.abs.bf16x2 %0, %0, %5;\n\t"                                  \
      "max.NaN.xorsign.abs.bf16x2 %0, %0, %6;\n\t"                                  \
      "max.NaN.xorsign.abs.bf16x2 %0, %0, %7;\n\t"                                  \
      "max.NaN.xorsign.abs.bf16x2 %0, %0, %8;\n\t"                                  \
      "max.NaN.xorsign.abs.bf16x2 %0, %0, %9;\n\t"                                  \
      "max.NaN.xorsign.abs.bf16x2 %0, %0, %10;\n\t"                                 \
      "max.NaN.xorsign.abs.bf16x2 %0, %0, %11;\n\t"                                 \
      "max.NaN.xorsign.abs.bf16x2 %0, %0, %12;\n\t"                                 \
      "max.NaN.xorsign.abs.bf16x2 %0, %0, %13;\n\t"                                 \
      "max.NaN.xorsign.abs.bf16x2 %0, %0, %14;\n\t"                                 \
      "max.NaN.xorsign.abs.bf16x2 %0, %0, %15;\n\t"                                 \
      "max.NaN.xorsign.abs.bf16x2 %0, %0, %16;\n\t"                                 \
      : "=&r"(largest)                                                              \
      : "r"((words)[0]), "r"((words)[1]), "r"((words)[2]), "r"((words)[3]),         \
        "r"((words)[4]), "r"((words)[5]), "r"((words)[6]), "r"((words)[7]),         \
        "r"((words)[8]), "r"((words)[9]), "r"((words)[10]), "r"((words)[11]),       \
        "r"((words)[12]), "r"((words)[13]), "r"((words)[14]), "r"((words)[15]))
// The words times `multiplier`, as codes of eight bits: those of the low halves, four in a word, and those of
// the high ones. mul.rn.bf16x2; the halves as float32; cvt.rn.satfinite.
#define MXQ_CODES(type, low, high, w, x, y, z)          \
  "mul.rn.bf16x2 a, " w ", %24;\n\t"                   \
  "mul.rn.bf16x2 b, " x ", %24;\n\t"                   \
  "mul.rn.bf16x2 c, " y ", %24;\n\t"                   \
  "mul.rn.bf16x2 d, " z ", %24;\n\t"                   \
  "shl.b32 e, a, 16;\n\t"                             \
  "shl.b32 f, b, 16;\n\t"                             \
  "shl.b32 g, c, 16;\n\t"                             \
  "shl.b32 h, d, 16;\n\t"                             \
  "and.b32 a, a, 0xFFFF0000;\n\t"                     \
  "and.b32 b, b, 0xFFFF0000;\n\t"                     \
  "and.b32 c, c, 0xFFFF0000;\n\t"                     \
  "and.b32 d, d, 0xFFFF0000;\n\t"                     \
  "cvt.rn.satfinite." type "x2.f32 p, f, e;\n\t"      \
  "cvt.rn.satfinite." type "x2.f32 q, h, g;\n\t"      \
  "cvt.rn.satfinite." type "x2.f32 r, b, a;\n\t"      \
  "cvt.rn.satfinite." type "x2.f32 s, d, c;\n\t"      \
  "mov.b32 " low ", {p, q};\n\t"                      \
  "mov.b32 " high ", {r, s};\n\t"
#define MXQ_NARROW_SIXTEEN(low, high, words, multiplier)                            \
  asm("{\n\t.reg .b32 a, b, c, d, e, f, g, h;\n\t.reg .b16 p, q, r, s;\n\t"         \
      MXQ_CODES("${output.token}", "%0", "%4", "%8", "%9", "%10", "%11")            \
      MXQ_CODES("${output.token}", "%1", "%5", "%12", "%13", "%14", "%15")          \
      MXQ_CODES("${output.token}", "%2", "%6", "%16", "%17", "%18", "%19")          \
      MXQ_CODES("${output.token}", "%3", "%7", "%20", "%21", "%22", "%23")          \
      "}"                                                                           \
      : "=&r"((low)[0]), "=&r"((low)[1]), "=&r"((low)[2]), "=&r"((low)[3]),         \
        "=&r"((high)[0]), "=&r"((high)[1]), "=&r"((high)[2]), "=&r"((high)[3])      \
      : "r"((words)[0]), "r"((words)[1]), "r"((words)[2]), "r"((words)[3]),         \
        "r"((words)[4]), "r"((words)[5]), "r"((words)[6]), "r"((words)[7]),         \
        "r"((words)[8]), "r"((words)[9]), "r"((words)[10]), "r"((words)[11]),       \
        "r"((words)[12]), "r"((words)[13]), "r"((words)[14]), "r"((words)[15]),     \
        "r"(multiplier))
#endif
