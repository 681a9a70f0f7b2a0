// The variant.
constexpr unsigned IN_BITS = ${input.bits}, IN_EXPONENT_BITS = ${input.exponent_bits};
constexpr unsigned OUT_BITS = ${output.bits}, OUT_EXPONENT_BITS = ${output.exponent_bits};
constexpr unsigned OUT_MANTISSA_BITS = ${output.mantissa_bits}, OUT_NAN = ${output.nan_code};
constexpr int OUT_EMAX = ${output.emax};
constexpr float OUT_MAX = ${output.max};
constexpr unsigned BLOCK = ${block};
constexpr bool ALONG_N = ${layout.first & part.along_n ~= 0};
constexpr bool ALONG_K = ${layout.first & part.along_k ~= 0};
constexpr bool COLUMN_MAJOR = ${layout.first & part.column_major ~= 0};
constexpr unsigned SCALE_BITS = ${mode.scale_bits};
constexpr bool POWER_OF_TWO = ${mode.power_of_two ~= 0};  // every scale is one
constexpr bool HAS_FP8 = ${arch.has_fp8 ~= 0};        // conversions to e4m3 and e5m2
constexpr bool HAS_NARROW = ${arch.use_narrow ~= 0};  // and to e2m3, e3m2, e2m1 and e8m0
