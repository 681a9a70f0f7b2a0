// Assembly of primitives that make codes of eight bits from words of two bf16.
#ifdef __CUDACC__
#define MXQ_CODES_REGISTERS ".reg .b32 a, b, c, d, e, f, g, h;\n\t.reg .b16 p, q, r, s;\n\t"
// The words w, x, y and z times a pair of multipliers: mul.rn.bf16x2; the halves as float32; cvt.rn.satfinite.
// The codes of their low halves, then those of the high ones. All but the type are numbers of operands.
#define MXQ_CODES(type, multiplier, low, high, w, x, y, z) \
  "mul.rn.bf16x2 a, %" #w ", %" #multiplier ";\n\t" \
  "mul.rn.bf16x2 b, %" #x ", %" #multiplier ";\n\t" \
  "mul.rn.bf16x2 c, %" #y ", %" #multiplier ";\n\t" \
  "mul.rn.bf16x2 d, %" #z ", %" #multiplier ";\n\t" \
  "shl.b32 e, a, 16;\n\t" \
  "shl.b32 f, b, 16;\n\t" \
  "shl.b32 g, c, 16;\n\t" \
  "shl.b32 h, d, 16;\n\t" \
  "and.b32 a, a, 0xFFFF0000;\n\t" \
  "and.b32 b, b, 0xFFFF0000;\n\t" \
  "and.b32 c, c, 0xFFFF0000;\n\t" \
  "and.b32 d, d, 0xFFFF0000;\n\t" \
  "cvt.rn.satfinite." #type "x2.f32 p, f, e;\n\t" \
  "cvt.rn.satfinite." #type "x2.f32 q, h, g;\n\t" \
  "cvt.rn.satfinite." #type "x2.f32 r, b, a;\n\t" \
  "cvt.rn.satfinite." #type "x2.f32 s, d, c;\n\t" \
  "mov.b32 %" #low ", {p, q};\n\t" \
  "mov.b32 %" #high ", {r, s};\n\t"
#endif
