# SPDX-License-Identifier: MIT
"""Faults that show at a few elements only: the last row, one length of many, one path of an access."""
from edits import Template, change, cut


def of(op, *kernels):
    return [f"{op}_{kernel}" for kernel in kernels]


def quantize(*kernels):
    return of("quantize", *kernels)


def dequantize(*kernels):
    return of("dequantize", *kernels)


tile = Template("tile.tma.cu", quantize("bf16_e4m3_b32_rceil_colt_lin.tma"))
run = Template("run.cuh", quantize("bf16_e4m3_b128_rceil_row_lin.tma"))
scales = Template("scales.cuh", None)
by_tile = Template("scales_tile.cuh", None)
move = Template("relayout.cu", ["*_e8m0_*.relayout"])
by_tiles = Template("dequant_tile.cu", dequantize("e4m3_bf16_b32_e8m0_colt_lin.tma"))
by_rows = Template("dequant_row.cu", dequantize("e4m3_bf16_b32_e8m0_row_lin.tma"))
one_by_one = Template("dequant_any.cu", dequantize("e4m3_bf16_b32_e8m0_row_lin.any"))
reads = Template("scale_read.cuh", None)
decode = Template("decode.cuh", None)
place = Template("place.cuh", quantize("bf16_e4m3_b32_rceil_colt_lin.tma"))

BLK_ANY = quantize("bf16_e4m3_b16_rceil_row_blk.any", "f32_e4m3_b16_floor_colt_blk.any")
MN_ANY = quantize("bf16_e4m3_b16_rceil_row_mn.any", "f32_e5m2_b16_floor_col_mn.any")

QUANTIZE = [
    tile("last maximum of a group left out", change("part / GROUPS_K * GROUPS_K;",
                                                    "part / GROUPS_K * GROUPS_K + (part == 1);"),
         quantize("f32_e4m3_b128_rceil_sqt_lin.tma")),
    tile("two rows' codes exchanged at the odd columns",
         change("word % BLOCK_WORDS == 0)", "word % BLOCK_WORDS == BLOCK_WORDS - 1)"),
         quantize("bf16_e4m3_b32_rceil_sq_lin.tma")),
    run("scale of the first word", change("<true>(across_columns(largest),",
                                          "<true>(across_columns(words[piece * PIECE_WORDS]),")),
    place("divisor's shift one more", change("+ x) >> by.shift", "+ x) >> (by.shift + 1)")),
    place("bits of the swizzle one higher", change("offset >> 3 & (SPAN - 16)",
                                                   "offset >> 4 & (SPAN - 16)")),
]

