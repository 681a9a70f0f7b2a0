# SPDX-License-Identifier: MIT
"""Faults of packed scales and of the first of two parts, and of the plans for them."""
from edits import Template, change, drop, plan


def fast(*variants):
    return [f"quantize_{v}.tma" for v in variants]


def each(*variants):
    return [f"quantize_{v}.{family}" for v in variants for family in ("tma", "any")]


ROW_BLK, ROW_MN = fast("bf16_e4m3_b32_rceil_row_blk"), fast("bf16_e4m3_b32_rceil_row_mn")
COLT_BLK = fast("bf16_e4m3_b32_rceil_colt_blk")
FLOATS = each("bf16_e4m3_b128_amax_row_mn", "bf16_e4m3_b128_amax_sq_mn")
PACKED = each("bf16_e4m3_b32_rceil_colt_blk", "bf16_e4m3_b32_rceil_row_mn")
TWO, TWO_BLK = fast("bf16_e4m3_b32_rceil_rowcolt_lin"), fast("bf16_e4m3_b32_rceil_rowcolt_blk")
TWO_FLOATS = fast("f32_e4m3_b16_amax_rowcolt_lin")
LONG = fast("bf16_e4m3_b128_rceil_rowcolt_lin")  # a block in four runs
SQUARES = fast("bf16_e4m3_b32_rceil_sqsqt_blk")
GENERIC = ["quantize_bf16_e4m3_b32_rceil_rowcolt_lin.any"]
GENERIC_BLK = ["quantize_bf16_e4m3_b32_rceil_rowcolt_blk.any"]

scales = Template("scales.cuh", PACKED)
by_tile = Template("scales_tile.cuh", PACKED)
tile = Template("tile.tma.cu", TWO)
runs = Template("tile_runs.cuh", TWO)
run = Template("run.cuh", LONG)
row = Template("row.tma.cu", ROW_BLK)
any_ = Template("any.cu", GENERIC)

BYTES, FLOAT_SCALES = ["*_e8m0_*.relayout"], ["*_f32_row_mn.relayout"]
move = Template("relayout.cu", BYTES)
MOVES = [
    move("rows of a tile exchanged", change("in_tile % 4 * 32 + in_tile / 4", "in_tile")),
    move("tiles of a row exchanged", change("tile / args.pitch * 128 +", "tile * 128 +")),
    move("scales of the first matrix", change("args.src + e * args.lines * args.columns;\n  unsigned",
                                              "args.src;\n  unsigned")),
    move("padding rows read", change("if (row < args.rows && quad", "if (quad")),
    move("padding columns read", change("row < args.rows && quad * 4 + j < args.columns",
                                        "row < args.rows")),
    move("row of a block for the block", change("row / args.block, quad", "row, quad")),
    move("words at any address", change("if (reinterpret_cast<length>(to) % 4 == 0)", "if (true)")),
    move("another copy of a block's scale", change("line * args.block, column)",
                                                   "line * args.block + args.block - 1, column)")),
    move("order of a word", change("(word >> 8 * j)", "(word >> 8 * (3 - j))")),
    move("lines and columns of lin exchanged",
         change("args.columns_inner ? line * args.columns", "!args.columns_inner ? line * args.columns")),
    move("padding of floats read", change("line < args.lines && column < args.columns", "true"),
         FLOAT_SCALES),
    move("squares as lines", change("args.squares ? outer : inner", "inner"), FLOAT_SCALES),
    move("a step of one block", change("grid_size()) * THREADS", "1u) * THREADS")),
]

