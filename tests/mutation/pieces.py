# SPDX-License-Identifier: MIT
"""Faults of the pieces that kernels share: scales, conversions, places."""
from edits import Template, change, cut, fast, generic

BF16, F16 = fast("bf16_e4m3_b32_rceil_colt"), fast("f16_e4m3_b32_rceil_colt")
INPUTS = fast("f32_e4m3_b32_floor_colt", "f16_e5m2_b32_floor_colt", "bf16_e4m3_b32_rceil_colt")


def of_mode(mode):
    return fast(f"f32_e4m3_b16_{mode}_colt", f"f32_e5m2_b32_{mode}_row", f"bf16_e4m3_b16_{mode}_sq")


def narrow(kernels):
    return ["--arch", "100a", "--narrow"] + kernels


def old(kernels):  # an arch without conversions
    return ["--arch", "80"] + kernels


INFINITE = "if (amax >= 0x7F800000) return {%s"
scale = Template("scale.cuh", None)
SCALE = [
    scale("infinite blocks: > for >=, e8m0",
          change(INFINITE % "255", "if (amax > 0x7F800000) return {255"), INPUTS),
    scale("infinite blocks: > for >=, float32",
          change(INFINITE % "0x7FC00000", "if (amax > 0x7F800000) return {0x7FC00000"),
          of_mode("amax") + of_mode("pow2")),
    scale("NaN blocks with a finite multiplier",
          change(INFINITE % "255, bits_float(0x7FC00000)}",
                 "if (amax >= 0x7F800000) return {255, 1.0f}"), INPUTS),
    scale("floor: exponent one off",
          change("static_cast<int>(amax >> 23) - OUT_EMAX; }",
                 "static_cast<int>(amax >> 23) - OUT_EMAX + 1; }"), of_mode("floor")),
    scale("floor: rounded up", change("static_cast<int>(amax >> 23) - OUT_EMAX; }",
                                      "static_cast<int>((amax + 0x400000) >> 23) - OUT_EMAX; }"),
          of_mode("floor")),
    scale("clamp left out", change("exponent < 0 ? 0 : exponent", "exponent"), of_mode("floor")),
    scale("clamp to 1", change("exponent < 0 ? 0 : exponent", "exponent < 1 ? 1 : exponent"),
          of_mode("floor")),
    scale("multiplier of the next code", change("(254 - code) << 23", "(253 - code) << 23"),
          of_mode("floor")),
    scale("ceil: >= for !=", change("((amax & 0x7FFFFF) != 0)", "((amax & 0x7FFFFF) >= 0)"),
          of_mode("ceil")),
    scale("ceil: > 1 for != 0", change("((amax & 0x7FFFFF) != 0)", "((amax & 0x7FFFFF) > 1)"),
          of_mode("ceil")),
    scale("rceil: >= for > of a subnormal mantissa",
          change("0x3FFFFF", "0x400000"), of_mode("rceil")),
    scale("rceil: >= for !=", change(": 0x7FFFFF)) >> 23", ": 0x800000)) >> 23"), of_mode("rceil")),
    scale("rceil: subnormal products as normal ones",
          change("(d < 0x800000 ? 0x3FFFFF : 0x7FFFFF)", "0x7FFFFF"),
          of_mode("rceil")),
    scale("rceil by the hardware: one off",
          change("static_cast<int>(ceil_e8m0(quotient))", "static_cast<int>(ceil_e8m0(quotient)) + 1"),
          narrow(of_mode("rceil"))),
    scale("saturation forgotten: floor", cut('mode.token == "floor" or '),
          fast("bf16_e2m1_b32_floor_row")),
    scale("saturation forgotten: even", cut(' or mode.token == "even"'),
          fast("bf16_e2m1_b32_even_row")),
    scale("even: > for >= of the tie", change("(1u << (22 - OUT_MANTISSA_BITS));",
                                              "(1u << (22 - OUT_MANTISSA_BITS)) - 1;"),
          of_mode("even")),
    scale("even: a tie too early", change("(1u << (22 - OUT_MANTISSA_BITS));",
                                          "(1u << (22 - OUT_MANTISSA_BITS)) + 1;"),
          of_mode("even")),
    scale("even: rounded at the wrong place",
          change("(22 - OUT_MANTISSA_BITS)", "(21 - OUT_MANTISSA_BITS)"), of_mode("even")),
    scale("even: exponent 255 kept", change("exponent > 254 ? 254 : exponent", "exponent"),
          of_mode("even")),
    scale("amax, pow2: smallest maximum one power lower", change("27u << 23", "26u << 23"),
          of_mode("amax")),
    scale("amax, pow2: smallest maximum one power higher", change("27u << 23", "28u << 23"),
          of_mode("pow2")),
    scale("amax, pow2: smallest maximum left out",
          change("amax < SMALLEST ? SMALLEST : amax", "amax"), of_mode("amax")),
    scale("amax: multiplied, not divided",
          change(": amax) / OUT_MAX)", ": amax) * (1.0f / OUT_MAX))"), of_mode("amax")),
    scale("pow2: >= for > of a power of two", change("bits + 0x7FFFFF", "bits + 0x800000"),
          of_mode("pow2")),
    scale("pow2: one above a power of two as that", change("bits + 0x7FFFFF", "bits + 0x7FFFFE"),
          fast("f32_e4m3_b16_pow2_colt", "f32_e5m2_b16_pow2_colt", "f32_e4m3_b16_pow2_row",
               "f32_e5m2_b16_pow2_row")),
    scale("pow2: rounded down", change("(bits + 0x7FFFFF) &", "bits &"), of_mode("pow2")),
]

