# SPDX-License-Identifier: MIT
"""Faults that show at a few elements only: the last row, one length of many, one path of an access."""
from edits import Template, change, cut


def of(op, *kernels):
    return [f"{op}_{kernel}" for kernel in kernels]


def quantize(*kernels):
    return of("quantize", *kernels)


def dequantize(*kernels):
    return of("dequantize", *kernels)


any_ = Template("any.cu", quantize("bf16_e4m3_b32_rceil_row_lin.any"))
tile = Template("tile.tma.cu", quantize("bf16_e4m3_b32_rceil_colt_lin.tma"))
row = Template("row.tma.cu", quantize("bf16_e4m3_b32_rceil_row_lin.tma"))
extent = Template("extent.cuh", quantize("bf16_e4m3_b32_rceil_row_lin.any"))
lines = Template("lines.cuh", quantize("bf16_e4m3_b32_rceil_row_lin.any"))
columns = Template("columns.cuh", quantize("f32_e4m3_b32_floor_sq_lin.any"))
kept = Template("kept_scales.cuh", quantize("bf16_e4m3_b32_rceil_row_blk.any",
                                            "bf16_e4m3_b32_rceil_colt_blk.any"))
runs = Template("tile_runs.cuh", quantize("bf16_e4m3_b32_rceil_rowcolt_lin.tma"))
run = Template("run.cuh", quantize("bf16_e4m3_b128_rceil_row_lin.tma"))
scales = Template("scales.cuh", None)
move = Template("relayout.cu", ["*_e8m0_*.relayout"])
by_tiles = Template("dequant_tile.cu", dequantize("e4m3_bf16_b32_e8m0_colt_lin.tma"))
by_rows = Template("dequant_row.cu", dequantize("e4m3_bf16_b32_e8m0_row_lin.tma"))
one_by_one = Template("dequant_any.cu", dequantize("e4m3_bf16_b32_e8m0_row_lin.any"))
reads = Template("scale_read.cuh", None)
decode = Template("decode.cuh", None)
place = Template("place.cuh", quantize("bf16_e4m3_b32_rceil_colt_lin.tma"))
four = Template("four.cuh", None)

ROW_ANY = dequantize("e4m3_bf16_b32_e8m0_row_lin.any")
COLT_ANY = dequantize("e4m3_f16_b32_e8m0_colt_lin.any")
PACKED_ANY = dequantize("e2m1_f16_b16_e8m0_row_lin.any", "e2m1_f16_b16_e8m0_colt_lin.any")
BLK_ANY = quantize("bf16_e4m3_b16_rceil_row_blk.any", "f32_e4m3_b16_floor_colt_blk.any")
MN_ANY = quantize("bf16_e4m3_b16_rceil_row_mn.any", "f32_e5m2_b16_floor_col_mn.any")


def later(access, held):
    """The lines that follow a batch of stores begin one line too early."""
    text = ("at += %s * to.pitch)\n      if (first + (batch + i) * STEP < to.lines)\n"
            f"        global_store(reinterpret_cast<{access} *>(at), {held}[i]);")
    return change(text % "STEP", text % "(STEP - (i + 1 == BATCH))")