PLACES = [
    scales("tile of scales one off", change("row / 128 * pitch + column / 4)",
                                            "row / 128 * pitch + column / 4 + 1)"), COLT_BLK),
    scales("rows of tiles as long as one tile", change("row / 128 * pitch", "row / 128"),
           COLT_BLK),
    scales("rows of a tile of scales closer", change("row % 32 * 16", "row % 32 * 8"), COLT_BLK),
    scales("quarters of a tile of scales exchanged",
           change("row % 128 / 32 * 4 +", "(row % 128 / 32 ^ 1) * 4 +"), COLT_BLK),
    scales("words of a column one off", change("column / 4 * pitch + row)",
                                               "column / 4 * pitch + row + 1)"), ROW_MN),
    scales("columns of words as long as rows", change("column / 4 * pitch + row)",
                                                      "column / 4 + row)"), ROW_MN),
    scales("axes of float scales exchanged",
           change("COLUMNS_INNER ? line * pitch", "!COLUMNS_INNER ? line * pitch"), FLOATS),
    scales("a row for each row of a square", change("part::SQUARE ? row / BLOCK : row",
                                                    "row"), FLOATS),
    by_tile("rows of one tile at another's", change("line % 4 * 32 + line % 128 / 4",
                                                   "line % 4 * 32 + line % 128 / 8"), COLT_BLK),
    by_tile("matrix of a scale tile forgotten", change("(e * scales.stride_e + scale_place<PART>(scales.pitch, row, column)) * SCALE_SIZE",
                                                      "scale_place<PART>(scales.pitch, row, column) * SCALE_SIZE")),
    scales("matrix of a scale forgotten",
           change("e * scales.stride_e + scale_place<PART>(scales.pitch, row + copy, column)",
                  "scale_place<PART>(scales.pitch, row + copy, column)"), FLOATS),
    by_tile("linear scales by words at any address",
           change("if (!aligned_scales(scales, ACCESS))", "if (false)"), TWO),
    by_tile("linear scales by words in rows of any length",
           change("((scales.stride_e | scales.pitch) & (count - 1))", "(scales.stride_e & (count - 1))"), TWO),
    by_tile("linear scales past the last column", change("if (column + c < columns)\n            global_store",
                                                        "global_store"), TWO),
    by_tile("linear float scales by words at any address",
           change("if (!aligned_scales(scales, ACCESS))", "if (false)"), TWO_FLOATS),
    by_tile("float scales of a tile a byte apart",
           change("* COLUMNS_HELD + first) * SCALE_SIZE", "* COLUMNS_HELD + first)"), TWO_FLOATS),
    by_tile("float scales a byte apart", change("(scales.pitch, row, column)) * SCALE_SIZE",
                                               "(scales.pitch, row, column))"), TWO_FLOATS),
    by_tile("one scale for those of an access", change("shared_load<one>(from, c * SCALE_SIZE)",
                                                      "shared_load<one>(from)"), TWO + TWO_FLOATS),
    by_tile("scale tile of the wrong row",
           change("(part::SQUARE ? local / BLOCK : local)", "(part::SQUARE ? local / BLOCK : local ^ 1)")),
    by_tile("scale tile by whole squares", change("part::SQUARE ? local / BLOCK : local",
                                                 "part::SQUARE ? 0 : local"), SQUARES),
]

PADDING = [
    scales("padding rows not written", change("(rows + 127) / 128 * 128", "(rows + 3) / 4 * 4"),
           PACKED),
    scales("padding rows of mn not written", change("    return (rows + 3) / 4 * 4;",
                                                    "    return rows;"), ROW_MN + FLOATS),
    scales("padding columns not written", change("(columns + 3) / 4 * 4", "columns"), PACKED),
    by_tile("a code in a padding row, by tiles",
           change("if (row >= rows) together = 0;", ""),
           SQUARES + fast("bf16_e4m3_b32_rceil_sqsqt_mn")),
    scales("padding rows past the stored ones", change("if (row + copy < rows_stored<PART>(rows))",
                                                       "if (row + copy < rows_stored<PART>(rows) + 4)"),
           ["quantize_f32_e4m3_b32_amax_col_mn.any"]),
    scales("padding columns past the stored ones",
           change("if (column >= columns_stored<PART>(columns)) return;\n", ""), 
           ["quantize_bf16_e4m3_b16_amax_sq_mn.any"]),
    tile("scale of what lies outside", change("inside ? c ? last : first : 0)", "inside ? c ? last : first : 1)"),
         COLT_BLK),
    runs("scale of a run outside", change(">(n < args.n && k < args.k ? code : 0)",
                                          ">(n < args.n && k < args.k ? code : 1)"),
         TWO_BLK),
    runs("float scales of a run a byte apart",
         change("column / BLOCK + piece) * SCALE_SIZE", "column / BLOCK + piece)"), TWO_FLOATS),
    row("scale of a row outside", change("inside ? code : 0", "inside ? code : 1")),
]

