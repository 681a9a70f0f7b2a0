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
          change("mantissa > 0x400000", "mantissa >= 0x400000"), of_mode("rceil")),
    scale("rceil: >= for !=", change("mantissa != 0", "mantissa >= 0"), of_mode("rceil")),
    scale("rceil: subnormal products as normal ones",
          change("exponent ? mantissa != 0 : mantissa > 0x400000", "mantissa != 0"),
          of_mode("rceil")),
    scale("rceil by the hardware: one off",
          change("static_cast<int>(ceil_e8m0(quotient))", "static_cast<int>(ceil_e8m0(quotient)) + 1"),
          narrow(of_mode("rceil"))),
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
    convert("maxima of f16 as of unsigned numbers",
            change("max_magnitude_pair_f16(a, b)", "max_pair_u16(a, b)"), F16),
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
    ("e2m1", generic("f32_e2m1_b16_floor_row", "bf16_e2m1_b32_even_colt")),
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
         cut("POWER_OF_TWO && "), fast("bf16_e4m3_b32_amax_colt")),
    four("products of bf16 where multipliers are too small for it",
         change("OUT_SHIFT >= 1.0f / 64", "OUT_SHIFT >= 1.0f / 4096"),
         fast("bf16_e3m2_b16_floor_colt", "bf16_e3m2_b16_floor_row")),
    four("anchor one power higher", change("(IN_MANTISSA_BITS - 1) << IN_MANTISSA_BITS;",
                                           "IN_MANTISSA_BITS << IN_MANTISSA_BITS;")),
    four("anchor one unit off", change("(IN_MANTISSA_BITS - 1) << IN_MANTISSA_BITS;",
                                       "((IN_MANTISSA_BITS - 1) << IN_MANTISSA_BITS) + 1;")),
    four("anchor counts from a step higher", change("pair_f16(y, anchor);\n  return {sum + (anchor",
                                                    "pair_f16(y, anchor);\n  return {sum + both(1) + (anchor")),
    four("saturation dropped", change("((SMALLEST + 2) <<", "((SMALLEST + 3) <<")),
    four("saturation to the code below", change("(1u << (IN_MANTISSA_BITS - 1));", "0;")),
    four("smallest exponent one off",
         change("both(SMALLEST << IN_MANTISSA_BITS)", "both((SMALLEST + 1) << IN_MANTISSA_BITS)")),
    four("smallest exponent left out",
         change("max_pair_u16(y & FIELD, both(SMALLEST << IN_MANTISSA_BITS))", "y & FIELD")),
    four("sign lost", cut(" | (pair.sign >> (12 - at) & both(8u << at))")),
    four("sign of the other code",
         change("pair.sign >> (12 - at)", "(pair.sign << 16 | pair.sign >> 16) >> (12 - at)")),
    four("codes of two columns exchanged",
         [change("four[0] = codes & 0xFFFF;", "four[1] = codes & 0xFFFF;"),
          change("four[1] = codes >> 16;", "four[0] = codes >> 16;")],
         fast("bf16_e2m1_b16_floor_colt")),
    four("low and high nibble exchanged",
         change("(codes | codes >> 12) & 0xFFFF", "((codes << 4) | (codes >> 16)) & 0xFFFF"),
         E2M1_ROW),
    four("two words exchanged", change("codes_of(words[i], scale), 8 * i)",
                                       "codes_of(words[i], scale), 8 * (1 - i))"), E2M1_ROW),
    four("rows of a column exchanged", change("codes_of(words[i], scale), 4 * i)",
                                              "codes_of(words[i], scale), 4 * (i ^ 1))"),
         fast("bf16_e2m1_b16_floor_colt")),
    four("multipliers of two columns exchanged",
         change("(float_bits(scale[1].multiplier * 0.5f) & 0xFFFF0000)",
                "(float_bits(scale[0].multiplier * 0.5f) & 0xFFFF0000)"),
         fast("bf16_e2m1_b16_floor_colt")),
    four("products of bf16 not halved",
         change("float_bits(scale[0].multiplier * 0.5f)", "float_bits(scale[0].multiplier)"),
         E2M1_ROW),
    four("halves of a multiplier: odd powers lost", change("k - (k >> 1) : k >> 1", "k >> 1 : k >> 1"),
         E2M1_F16),
    four("halves of a multiplier: large ones cut off",
         change("field < 153 ? field : 153", "field < 140 ? field : 140"), E2M1_F16),
    four("halves of a multiplier: NaN lost", cut("  if (field == 255) return 0x7E00;\n"), E2M1_F16),
    four("halves of a multiplier: one product only", change("second < 2; second++",
                                                           "second < 1; second++"), E2M1_F16),
    four("float32: saturation dropped",
         change("min_number(magnitude(x), bits_float(LARGEST_BITS))", "magnitude(x)"), E2M1_F32),
    four("float32: products not halved", change("scale[0].multiplier * 0.5f);\n  const float y",
                                                "scale[0].multiplier);\n  const float y"), E2M1_F32),
    four("float32: smallest exponent left out",
         change("(field < LOWEST ? LOWEST : field)", "field"), E2M1_F32),
    four("float32: sign lost", cut(" | (of.sign >> (28 - 4 * i) & 8u << 4 * i)"), E2M1_F32),
    four("float32: low and high nibble exchanged",
         change("code_of(words[i], scale);", "code_of(words[i ^ 1], scale);"), E2M1_F32),
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
          change("const unsigned e = divide(strip, args.tiles_k);", "const unsigned e = strip;"),
          LAYOUTS),
]

TILE = [
    tile("the other column counted once", change("word_max(word, word >> 16 | word << 16)", "word"),
         fast("bf16_e4m3_b32_rceil_sq")),
    tile("quads of packed codes exchanged", change("quad % 2 == 0", "quad % 2 == 1"),
         fast("bf16_e2m1_b32_floor_colt")),
    tile("quads exchanged", change("codes.word[quad] = four;", "codes.word[quad ^ 1] = four;")),
]

MUTANTS = SCALE + CONVERT + FOUR + PLACE + TILE
