// The variant.
constexpr unsigned IN_BITS = ${input.bits}, IN_EXPONENT_BITS = ${input.exponent_bits};
constexpr unsigned IN_MANTISSA_BITS = ${input.mantissa_bits};
constexpr unsigned OUT_BITS = ${output.bits}, OUT_EXPONENT_BITS = ${output.exponent_bits};
constexpr unsigned BLOCK = ${block};
constexpr bool ALONG_N = ${layout.first & part.along_n ~= 0};
constexpr bool ALONG_K = ${layout.first & part.along_k ~= 0};
constexpr bool COLUMN_MAJOR = ${layout.first & part.column_major ~= 0};
constexpr unsigned SCALE_BITS = ${mode.scale_bits};
constexpr bool SCALES_BLK = ${scales.token == "blk"}, SCALES_MN = ${scales.token == "mn"};
constexpr bool HAS_FP8 = ${arch.has_fp8 ~= 0};        // conversions of e4m3 and e5m2
constexpr bool HAS_NARROW = ${arch.use_narrow ~= 0};  // and of e2m3, e3m2 and e2m1