TILES = [
    tile("one scale tile for both parts",
         change("ALSO_SCALE_TILE = SCALE_TILE + (SCALES_BY_TILES ? SCALE_BYTES : 0)",
                "ALSO_SCALE_TILE = SCALE_TILE"),
         TWO_BLK),
    tile("lines of a scale tile exchanged",
         change("scales_of<MAIN>::ROWS_N ? straight", "!scales_of<MAIN>::ROWS_N ? straight"),
         COLT_BLK),
    row("barrier between scales and their loads dropped",
        drop("    block_sync();  // orders the stores of all scales")),
    row("scales of a tile in the wrong column",
        change("run.row * TILE_COLUMNS + column", "run.row * TILE_COLUMNS + 1 + column")),
]

FIRST_PART = [
    tile("first part not stored",
         change("  if constexpr (ALSO != 0) map_store", "  if constexpr (ALSO == 7) map_store")),
    tile("matrix of the first part forgotten",
         change("map_store(args.also, at.k / PACKED, at.n, at.e,",
                "map_store(args.also, at.k / PACKED, at.n, 0,")),
    tile("first part stored from the second", change("at.n, at.e, ALSO_TILE)",
                                                     "at.n, at.e, OUT_TILE)")),
    tile("one load less", change("slab < WORDS / SLAB_WORDS; slab++",
                                 "slab + 1 < WORDS / SLAB_WORDS; slab++")),
    tile("all loads of one place", change("at.k + slab * SLAB_WORDS * COLUMNS, at.n,", "at.k, at.n,")),
    tile("all loads to one place", change("map_load(IN_TILE + slab * IN_SLAB_BYTES,",
                                          "map_load(IN_TILE,")),
    tile("swizzle of the input forgotten", change("return swizzle<128>(IN_TILE", "return (IN_TILE")),
    runs("swizzle of the first part forgotten", change("return swizzle<OUT_ROW_BYTES>(ALSO_TILE",
                                                       "return (ALSO_TILE")),
    runs("words of a run exchanged", change("^ w * 4)", "^ (w ^ 4) * 4)")),
    runs("chunks of a run exchanged", change("codes_chunk(codes, chunk)",
                                             "codes_chunk(codes, chunk ^ 1)")),
    runs("steps closer than their rows", change("from + below * 128", "from + below * 64")),
    runs("codes of a step in another row", change("(to + below * OUT_ROW_BYTES) ^",
                                                  "(to + below / 2 * OUT_ROW_BYTES) ^")),
    runs("scale of every run of a block", change("  if (column % BLOCK != 0) return;\n", ""), LONG),
    runs("scale index one off", change("column + piece * BLOCK;", "column + BLOCK + piece * BLOCK;")),
    runs("scale index in the tile one off", change("column / BLOCK + piece) * SCALE_SIZE",
                                                   "column / BLOCK + piece + 1) * SCALE_SIZE"), TWO_BLK),
    run("shuffle of neighbours, which hold other rows",
        change("shuffle_xor(largest, lanes * lane_step)", "shuffle_xor(largest, lanes)")),
    any_("scales of the first part in those of the second",
         change("(args, args.also_scale, at);\n        lines", "(args, args.scale, at);\n        lines")),
    any_("codes of the first part in those of the second",
         change("lines_of<ALSO>(args, args.also,", "lines_of<ALSO>(args, args.out,")),
    any_("lines of the first part for both", change("lines_of<ALSO>(args", "lines_of<MAIN>(args")),
    any_("kept scales of the first part in those of the second",
         change("store_kept_scales<ALSO>(args, args.also_scale", "store_kept_scales<ALSO>(args, args.scale"),
         GENERIC_BLK),
    any_("kept scales of the first part for both", change("if (turn == 0)\n", "if (true)\n"), GENERIC_BLK),
    any_("barrier between the parts dropped", drop("      block_sync();  // orders loads of rows")),
    any_("second part left out", change("ALSO == 0 || turn != 0", "true")),
]

HOST = [plan(fault, TWO, f"{fault}, two parts") for fault in (
    "in-swizzle", "in-box-rows", "out-swizzle", "out-stride", "out-matrix-stride", "scale-row",
    "second-stride", "second-matrix-stride", "second-swizzle", "second-box-rows",
    "second-scale-row")] + [
        plan("scale-row", COLT_BLK, "tiles in a row of tiles of scales"),
        plan("scale-matrix-stride", ROW_MN, "scale-matrix-stride, packed"),
        plan("one-block-less", COLT_BLK, "one-block-less, of padding")]

MUTANTS = MOVES + PLACES + PADDING + TILES + FIRST_PART + HOST
