// The variant.
constexpr unsigned IN_BITS = ${input.bits}, IN_EXPONENT_BITS = ${input.exponent_bits};
constexpr unsigned OUT_BITS = ${output.bits}, OUT_EXPONENT_BITS = ${output.exponent_bits};
constexpr unsigned OUT_MANTISSA_BITS = ${output.mantissa_bits}, OUT_NAN = ${output.nan_code};
constexpr int OUT_EMAX = ${output.emax};
constexpr float OUT_MAX = ${output.max};
constexpr unsigned BLOCK = ${block};
constexpr bool ALONG_N = ${layout.along_n}, ALONG_K = ${layout.along_k};
constexpr bool COLUMN_MAJOR = ${layout.column_major};
constexpr unsigned SCALE_BITS = ${mode.scale_bits};
constexpr bool POWER_OF_TWO = ${mode.power_of_two};  // every scale is
constexpr bool HAS_FP8 = ${arch.has_fp8};            // conversions to e4m3 and e5m2