SIX, SIX_ROW = fast("f32_e2m3_b32_floor_colt"), fast("bf16_e3m2_b32_floor_row")
convert = Template("convert.cuh", None)
CONVERT = [
    convert("maximum with its sign",
            change("float_bits(column_of(word, column)) & 0x7FFFFFFF",
                   "float_bits(column_of(word, column))"), BF16),
    convert("minima of f16",
            change("max_magnitude_pair_f16(a, b)", "min_pair_f16(a, b)"), F16),
    convert("maxima of bf16 as of f16",
            change("max_magnitude_pair_bf16(a, b)", "max_magnitude_pair_f16(a, b)"), BF16),
    convert("columns of bf16 exchanged",
            change("column ? word & 0xFFFF0000 : word << 16",
                   "column ? word << 16 : word & 0xFFFF0000"), BF16),
    convert("columns of f16 exchanged",
            change("column ? word >> 16 : word & 0xFFFF", "column ? word & 0xFFFF : word >> 16"),
            F16),
    convert("six bits: shift one off", change("(WIDER_BIAS - OUT_BIAS)", "(WIDER_BIAS - OUT_BIAS + 1)"),
            SIX),
    convert("six bits: saturation dropped", change("(wide | over * 0x1F)", "wide"), SIX),
    convert("six bits: saturation to the code below",
            change("over * 0x1F)", "over * 0x1E)"), SIX_ROW),
    convert("six bits: sign lost", cut(" | (wide >> 2 & 0x20202020)"), SIX_ROW),
    convert("six bits: sign in its old place",
            change("wide >> 2 & 0x20202020", "wide & 0x80808080"), SIX),
    convert("six bits: pairs exchanged",
            change("narrow_pair<WIDER_BITS, OUT_MANTISSA_BITS>(c, d) << 16",
                   "narrow_pair<WIDER_BITS, OUT_MANTISSA_BITS>(d, c) << 16"), SIX),
    convert("pairs exchanged", change("narrow_pair<OUT_EXPONENT_BITS, OUT_MANTISSA_BITS>(a, b) |",
                                      "narrow_pair<OUT_EXPONENT_BITS, OUT_MANTISSA_BITS>(b, a) |"),
            BF16),
    convert("low and high nibble exchanged by the hardware's conversion",
            change("narrow_pair<OUT_EXPONENT_BITS, OUT_MANTISSA_BITS>(c, d) <<",
                   "narrow_pair<OUT_EXPONENT_BITS, OUT_MANTISSA_BITS>(d, c) <<"),
            narrow(fast("f32_e2m1_b32_floor_col"))),
] + [convert(f"by arithmetic, {what}: {name}", steps, kernels) for what, kernels in (
    ("e2m1", old(generic("f16_e2m1_b16_floor_row", "bf16_e2m1_b32_even_colt"))),
    ("e4m3", old(generic("f32_e4m3_b16_floor_row", "bf16_e4m3_b32_amax_colt"))),
    ("e3m2", old(generic("f32_e3m2_b16_floor_row"))),
) for name, steps in (
    ("saturation dropped", change("min_number(magnitude(x), OUT_MAX)", "magnitude(x)")),
    ("sign kept in the magnitude", change("min_number(magnitude(x), OUT_MAX)",
                                          "min_number(x, OUT_MAX)")),
    ("smallest exponent one off", change("(128 - OUT_BIAS) << 23", "(129 - OUT_BIAS) << 23")),
    ("smallest exponent one less", change("(128 - OUT_BIAS) << 23", "(127 - OUT_BIAS) << 23")),
    ("anchor one power off",
     change("? LOWEST : exponent) + ((23 - OUT_MANTISSA_BITS) << 23)",
            "? LOWEST : exponent) + ((24 - OUT_MANTISSA_BITS) << 23)")),
    ("codes of the exponent below", change("(anchor - FIRST) >> (23 - OUT_MANTISSA_BITS)",
                                           "(anchor - FIRST) >> (24 - OUT_MANTISSA_BITS)")),
    ("sign lost", change("return code | (float_bits(x) >> 31) << SIGN;", "return code;")),
)] + [
    convert("by arithmetic: NaN lost", cut("  if (OUT_BITS == 8 && !OUT_SIX && x != x) return OUT_NAN;\n"),
            old(generic("f32_e5m2_b16_floor_row", "bf16_e4m3_b32_floor_colt"))),
]