QUANTIZE = [
    run("NaN of another lane lost",
        change("largest = word_max(largest, shuffle_xor(largest, lanes * lane_step));",
               "{\n        const unsigned other = shuffle_xor(largest, lanes * lane_step);\n"
               "        if (column_magnitude(other, 0) <= 0x7F800000) largest = word_max(largest, other);\n"
               "      }"), quantize("f32_e4m3_b128_floor_row_lin.any")),
    columns("NaN of another lane lost",
            change("largest = word_max(largest, shuffle_xor(largest, mask));",
                   "{\n        const unsigned other = shuffle_xor(largest, mask);\n"
                   "        if (column_magnitude(other, 0) <= 0x7F800000) largest = word_max(largest, other);\n"
                   "      }")),
    lines("last batch of a tile not loaded", change("batch < STEPS / DOWN;", "batch + 1 < STEPS / DOWN;")),
    lines("last line of a tile not loaded", change("first + i * STEP < from.lines",
                                                   "first + i * STEP + 1 < from.lines")),
    lines("last piece of a line not loaded", change("byte + j * LANES * SIZE < end",
                                                    "byte + (j * LANES + 1) * SIZE < end")),
    lines("first line past a tile counted in a maximum",
          change("first + i * STEP < from.lines", "first + i * STEP <= from.lines"),
          quantize("bf16_e4m3_b32_rceil_col_lin.any")),
    kept("rows of scales as long as columns", change("/ ROW * COLUMNS_HELD", "/ ROW * ROWS")),
    extent("matrices counted by the faster axis", change("divide(strip, by_outer)",
                                                         "divide(strip, by_inner)")),
    extent("strips of all matrices in the first", change("strip - e * by_outer.value", "strip")),
    any_("every second run left out", change("THREADS; step++", "THREADS; step += 2")),
    any_("last runs left out", change("step < TILE_N * ROW_RUNS / THREADS;",
                                      "step + 1 < TILE_N * ROW_RUNS / THREADS;")),
    tile("last maximum of a group left out", change("part / GROUPS_K * GROUPS_K;",
                                                    "part / GROUPS_K * GROUPS_K + (part == 1);"),
         quantize("f32_e4m3_b128_rceil_sqt_lin.tma")),
    tile("two rows' codes exchanged at the odd columns",
         change("word % BLOCK_WORDS == 0)", "word % BLOCK_WORDS == BLOCK_WORDS - 1)"),
         quantize("bf16_e4m3_b32_rceil_sq_lin.tma")),
    row("last run of a thread left out", change("step < STEPS; step++) quantize_run",
                                                "step + 1 < STEPS; step++) quantize_run")),
    row("first run of a thread for all", change("load_run(args, run, step)", "load_run(args, run, 0)")),
    runs("last runs of a tile left out", change("below < TILE_N;", "below + STEP_ROWS < TILE_N;")),
    run("scale of the second column", change("column_magnitude(largest, 0)",
                                             "column_magnitude(words[piece * PIECE_WORDS], 0)")),
    place("divisor's shift one more", change("+ x) >> by.shift", "+ x) >> (by.shift + 1)")),
    place("strips of all matrices in the first", change("strip - e * outer.value", "strip")),
    place("bits of the swizzle one higher", change("offset >> 3 & (SPAN - 16)",
                                                   "offset >> 4 & (SPAN - 16)")),
    four("sign of four-bit codes of zero lost",
         [change("const unsigned signs = permute_signs(first", "unsigned signs = permute_signs(first"),
          change("  const unsigned codes =\n      (permute_bytes(first.code, second.code, 0x6240)",
                 "  const unsigned some = permute_bytes(first.code, second.code, 0x6240) & 0x07070707;\n"
                 "  signs &= some << 1 | some << 2 | some << 3;\n"
                 "  const unsigned codes =\n      (permute_bytes(first.code, second.code, 0x6240)")],
         quantize("bf16_e2m1_b32_floor_row_lin.tma")),
]

SCALES = [
    scales("one row past a tile without padding", change("(rows + 127) / 128", "(rows + 126) / 128"),
           BLK_ANY),
    scales("one column past four without padding",
           change("(columns + 3) / 4 * 4", "(columns + 2) / 4 * 4"), BLK_ANY + MN_ANY),
    scales("one row past four without padding", change("    return (rows + 3) / 4 * 4;",
                                                       "    return (rows + 2) / 4 * 4;"), MN_ANY),
    scales("columns of whole blocks only, by tiles",
           change("if (row >= rows_stored<PART>(rows) || column >= columns_stored<PART>(columns)) continue;",
                  "if (row >= rows_stored<PART>(rows) || column >= columns) continue;"),
           quantize("bf16_e4m3_b32_rceil_row_blk.tma", "bf16_e4m3_b64_rceil_colt_blk.tma")),
    scales("a pair of codes in a padding row",
           change("row < rows ? shared_load<unsigned short>(from) : static_cast<unsigned short>(0)",
                  "shared_load<unsigned short>(from)"),
           quantize("bf16_e4m3_b64_rceil_sq_blk.tma", "f32_e4m3_b64_rceil_sqt_mn.tma",
                    "bf16_e4m3_b64_rceil_sqsqt_blk.tma")),
    scales("a single code in a padding row",
           change("row < rows ? shared_load<unsigned char>(from) : static_cast<unsigned char>(0)",
                  "shared_load<unsigned char>(from)"),
           quantize("bf16_e4m3_b128_rceil_sq_blk.tma", "f32_e4m3_b128_rceil_sqt_mn.tma",
                    "bf16_e4m3_b128_rceil_sqsqt_blk.tma")),
]

MOVES = [
    move("one column less of a word", change("quad * 4 + j < args.columns",
                                             "quad * 4 + j + 1 < args.columns")),
    move("one row less of a tile", change("row < args.rows && quad", "row + 1 < args.rows && quad")),
    move("bytes of a word at an odd address exchanged",
         change("global_store(to + j, static_cast<unsigned char>(word >> 8 * j))",
                "global_store(to + (j ^ 1), static_cast<unsigned char>(word >> 8 * j))")),
    move("padding of packed words of any value", change("  unsigned word = 0;",
                                                        "  unsigned word = args.rows == row ? 1 : 0;")),
    move("matrix of lin forgotten on the way back",
         change("global_store(args.dst + e * args.places_e + at,", "global_store(args.dst + at,")),
    move("line of floats with the columns' length",
         change("args.squares ? line * args.pitch + column : column * args.pitch + line",
                "args.squares ? line * args.columns + column : column * args.lines + line"),
         ["*_f32_*_mn.relayout"]),
    move("last thread's place", change("place < args.places;", "place + 1 < args.places;")),
]

