// The variant.
constexpr unsigned IN_BITS = ${input.bits}, IN_EXPONENT_BITS = ${input.exponent_bits};
constexpr unsigned OUT_BITS = ${output.bits}, OUT_EXPONENT_BITS = ${output.exponent_bits};
constexpr unsigned OUT_MANTISSA_BITS = ${output.mantissa_bits}, OUT_NAN = ${output.nan_code};
constexpr int OUT_EMAX = ${output.emax};
constexpr float OUT_MAX = ${output.max};
constexpr unsigned BLOCK = ${block};
// Parts of the layout, as sums of 1: blocks along N, 2: along K, 4: column-major. The main part is
// the only one, or the second of two; ALSO is the first of two, row-major.
constexpr unsigned MAIN = ${layout.second ~= 0 and layout.second or layout.first};
constexpr unsigned ALSO = ${layout.second ~= 0 and layout.first or 0};
constexpr bool ALONG_N = MAIN & 1, ALONG_K = MAIN & 2, COLUMN_MAJOR = MAIN & 4;
constexpr unsigned SCALE_BITS = ${mode.scale_bits};
constexpr bool POWER_OF_TWO = ${mode.power_of_two ~= 0};  // every scale is one
constexpr bool SCALES_LIN = ${variant.scales == "lin"}, SCALES_BLK = ${variant.scales == "blk"};
constexpr bool SCALES_MN = ${variant.scales == "mn"};
constexpr bool HAS_PAIRS = ${arch.number >= 90};      // arithmetic of two bf16 at a time
constexpr bool HAS_FP8 = ${arch.has_fp8 ~= 0};        // conversions to e4m3 and e5m2
constexpr bool HAS_NARROW = ${arch.use_narrow ~= 0};  // and to e2m3, e3m2, e2m1 and e8m0