E2M1 = fast("bf16_e2m1_b16_floor_colt", "f16_e2m1_b32_even_sq")
E2M1_ROW = fast("bf16_e2m1_b32_floor_row")
E2M1_F32 = fast("f32_e2m1_b32_ceil_colt", "f32_e2m1_b16_even_sq")
E2M1_F16 = fast("f16_e2m1_b16_floor_colt", "f16_e2m1_b32_even_row")
four = Template("four.cuh", E2M1)
FOUR = [
    four("multipliers of two columns exchanged",
         change("float_bits(scale[1].multiplier * OUT_SHIFT)",
                "float_bits(scale[0].multiplier * OUT_SHIFT)"), BF16),
    four("products of bf16 where scales are no powers of two",
         change("HAS_PAIRS && POWER_OF_TWO &&", "HAS_PAIRS &&"), fast("bf16_e4m3_b32_amax_colt")),
    four("products of bf16 where multipliers are too small for it",
         change("OUT_SHIFT >= 1.0f / 64", "OUT_SHIFT >= 1.0f / 4096"),
         fast("bf16_e3m2_b16_floor_colt", "bf16_e3m2_b16_floor_row")),
    four("anchor one power higher", change("((IN_MANTISSA_BITS - 1) << IN_MANTISSA_BITS);",
                                           "(IN_MANTISSA_BITS << IN_MANTISSA_BITS);")),
    four("anchor one unit off", change("((IN_MANTISSA_BITS - 1) << IN_MANTISSA_BITS);",
                                       "((IN_MANTISSA_BITS - 1) << IN_MANTISSA_BITS) + 1;")),
    four("first line left out", change("smaller_of(smaller_of(steps, twos), fours)",
                                       "smaller_of(twos, fours)")),
    four("second line left out", change("smaller_of(smaller_of(steps, twos), fours)",
                                        "smaller_of(steps, fours)")),
    four("third line left out", change("smaller_of(smaller_of(steps, twos), fours)",
                                       "smaller_of(steps, twos)")),
    four("second line one unit off", change("sum_of(y, HALF, ANCHOR + 2)",
                                            "sum_of(y, HALF, ANCHOR + 3)")),
    four("third line as steep as the second", change("sum_of(y, QUARTER, ANCHOR + 4)",
                                                     "sum_of(y, HALF, ANCHOR + 4)")),
    four("saturation dropped", cut("  if (SATURATES) fours = smaller_of(fours, both(ANCHOR + 7));\n")),
    four("saturation to the code below", change("both(ANCHOR + 7)", "both(ANCHOR + 6)")),
    four("sums of numbers with signs", change("y = x & 0x7FFF7FFF", "y = x")),
    four("sign lost", change("(codes & 0x77777777) | (signs & 0x88888888)", "codes & 0x77777777"),
         fast("bf16_e2m1_b16_floor_colt")),
    four("sign lost, in rows", change(" | (signs & 0x08080808)", ""), E2M1_ROW),
    four("sign of the other code", change("permute_signs(first.sign, second.sign, 0x7351)",
                                          "permute_signs(second.sign, first.sign, 0x7351)"),
         E2M1_ROW),
    four("signs of two rows exchanged", change("(low_signs & 0x0F0F0F0F) | (high_signs & 0xF0F0F0F0)",
                                               "(high_signs & 0x0F0F0F0F) | (low_signs & 0xF0F0F0F0)"),
         fast("bf16_e2m1_b16_floor_colt")),
    four("signs of the elements, not of the products",
         change("fours), x};", "fours), word};"), E2M1_ROW),
    four("codes of two columns exchanged",
         [change("four[0] = eight;", "four[1] = eight;"),
          change("four[1] = eight >> 16;", "four[0] = eight >> 16;")],
         fast("bf16_e2m1_b16_floor_colt")),
    four("low and high nibble exchanged",
         change("(codes & 0x0F0F) | (codes >> 12 & ~0x0F0F)",
                "(codes >> 16 & 0x0F0F) | (codes << 4 & ~0x0F0F)"), E2M1_ROW),
    four("two words exchanged", change("permute_bytes(first.code, second.code,",
                                       "permute_bytes(second.code, first.code,"), E2M1_ROW),
    four("rows of a column exchanged", change("permute_bytes(of[0].code, of[2].code,",
                                              "permute_bytes(of[2].code, of[0].code,"),
         fast("bf16_e2m1_b16_floor_colt")),
    four("multipliers of two columns exchanged, packed",
         change("(float_bits(scale[1].multiplier) & 0xFFFF0000)",
                "(float_bits(scale[0].multiplier) & 0xFFFF0000)"),
         fast("bf16_e2m1_b16_floor_colt")),
    four("halves of a multiplier: odd powers lost", change("k - (k >> 1) : k >> 1", "k >> 1 : k >> 1"),
         E2M1_F16),
    four("halves of a multiplier: large ones cut off",
         change("field < 153 ? field : 153", "field < 140 ? field : 140"), E2M1_F16),
    four("halves of a multiplier: NaN lost", cut("  if (field == 255) return 0x7E00;\n"), E2M1_F16),
    four("halves of a multiplier: one product only", change("second < 2; second++",
                                                           "second < 1; second++"), E2M1_F16),
    four("float32: saturation dropped",
         change("SATURATES && fours > ANCHOR + 7 ? ANCHOR + 7 : fours", "fours"),
         fast("f32_e2m1_b32_floor_colt")),
    four("float32: first line left out", change("steps < twos ? steps : twos", "twos"), E2M1_F32),
    four("float32: second line one unit off", change("bits_float(ANCHOR + 2)",
                                                     "bits_float(ANCHOR + 3)"), E2M1_F32),
    four("float32: third line left out", change("smaller < larger ? smaller : larger", "smaller"),
         E2M1_F32),
    four("float32: sign lost", change("(nan ? 0 : 0x8888)", "0"), E2M1_F32),
    four("float32: signs of a NaN block", change("(nan ? 0 : 0x8888)", "0x8888"), E2M1_F32),
    four("float32: codes of a NaN block as they are", cut(" | (nan ? 0x7777 : 0)"), E2M1_F32),
    four("float32: signs of other elements", change("funnel_right(words[i], signs, 28)",
                                                    "funnel_right(words[3 - i], signs, 28)"),
         E2M1_F32),
    four("float32: low and high nibble exchanged",
         change("code_of(words[i], scale)", "code_of(words[i ^ 1], scale)"), E2M1_F32),
    four("rows of a column exchanged, by conversions",
         change("narrow_four(p[0].column[c], p[1]", "narrow_four(p[1].column[c], p[1]"), BF16),
    four("words exchanged, by conversions",
         change("x[w * COLUMNS + c] =", "x[(w ^ 1) * COLUMNS + c] ="),
         fast("bf16_e4m3_b32_floor_row")),
]