SCALES = [
    scales("one row past a tile without padding", change("(rows + 127) / 128", "(rows + 126) / 128"),
           BLK_ANY),
    scales("one column past four without padding",
           change("(columns + 3) / 4 * 4", "(columns + 2) / 4 * 4"), BLK_ANY + MN_ANY),
    scales("one row past four without padding", change("    return (rows + 3) / 4 * 4;",
                                                       "    return (rows + 2) / 4 * 4;"), MN_ANY),
    by_tile("columns of whole blocks only, by tiles",
           change("if (row >= rows_stored<PART>(rows) || column >= columns_stored<PART>(columns)) continue;",
                  "if (row >= rows_stored<PART>(rows) || column >= columns) continue;"),
           quantize("bf16_e4m3_b32_rceil_row_blk.tma", "bf16_e4m3_b64_rceil_colt_blk.tma")),
    by_tile("scales two an access in a padding row",
           change("if (row >= rows) together = 0;", ""),
           quantize("bf16_e4m3_b64_rceil_sq_blk.tma", "f32_e4m3_b64_rceil_sqt_mn.tma",
                    "bf16_e4m3_b64_rceil_sqsqt_blk.tma")),
    by_tile("scales one an access in a padding row",
           change("if (row >= rows) together = 0;", ""),
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
    one_by_one("scales of the tile's first columns",
               change("at.n + row, at.k + column)", "at.n + row, at.k + 0 * column)")),
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

loads = Template("lines_in.cuh", quantize("bf16_e4m3_b32_rceil_row_lin.any"))
stores = Template("lines_out.cuh", quantize("bf16_e4m3_b32_rceil_row_lin.any"))
extent = Template("extent.cuh", quantize("bf16_e4m3_b32_rceil_row_lin.any"))
kept = Template("kept_scales.cuh", quantize("bf16_e4m3_b32_rceil_row_blk.any"))
DEQUANT_ANY = dequantize("e4m3_bf16_b32_e8m0_row_lin.any", "e2m1_f16_b32_e8m0_colt_lin.any")
LINES = [
    loads("line past the last loaded", change("line < from.lines && holds", "line <= from.lines && holds")),
    loads("ends of loaded lines of words left out", change("from.bytes) % 16 != 0", "from.bytes) % 4 != 0"),
          dequantize("e4m3_bf16_b32_e8m0_row_lin.any") + ["--shape", "2,35,132"]),
    loads("line that ends a byte short of a piece", change("at + 16 <= ahead", "at + 15 <= ahead"),
          dequantize("e4m3_bf16_b32_e8m0_row_lin.any") + ["--shape", "1,1,47"]),
    stores("pieces of 16 bytes at words", change("to.bytes) % 16 == 0", "to.bytes) % 4 == 0"),
           DEQUANT_ANY + ["--shape", "2,36,132"]),
    stores("piece past the end stored", change("if (byte >= to.bytes) return", "if (byte > to.bytes) return")),
    stores("line past the last stored, by pieces",
           change("if (first + i < to.lines)", "if (first + i <= to.lines)")),
    stores("line past the last stored, by sectors",
           change("exists = first + i < to.lines", "exists = first + i <= to.lines")),
    stores("word behind the last sector", change("lane * 4 + byte < whole", "lane * 4 + byte <= whole")),
    stores("last byte of a head left out", change("in_head = part < head", "in_head = part + 1 < head")),
    stores("first byte of a tail left out", change("part + tail >= 32", "part + tail > 32")),
    stores("tails that reach into heads left out", change("if (in_head && in_tail)", "if (false)"),
           quantize("bf16_e4m3_b32_rceil_row_lin.any") + ["--shape", "1,2,33"]),
    stores("tails that reach into heads of the first lines alone",
           change("i < to.lines; i += ALIKE", "i < ALIKE; i += ALIKE"),
           quantize("bf16_e4m3_b32_rceil_row_lin.any") + ["--shape", "1,35,33"]),
    stores("tails that reach into heads, from these",
           change("place(i, to.bytes - 32 + part)", "place(i, part)"),
           quantize("bf16_e4m3_b32_rceil_row_lin.any") + ["--shape", "1,35,33"]),
    extent("outer digit not taken back", change("if (at.outer >= outer) at.outer -= outer;", "")),
    extent("all of the last tile", change("end - begin < most ?", "end - begin < 1 ?")),
    kept("rows of squares", change("constexpr unsigned ROW = SQUARE ? BLOCK : 1;",
                                   "constexpr unsigned ROW = 1;"),
         quantize("bf16_e4m3_b32_rceil_sq_blk.any")),
    kept("columns of blocks by elements", change("(tile::ROWS_N ? at.k : at.n) / BLOCK + first",
                                                 "(tile::ROWS_N ? at.k : at.n) + first")),
    kept("rows of padding of any value", change("row < rows ? shared_load", "true ? shared_load"),
         quantize("bf16_e4m3_b32_rceil_sq_blk.any")),
    kept("scales one by one past the rows", cut("row >= rows_stored<PART>(rows) || "),
         quantize("bf16_e4m3_b32_rceil_row_mn.any")),
    kept("scales one by one past the columns", cut(" || column >= columns_stored<PART>(columns)")),
]

MUTANTS = LINES + QUANTIZE + SCALES + MOVES + DEQUANTIZE
