# SPDX-License-Identifier: MIT
"""Faults of any.cu and of the plans for it."""
from edits import Template, change, cut, drop, generic, plan

ROW, COLT = generic("bf16_e4m3_b32_rceil_row"), generic("f32_e5m2_b32_floor_colt")
SQ = generic("f16_e4m3_b16_ceil_sq")
PACKED = generic("bf16_e2m1_b16_floor_row", "bf16_e2m1_b16_floor_colt")
EACH = generic("f32_e2m3_b128_even_row", "bf16_e2m1_b16_even_sqt", "f16_e5m2_b64_pow2_col")
LOADED = "const bool inside = n < args.n && k < args.k;"
STORED = "if (n >= args.n || k >= args.k) continue;"

any_ = Template("any.cu", ROW)

MUTANTS = [
    any_("barrier after the elements dropped", drop("    block_sync();  // orders the elements'"), COLT),
    any_("barrier after the multipliers dropped",
         drop("  block_sync();  // orders the multipliers'")),
    any_("barrier before the next tile dropped",
         drop("  block_sync();  // orders the reads of this tile"), COLT),
    any_("K bound of the load dropped", change(LOADED, "const bool inside = n < args.n;"), EACH),
    any_("N bound of the load dropped", change(LOADED, "const bool inside = k < args.k;"), EACH),
    any_("K bound of the codes dropped", change(STORED, "if (n >= args.n) continue;"), EACH),
    any_("N bound of the codes dropped", change(STORED, "if (k >= args.k) continue;"), EACH),
    any_("padding counted in a maximum",
         change("static_cast<unsigned short>(0)", "static_cast<unsigned short>(0x7E00)")),
    any_("padding of float32 counted in a maximum", change("(element)) : 0u);",
                                                           "(element)) : 0x7E000000u);"), COLT),
    any_("matrix of the input forgotten", change("args.in + at.e * args.stride_e_bytes", "args.in")),
    any_("stride of the input ignored", change("n * args.stride_n_bytes", "n * args.k * IN_SIZE")),
    any_("stride of the matrices ignored",
         change("at.e * args.stride_e_bytes", "at.e * args.n * args.stride_n_bytes")),
    any_("input one element off", change("+ k * IN_SIZE;", "+ (k + 1) * IN_SIZE;")),
    any_("first column left out of a maximum",
         change("unsigned c = lane; c", "unsigned c = lane + (row == 0 && lane == 0); c")),
    any_("last row left out of a maximum", change("r < part::BLOCK_N; r++", "r + 1 < part::BLOCK_N; r++"), COLT),
    any_("a row of the next block counted in a maximum",
         change("r < part::BLOCK_N; r++", "r < part::BLOCK_N + (row + part::BLOCK_N < TILE_N); r++"), COLT),
    any_("column of the next block counted in a maximum",
         change("c < part::BLOCK_K; c", "c < part::BLOCK_K + (column + part::BLOCK_K < TILE_K); c"),
         generic("bf16_e4m3_b16_rceil_row")),
    any_("shuffle of every second lane", change("unsigned mask = 1;", "unsigned mask = 2;")),
    any_("shuffle with half of the lanes", change("mask < part::LANES;", "mask < part::LANES / 2;")),
    any_("shuffle with the next block too", change("mask < part::LANES;", "mask < 32;"),
         generic("bf16_e4m3_b16_rceil_row")),
    any_("shuffle by some lanes",
         change("    for (unsigned mask = 1;", "    if (lane % 8) for (unsigned mask = 1;")),
    any_("scale written by each of a block's threads", cut("    if (lane != 0) continue;\n")),
    any_("multiplier of the next block",
         change("shared_store(MULTIPLIERS + block * 4", "shared_store(MULTIPLIERS + (block ^ 1) * 4")),
    any_("multipliers with the wrong row length",
         change("row / part::BLOCK_N * part::BLOCKS_K +",
                "row / part::BLOCK_N * (part::BLOCKS_K / 2) +"), SQ),
    any_("multipliers in the input tile",
         change("MULTIPLIERS = ${kernel.maxima_offset}", "MULTIPLIERS = ${kernel.in_offset}")),
    any_("shift of six-bit codes forgotten", change("multiplier * OUT_SHIFT)", "multiplier)"),
         generic("bf16_e3m2_b32_floor_row")),
    any_("low and high nibble exchanged",
         [change("unsigned codes = code_of<PART>(row, column);",
                 "unsigned codes = code_of<PART>(row, column) << (PACKED == 2 ? 4 : 0);"),
          change("code_of<PART>(row, column + 1)) << 4;", "code_of<PART>(row, column + 1));")], PACKED),
    any_("the packed neighbour along the other axis",
         change("(TURNED ? code_of<PART>(row + 1", "(!TURNED ? code_of<PART>(row + 1"), PACKED),
    any_("matrix of a row-major output forgotten",
         change("(at.e * args.n + n) * args.k + k", "n * args.k + k")),
    any_("matrix of a column-major output forgotten",
         change("(at.e * args.k + k) * args.n + n", "k * args.n + n"), COLT),
    any_("column-major codes row-major", change("TURNED ? (at.e", "!TURNED ? (at.e"),
         COLT),
    any_("every second tile left out", change("tile += grid_size()", "tile += 2 * grid_size()")),
    any_("tiles in the wrong order", change("strip % args.tiles_k * TILE_K,", "strip * TILE_K,")),
] + [plan(fault, COLT, fault + ", generic") for fault in (
    "stride-n", "stride-n-element", "stride-e", "scale-row", "scale-matrix-stride", "length-k",
    "one-tile-less")]