DEQUANTIZE = [
    extent("rows of a whole tile", change("part_inside(n, args.n, TILE_N)", "TILE_N"), ROW_ANY),
    extent("columns of a whole tile", change("part_inside(k, args.k, TILE_K)", "TILE_K"), ROW_ANY),
    lines("all batches in the place of the first", cut(" + batch * (STEP * DOWN)"), ROW_ANY),
    lines("line of the second batch for all of it",
          change("at += STEP * from.pitch", "at += batch == 0 ? STEP * from.pitch : 0"), ROW_ANY),
    lines("second batch a line off", change("at += STEP * from.pitch",
                                            "at += (STEP - (i + 1 == DOWN)) * from.pitch"), ROW_ANY),
    lines("second batch of pieces a line off", later("words4", "piece"), ROW_ANY),
    lines("second batch of words a line off", later("unsigned", "word"), ROW_ANY),
    lines("a row past the last read", change("first + i * STEP < from.lines",
                                             "first + i * STEP <= from.lines"), ROW_ANY),
    lines("a column past the last read", change("first + i * STEP < from.lines",
                                                "first + i * STEP <= from.lines"), COLT_ANY),
    one_by_one("lines of packed codes as long as of bytes",
               change("(COLUMN_MAJOR ? at.rows : at.columns) / PACKED});",
                      "COLUMN_MAJOR ? at.rows : at.columns});"), PACKED_ANY),
    one_by_one("rows of scales as long as columns",
               change("(row / BLOCK_N * TILE_BLOCKS_K +", "(row / BLOCK_N * TILE_BLOCKS_N +")),
    one_by_one("scales of the tile's first columns",
               change("at.n + row, at.k + column)", "at.n + row, at.k + 0 * column)")),
    one_by_one("lines of the tile over each other", change("IN_TILE + line * LINE_BYTES",
                                                           "IN_TILE + line * (LINE_BYTES - 16)"),
               COLT_ANY),
    one_by_one("codes of the next word", change("in_tile::place(line, code * IN_BITS / 8);",
                                                "in_tile::place(line, code * IN_BITS / 8) + BYTES;"),
               COLT_ANY),
    one_by_one("last scale of a tile not kept", change("if (thread_id() + i * THREADS < TILE_BLOCKS)",
                                                              "if (thread_id() + i * THREADS + 1 < TILE_BLOCKS)")),
    by_rows("element's row from the wrong thread", change("thread_id() / ROW_THREADS * ROWS",
                                                          "thread_id() / ROW_THREADS")),
    by_rows("rows at the end decoded once", change("row < args.n; row++) decode_rows<1>",
                                                   "row < n + 1; row++) decode_rows<1>")),
    by_rows("second word of codes twice", change("codes.word[w] = two.word[w];",
                                                 "codes.word[w] = two.word[1];")),
    by_tiles("scale of a run's second row", change("row_of(my, s) / RUN * RUN",
                                                   "(row_of(my, s) / RUN + 1) * RUN")),
    by_tiles("scales past K read", change("if (n >= args.n || k >= args.k) continue;",
                                          "if (n >= args.n) continue;")),
    reads("scale of the row itself", change("n / BLOCK_N * BLOCK_N;", "n;"),
          dequantize("e4m3_bf16_b32_e8m0_sq_blk.tma", "e4m3_bf16_b32_e8m0_sq_mn.any")),
    reads("scale 254 is NaN", change("code - 1 < 254 ?", "code - 1 < 253 ?"),
          dequantize("e4m3_bf16_b32_e8m0_row_lin.tma")),
    reads("scale 255 is 2^128", change("code - 1 < 254 ?", "code - 1 < 255 ?"),
          dequantize("e4m3_bf16_b32_e8m0_row_lin.tma")),
    reads("second half of eight scales as the first", change("words[1] = two.word[1];",
                                                             "words[1] = two.word[0];"),
          dequantize("e4m3_bf16_b32_e8m0_col_lin.tma", "e4m3_bf16_b32_e8m0_colt_lin.tma")),
    reads("second four words of floats as the first", change("global_load(words + q)",
                                                             "global_load(words)"),
          dequantize("e4m3_bf16_b32_f32_col_lin.tma", "e4m3_bf16_b32_f32_colt_mn.tma")),
    reads("step of tiles of scales a row off", change("SCALES_BLK ? 16 :", "SCALES_BLK ? 32 :"),
          dequantize("e4m3_bf16_b32_e8m0_row_blk.tma", "e4m3_bf16_b32_e8m0_col_blk.tma")),
    decode("selector of the second pair", change("word, 0, pair ? 0x3424 : 0x1404);\n    else if",
                                                 "word, 0, pair ? 0x2434 : 0x1404);\n    else if"),
           dequantize("e5m2_bf16_b32_e8m0_row_lin.tma")),
    decode("NaN of e4m3 with a sign only", change("(word & 0x7F7F7F7F) + 0x01010101",
                                                  "word + 0x01010101"),
           ["--arch", "80"] + dequantize("e4m3_bf16_b32_e8m0_row_lin.any")),
]

MUTANTS = QUANTIZE + SCALES + MOVES + DEQUANTIZE
