# SPDX-License-Identifier: MIT
"""Faults of the kernels of dequantize and of the plans for them."""
from edits import Template, change, cut, drop, plan, swap


def fast(*variants):
    return [f"dequantize_{v}.tma" for v in variants]


def generic(*variants):
    return [f"dequantize_{v}.any" for v in variants]


ROW, COL = fast("e4m3_bf16_b32_e8m0_row_lin"), fast("e4m3_bf16_b32_e8m0_col_lin")
COLT, SQT = fast("e4m3_bf16_b32_e8m0_colt_lin"), fast("e4m3_f32_b32_f32_sqt_lin")
PACKED = fast("e2m1_bf16_b32_e8m0_row_lin", "e2m1_bf16_b32_e8m0_colt_lin")
ROW_ANY, COLT_ANY = generic("e4m3_bf16_b32_e8m0_row_lin"), generic("e4m3_f16_b32_e8m0_colt_lin")
PACKED_ANY = generic("e2m1_bf16_b32_e8m0_row_lin", "e2m1_f32_b32_e8m0_colt_lin")
HALVES = fast("e4m3_f16_b32_e8m0_row_lin", "e4m3_bf16_b32_e8m0_row_lin")
BLK, MN = fast("e4m3_bf16_b32_e8m0_row_blk"), fast("e4m3_bf16_b32_e8m0_row_mn")
SQ = fast("e4m3_bf16_b32_e8m0_sq_lin")

FENCE, SYNC = ("  fence_async_shared();  // orders this thread's elements",
               "  block_sync();  // orders all threads' fences")

tile = Template("dequant_tile.cu", COLT)
row = Template("dequant_row.cu", ROW)
any_ = Template("dequant_any.cu", ROW_ANY)
decode = Template("decode.cuh", ROW)
scale = Template("scale_read.cuh", ROW)

TILE = [
    tile("proxy fence of the elements dropped", drop(FENCE)),
    tile("proxy fence after the barrier", swap(FENCE, SYNC)),
    tile("barrier before the store dropped", drop(SYNC)),
    tile("wait for the load dropped", drop("  barrier_wait(BARRIER, 0);")),
    tile("wait for the phase before the load's", change("barrier_wait(BARRIER, 0)", "barrier_wait(BARRIER, 1)")),
    tile("wait for reading dropped", drop("  bulk_wait_read();")),
    tile("commit dropped", drop("  bulk_commit();")),
    tile("swizzle of the codes forgotten", change("from ^ c * 16", "from")),
    tile("swizzle of the first codes forgotten", change("swizzle<ROW_BYTES>(IN_TILE", "(IN_TILE"), SQT),
    tile("swizzle of the elements forgotten", change("to ^ r * 16", "to")),
    tile("swizzle of the first elements forgotten",
         change("swizzle<ROW_BYTES>(OUT_TILE", "(OUT_TILE")),
    tile("slab of the next tile stored", change("args.out, at.k + slab * SLAB_K,", "args.out, at.k,"), SQT),
    tile("matrix of the codes forgotten", change("at.k, at.e, BARRIER", "at.k, 0, BARRIER")),
    tile("codes counted where the map counts bytes",
         change("at.n / (8 / IN_BITS)", "at.n"), PACKED),
    tile("scale of the first column for all", change("scale[ALONG_K ? 0 : c]", "scale[0]")),
    tile("scale of the first step for all", change("scales.value[SCALES_N == 1 ? 0 : step]",
                                                   "scales.value[0]"),
         fast("e4m3_bf16_b16_e8m0_colt_lin")),
    tile("scales of the next columns", change("my.chunk * CHUNK;\n  // All",
                                              "(my.chunk ^ 1) * CHUNK;\n  // All")),
    tile("rows of a word exchanged", change("multiply(x[c][r],", "multiply(x[c][r ^ 1],")),
]