LAYOUTS = fast("bf16_e4m3_b32_rceil_colt", "f32_e5m2_b64_amax_sq", "bf16_e4m3_b32_rceil_row")
tile = Template("tile.cuh", BF16)
place = Template("place.cuh", BF16)
PLACE = [
    place("swizzle left out", change("return offset ^ (offset >> 3 & (SPAN - 16));",
                                     "return offset;")),
    place("swizzle of 64 bytes for 128", change("offset >> 3 & (SPAN - 16)", "offset >> 3 & 0x30")),
    place("swizzle of 128 bytes for 64", change("offset >> 3 & (SPAN - 16)", "offset >> 3 & 0x70"),
          ["quantize_bf16_e2m1_b32_floor_colt_lin.tma-128x128"]),
    place("swizzle from the wrong bits", change("offset >> 3 &", "offset >> 4 &")),
    place("quotient one bit off", change("+ x) >> by.shift", "+ x) >> (by.shift + 1)"), LAYOUTS),
    place("tiles of a matrix counted along N alone",
          change("e = divide(strip, outer);", "e = strip;"), LAYOUTS),
    place("tiles counted along the other axis",
          change("const mxq_divisor &inner = BY_K", "const mxq_divisor &inner = !BY_K"),
          LAYOUTS),
]

TILE = [
    tile("the other column counted once", change("word_max(word, word >> 16 | word << 16)", "word"),
         fast("bf16_e4m3_b32_rceil_sq")),
    tile("quads of packed codes exchanged", change("quad % 2 == 0", "quad % 2 == 1"),
         fast("bf16_e2m1_b32_floor_colt")),
    tile("quads of packed codes in the wrong halves",
         change("four, 0x5410)", "four, 0x1054)"), fast("bf16_e2m1_b32_floor_colt")),
    tile("quads exchanged", change("codes.word[quad] = four;", "codes.word[quad ^ 1] = four;")),
]

MUTANTS = SCALE + CONVERT + FOUR + PLACE + TILE
