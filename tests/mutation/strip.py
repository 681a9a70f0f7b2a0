# SPDX-License-Identifier: MIT
"""Faults of strip.tma.cu and of the plans for it."""
from edits import Template, change, cut, plan


def direct(*kernels):
    return [f"quantize_{k}-direct" for k in kernels]


PLAIN = direct("bf16_e4m3_b32_rceil_colt_lin.tma-32x64")
ROWS = direct("bf16_e4m3_b32_rceil_col_lin.tma-32x64")  # row-major output
LONG = direct("f32_e4m3_b128_floor_colt_lin.tma-128x32")
SQUARE = direct("bf16_e4m3_b32_rceil_sq_lin.tma-32x64")  # a block over several warps
PACKED = direct("bf16_e2m1_b16_floor_colt_lin.tma-32x64")  # two blocks in a tile
BYTES = direct("f32_e2m1_b32_rceil_col_lin.tma-32x32")  # two threads share a byte
BLK = direct("bf16_e4m3_b16_rceil_colt_blk.tma-32x64")
SQ_BLK = direct("f16_e5m2_b32_floor_sq_blk.tma-32x64")

strip = Template("strip.tma.cu", PLAIN)

MUTANTS = [
    strip("shuffle of every second lane", change("unsigned mask = 1;", "unsigned mask = 2;")),
    strip("shuffle with half of the lanes",
          change("mask < GROUPS * (", "mask < GROUPS / 2 * ("), LONG),
    strip("shuffle with the next column too", change("mask < GROUPS * (", "mask < GROUPS * 2 * (")),
    strip("the other column of a word forgotten",
          cut("  if constexpr (ALONG_K) largest = across_columns(largest);\n"), SQUARE),
    strip("no barrier before the maxima of other warps",
          change("    block_sync();  // orders the stores of all maxima before their loads\n", ""),
          SQUARE),
    strip("maximum of the first warp alone", change("part < PARTS;", "part < 1;"), SQUARE),
    strip("maxima of the next block's warps",
          change("warp / PARTS * PARTS", "(warp / PARTS * PARTS ^ PARTS)"), SQUARE),
    strip("first row left out of a maximum",
          change("unsigned largest = rows[0];", "unsigned largest = 0;")),
    strip("last row left out of a maximum",
          change("for (unsigned r = 1; r < HELD_ROWS; r++) largest",
                 "for (unsigned r = 1; r < HELD_ROWS - 1; r++) largest")),
    strip("padding counted in a maximum",
          change("rows[HELD_ROWS] = {};",
                 "rows[HELD_ROWS];\n  for (unsigned &word : rows) word = 0x7E007E00;")),
    strip("N bound of the load dropped", change("if (k < args.k && n + r < args.n)\n      rows[r]",
                                                "if (k < args.k)\n      rows[r]"), ROWS),
    strip("K bound of the load dropped",
          change("if (k < args.k && n + r < args.n)\n      rows[r]",
                 "if (n + r < args.n)\n      rows[r]")),
    strip("stride of the input ignored",
          change("n * args.stride_n_bytes", "n * (args.k * (IN_BITS / 8ull))")),
    strip("matrix of the input forgotten", change("at.e * args.stride_e_bytes", "0")),
    strip("scale written by no thread",
          change("if (row == block_row &&", "if (row == block_row + 1 &&")),
    strip("scale of the first word for every word of a square block",
          cut(" && word % BLOCK_WORDS == 0"), SQ_BLK),
    strip("scale index one off", change("(args.scale, at.e, n, k, scale[0]",
                                        "(args.scale, at.e, n, k + 1, scale[0]")),
    strip("scales of two columns exchanged",
          change("k, scale[0].code, scale[1].code)", "k, scale[1].code, scale[0].code)")),
    strip("bound of scales dropped", change("if (inside) store_scale_pair", "store_scale_pair")),
    strip("packed scales turned",
          change("line * BLOCKS_N + row / BLOCK;", "row / BLOCK * TILE_K + line;"), BLK),
    strip("no barrier before packed scales leave",
          cut("    block_sync();  // orders the stores of all scales before their loads\n"), BLK),
    strip("codes of the two columns exchanged",
          change("place_four(codes[c], quad", "place_four(codes[c ^ (COLUMNS - 1)], quad")),
    strip("codes of the first quad twice",
          change("narrow_down(rows + quad * 4", "narrow_down(rows")),
    strip("halves of packed codes exchanged",
          change("place_four(codes[c], quad,", "place_four(codes[c], quad ^ 1,"),
          PACKED),
    strip("bound of a column's store dropped",
          change("if (k < args.k && n < args.n)\n", "if (k < args.k)\n")),
    strip("column of the output one off",
          change("matrix + k * static_cast", "matrix + (k + 1) * static_cast")),
    strip("matrix of the output forgotten",
          change("static_cast<unsigned long long>(at.e) * args.n", "0ull * args.n")),
    strip("row of the output one off",
          change("matrix + n * static_cast", "matrix + (n + 1) * static_cast"), ROWS),
    strip("codes of the second row in the first",
          change("to + r * pitch),\n                     static_cast",
                 "to),\n                     static_cast"), ROWS),
    strip("codes exchanged with the wrong lane",
          change("shuffle_xor(four, GROUPS)", "shuffle_xor(four, 1)"), BYTES),
    strip("nibbles exchanged",
          change("const unsigned odd = k % 2;", "const unsigned odd = 1 - k % 2;"), BYTES),
] + [plan(fault, PLAIN, fault + ", strips") for fault in (
    "stride-n", "stride-n-element", "stride-e", "scale-row", "scale-matrix-stride", "length-k",
    "one-block-less")]