ROWS = [
    row("K bound dropped", change("n >= args.n || k >= args.k", "n >= args.n")),
    row("N bound dropped", change("n >= args.n || k >= args.k", "k >= args.k")),
    row("rows past N decoded", change("args.n - n >= ROWS", "true")),
    row("matrix of the codes forgotten",
        change("static_cast<unsigned long long>(e) * args.n + n", "0ull * args.n + n")),
    row("codes counted where bytes are read", change("k / (8 / IN_BITS)", "k"), PACKED),
    row("stride of the output ignored", change("to + r * args.stride_n_bytes",
                                               "to + r * (args.k * (OUT_BITS / 8ull))")),
    row("matrix of the output forgotten", change("e * args.stride_e_bytes + ", "")),
    row("scale of the first row for all", change("ALONG_N ? 0 : r]", "0]")),
    row("scale of the first column for all", change("ALONG_K ? 0 : i]", "0]"), COL),
]

GENERIC = [
    any_("barrier before the reads dropped",
         drop("    block_sync();   // orders all threads' scales and codes")),
    any_("barrier after the elements dropped",
         drop("    block_sync();  // orders the stores of elements")),
    any_("scale of the next block", change("at = scale_at(row, column);", "at = scale_at(row, column ^ BLOCK_K);")),
    any_("scales of the first row for two steps", change("i == 0 || !SHARES", "i == 0")),
    any_("second four scales of a chunk the first", change("(at, i * TILE_K / CHUNK * 4)", "(at, 0)"),
         generic("e4m3_bf16_b32_e8m0_col_lin")),
    any_("scales of chunks in order", change("at / 4 % ahead * (TILE_K / ahead) + at / CHUNK * 4 + at % 4", "at"),
         generic("e4m3_bf16_b32_e8m0_col_lin")),
    any_("scales of blocks outside", change("row < at.rows && column < at.columns\n",
                                            "row < at.rows\n")),
    any_("scale of the first column for all", change("scales.value[ALONG_K ? 0 : c]);\n      shared_store(out_tile::place(row, ",
                                                     "scales.value[0]);\n      shared_store(out_tile::place(row, "),
         generic("e4m3_bf16_b32_e8m0_col_lin")),
    any_("scale of the first column for all, by columns",
         change("scales.value[ALONG_K ? 0 : c]);\n      shared_store(out_tile::place(row + r",
                "scales.value[0]);\n      shared_store(out_tile::place(row + r"),
         COLT_ANY),
    any_("rows of a word exchanged", change("multiply(x[c][r],", "multiply(x[c][r ^ 1],"), COLT_ANY),
    any_("columns past K", change("at.rows, at.columns * (OUT_BITS / 8)});",
                                  "at.rows, out_tile::LINE_BYTES});")),
    any_("rows of the output past N", change("args.stride_n_bytes, at.rows,", "args.stride_n_bytes, TILE_N,")),
    any_("codes past N read", change("(COLUMN_MAJOR ? at.rows : at.columns) / PACKED,",
                                     "(COLUMN_MAJOR ? TILE_N : at.columns) / PACKED,"), COLT_ANY),
    any_("codes behind the last ones read", change("(COLUMN_MAJOR ? at.rows_behind : at.columns_behind) / PACKED}", "16u}")),
    any_("half behind a word's end left out", change("(byte + 1) / 4 * 4", "byte / 4 * 4"),
         generic("e2m1_f32_b32_e8m0_sq_mn")),
    any_("first half of a word for both", change("BYTES == 2 ? at % 4 : 0", "BYTES == 2 ? at % 2 : 0"),
         generic("e2m1_f32_b32_e8m0_sq_mn")),
    any_("shift of a chunk's first column for all", change("ahead_of(shift, line + next)", "ahead_of(shift, line)"),
         COLT_ANY),
    any_("column of a chunk the first", change("apart = next * in_tile::LINE_PITCH;\n  if", "apart = 0;\n  if"),
         COLT_ANY + ["--shape", "1,64,64"]),
    any_("column of a shifted chunk the first", change("apart = next * in_tile::LINE_PITCH;\n  const", "apart = 0;\n  const"),
         COLT_ANY),
    any_("bytes of a shift forgotten", change("byte * 8)", "0)")),
    any_("matrix of the output forgotten", cut("at.e * args.stride_e_bytes + ")),
    any_("stride of the output ignored", change("args.stride_n_bytes, at.rows",
                                                "args.k * (OUT_BITS / 8), at.rows")),
    any_("matrix of the row-major codes forgotten", cut("at.e * args.n + ")),
    any_("matrix of the column-major codes forgotten", cut("at.e * args.k + "), COLT_ANY),
    any_("codes counted where bytes are read", change("begin / PACKED, pitch", "begin, pitch"), PACKED_ANY),
    any_("every second tile left out", change("tile += grid_size()", "tile += 2 * grid_size()")),
]

PIECES = [
    decode("NaN of e4m3 not canonical", change("return halves | (nan >> 15) * 0x7E00;",
                                               "return halves;"), ["--arch", "80"] + ROW_ANY),
    decode("exponent of e4m3 one off", change("raise_pair<8>((codes", "raise_pair<7>((codes"),
           ["--arch", "80"] + ROW_ANY),
    decode("order of bytes", change("word >> 16 * pair);\n    else if constexpr (HAS_FP8)",
                                    "word >> 16 * (1 - pair));\n    else if constexpr (HAS_FP8)")),
    decode("order of nibbles", change("x[first + STEP] = widen_f16(halves >> 16);",
                                      "x[first + STEP] = widen_f16(halves & 0xFFFF);"), PACKED),
    decode("nibbles of neighbours together", change("STEP = CONVERTS ? 1 : COUNT / 2",
                                                    "STEP = CONVERTS ? 1 : COUNT / 2 - 1"), PACKED),
    decode("sign of four-bit codes lost", change("(high & 0x80008000) |", ""), PACKED),
    decode("six-bit codes with bits past their sign", change("    word &= 0x3F3F3F3F;", "    ;"),
           ["--arch", "100a", "--narrow"] + fast("e2m3_bf16_b32_e8m0_row_lin")),
    decode("six-bit codes an octave off", change("IN_MANTISSA_BITS == 3 ? 6 : 12",
                                                 "IN_MANTISSA_BITS == 3 ? 5 : 11"),
           fast("e2m3_bf16_b32_e8m0_row_lin", "e3m2_bf16_b32_e8m0_row_lin")),
    decode("elements of a word exchanged", change("round_pair_bf16(x[2 * w], x[2 * w + 1])",
                                                  "round_pair_bf16(x[2 * w + 1], x[2 * w])")),
    decode("rounded to the other type", change("round_pair_f16(x", "round_pair_bf16(x"), HALVES),
    scale("scale index one off", change("n / BLOCK_N * args.scale_pitch + k / BLOCK_K",
                                        "n / BLOCK_N * args.scale_pitch + k / BLOCK_K + 1")),
    scale("scales of the first matrix", change("at = e * args.scale_stride_e", "at = 0 * e")),
    scale("scale 0 is zero", change("code == 0 ? 0x00400000u", "code == 0 ? 0u")),
    scale("scale 255 is infinite", change("0x7FC00000u", "0x7F800000u")),
    scale("tile of scales one off", change("row / 128 * args.scale_pitch + column / 4)",
                                           "row / 128 * args.scale_pitch + column / 4 + 1)"), BLK),
    scale("quarters of a tile of scales exchanged",
          change("row % 128 / 32 * 4 +", "(row % 128 / 32 ^ 1) * 4 +"), BLK),
    scale("words of a column one off", change("column / 4 * args.scale_pitch + row) * 4",
                                              "column / 4 * args.scale_pitch + row + 1) * 4"), MN),
    scale("scale of another byte of a word", change("four.word[i] >> place * 8 & 0xFF",
                                                    "four.word[i] & 0xFF"), MN),
]

HOST = [plan(fault, kernels, f"{fault}, dequantize {what}") for what, kernels, faults in (
    ("by tiles", COLT, ("in-stride", "in-matrix-stride", "out-stride", "out-matrix-stride",
                        "out-swizzle", "in-swizzle", "scale-row", "scale-matrix-stride",
                        "one-block-less")),
    ("by rows", ROW, ("stride-n", "stride-e", "scale-row", "one-block-less", "length-k")),
    ("generic", COLT_ANY, ("stride-n", "stride-e", "scale-row", "one-tile-less", "length-k")),
) for fault in faults]

MUTANTS = TILE + ROWS + GENERIC + PIECES + HOST
