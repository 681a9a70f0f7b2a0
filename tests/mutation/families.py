# SPDX-License-Identifier: MIT
"""Faults of one kind in each family of kernels: order of copies, index and matrix of scales, bounds."""
from edits import Template, change, cut, drop, plan


def quantize(*kernels):
    return [f"quantize_{kernel}" for kernel in kernels]


def dequantize(*kernels):
    return [f"dequantize_{kernel}" for kernel in kernels]


tile = Template("tile.tma.cu", quantize("bf16_e4m3_b32_rceil_colt_lin.tma"))
stage = Template("tile_stage.cuh", None)
strip = Template("strip.tma.cu", quantize("bf16_e4m3_b32_rceil_colt_lin.tma-32x64-direct"))
by_tiles = Template("dequant_tile.cu", dequantize("e4m3_bf16_b32_e8m0_colt_lin.tma"))
by_rows = Template("dequant_row.cu", dequantize("e4m3_bf16_b32_e8m0_row_lin.tma"))
one_by_one = Template("dequant_any.cu", dequantize("e4m3_bf16_b32_e8m0_row_lin.any"))
any_ = Template("any.cu", quantize("bf16_e4m3_b32_rceil_rowcolt_lin.any"))

TWO = quantize("bf16_e4m3_b32_rceil_rowcolt_lin.tma", "f16_e5m2_b64_floor_rowcol_blk.tma")
FENCE = "  fence_async_shared();  // orders this thread's"
STORE = "  if (thread_id() == 0) store_tile(args, at);\n"
WAIT = "  barrier_wait(BARRIER, 0);"


def order(template, kernels):
    """What orders a tile's copies, of any kernel that moves one in and one out."""
    return [
        template("fence of the tile dropped", drop(FENCE), kernels),
        template("fence by the issuing thread alone",
                 change(FENCE, "  if (thread_id() == 0) fence_async_shared();  //"), kernels),
        template("fence of the barrier dropped",
                 drop("    fence_async_shared();  // orders the barrier's"), kernels),
        template("barrier after the initialization dropped",
                 drop("  block_sync();  // orders the barrier's"), kernels),
        template("barrier before the store dropped", drop("  block_sync();  // orders all threads' fences"),
                 kernels),
        template("wait by one thread",
                 change(WAIT, "  if (thread_id() == 0) barrier_wait(BARRIER, 0);"), kernels),
        template("expected bytes of half a tile",
                 change("barrier_expect(BARRIER, IN_BYTES)", "barrier_expect(BARRIER, IN_BYTES / 2)"),
                 kernels),
        template("one expected byte less",
                 change("barrier_expect(BARRIER, IN_BYTES)", "barrier_expect(BARRIER, IN_BYTES - 1)"),
                 kernels),
        template("one expected byte more",
                 change("barrier_expect(BARRIER, IN_BYTES)", "barrier_expect(BARRIER, IN_BYTES + 1)"),
                 kernels),
        template("store by two threads",
                 change(STORE, STORE + "  if (thread_id() == 32) store_tile(args, at);\n"), kernels),
        template("wait for reading by another thread",
                 [drop("  bulk_wait_read();"),
                  change(STORE, STORE + "  if (thread_id() == 32) bulk_wait_read();\n")], kernels),
    ]


def named(what, mutants):
    for mutant in mutants:
        mutant.name += f", {what}"
    return mutants


ORDER = named("two parts", order(tile, TWO)) + named(
    "turned", order(by_tiles, dequantize("e4m3_bf16_b32_e8m0_colt_lin.tma",
                                         "e2m1_f32_b64_e8m0_sqt_blk.tma")))
SQ, SQSQT = quantize("bf16_e4m3_b32_rceil_sq_lin.tma"), quantize("bf16_e4m3_b32_rceil_sqsqt_lin.tma")
SQ_STRIP = quantize("bf16_e4m3_b32_rceil_sq_lin.tma-32x64-direct")
BLK_STRIP = quantize("bf16_e4m3_b16_rceil_colt_blk.tma-32x64-direct")
PACKED32 = quantize("f32_e2m1_b32_floor_col_lin.tma")
COL_ANY = dequantize("e4m3_bf16_b32_e8m0_col_lin.any")

SCALES = [
    template(f"{name}, one place for {what}", step, kernels)
    for template, kernels, what, edits in (
        (tile, None, "pairs", (
            ("scale index one off", change("(args.scale, at.e, n, k, first",
                                           "(args.scale, at.e, n, k + 1, first")),
            ("scale row one off", change("(args.scale, at.e, n, k, first",
                                         "(args.scale, at.e, n + BLOCK, k, first")),
            ("matrix of a scale forgotten", change("(args.scale, at.e, n, k, first", "(args.scale, 0u, n, k, first")),
            ("scales exchanged", change("k, first, last)",
                                        "k, last, first)")))),
        (tile, SQ, "squares", (
            ("scale index one off", change("store_scale<MAIN>(args.scale, at.e, n, k,",
                                           "store_scale<MAIN>(args.scale, at.e, n, k + BLOCK,")),
            ("matrix of a scale forgotten", change("store_scale<MAIN>(args.scale, at.e,",
                                                   "store_scale<MAIN>(args.scale, 0u,")))),
        (tile, SQSQT, "second squares", (
            ("scale index one off", change("store_scale<ALSO>(args.also_scale, at.e, n, k,",
                                           "store_scale<ALSO>(args.also_scale, at.e, n, k + BLOCK,")),
            ("matrix of a scale forgotten", change("store_scale<ALSO>(args.also_scale, at.e,",
                                                   "store_scale<ALSO>(args.also_scale, 0u,")))),
        (strip, None, "pairs", (
            ("scale row one off", change("(args.scale, at.e, n, k, scale[0]",
                                         "(args.scale, at.e, n + BLOCK, k, scale[0]")),
            ("matrix of a scale forgotten", change("(args.scale, at.e, n, k, scale[0]", "(args.scale, 0u, n, k, scale[0]")))),
        (strip, SQ_STRIP, "squares", (
            ("scale index one off", change("store_scale<MAIN>(args.scale, at.e, n, k,",
                                           "store_scale<MAIN>(args.scale, at.e, n, k + BLOCK,")),
            ("matrix of a scale forgotten", change("store_scale<MAIN>(args.scale, at.e,",
                                                   "store_scale<MAIN>(args.scale, 0u,")))),
        (strip, BLK_STRIP, "packed", (
            ("scale index one off", change("SCALE_TILE + place,", "SCALE_TILE + (place ^ 1),")),
            ("scale of what lies outside", change("inside ? scale[c].code : 0)",
                                                  "inside ? scale[c].code : 1)")),
            ("matrix of a scale forgotten", change("SCALE_TILE, at.e, at.n", "SCALE_TILE, 0u, at.n")))),
        (by_tiles, None, "reads", (
            ("scale index one off", change("scale_place(args, at.e, n, k)",
                                           "scale_place(args, at.e, n, k + 1)")),
            ("scale row one off", change("scale_place(args, at.e, n, k)",
                                         "scale_place(args, at.e, n + BLOCK_N, k)")),
            ("matrix of a scale forgotten", change("scale_place(args, at.e, n, k)",
                                                   "scale_place(args, 0u, n, k)")))),
        (by_rows, None, "reads", (
            ("scale index one off", change("scale_place(args, e, n, k)",
                                           "scale_place(args, e, n, k + BLOCK_K)")),
            ("scale row one off", change("scale_place(args, e, n, k)", "scale_place(args, e, n + 1, k)")),
            ("matrix of a scale forgotten", change("scale_place(args, e, n, k)",
                                                   "scale_place(args, 0u, n, k)")))),
        (one_by_one, None, "reads", (
            ("scale index one off", change("at.n + row, at.k + column)",
                                           "at.n + row, at.k + column + BLOCK_K)")),
            ("scale row one off", change("at.n + row, at.k + column)",
                                         "at.n + row + 1, at.k + column)")),
            ("matrix of a scale forgotten", change("scale_place(args, at.e, at.n",
                                                   "scale_place(args, length(0), at.n")))),
        (one_by_one, COL_ANY, "columns", (
            ("words exchanged", change("(at, i * TILE_K", "(at, (i ^ 4) * TILE_K")),
            ("next row of blocks", change("at = scale_at(row, column);",
                                          "at = scale_at(row ^ BLOCK_N, column);")))),
    ) for name, step in edits]

BITS = [
    stage("rows of four bytes' columns exchanged, packed",
         change("even_rows | even_rows >> 12", "even_rows | even_rows >> 8"), PACKED32),
    stage("odd rows as even ones, packed", change("both_columns >> 4 & 0x0F0F0F0F",
                                                 "both_columns & 0x0F0F0F0F"), PACKED32),
    stage("rows of the odd column's thread in the even one's place",
         change("(row + odd * 4) * OUT_ROW_BYTES", "row * OUT_ROW_BYTES"), PACKED32),
    any_("store of the first part after the second's barrier alone",
         drop("      block_sync();  // orders the stores of codes")),
]

HOST = [plan(fault, kernels, f"{fault}, {what}") for what, kernels, faults in (
    ("turned", dequantize("e4m3_bf16_b32_e8m0_colt_lin.tma"),
     ("in-box-rows", "in-box-inner", "out-box-rows", "out-box-inner", "out-swizzle-span",
      "out-padding", "in-stride-element")),
    ("rows of dequantize", dequantize("e4m3_bf16_b32_e8m0_row_lin.tma"),
     ("stride-n-element", "scale-matrix-stride")),
    ("generic dequantize", dequantize("e4m3_f16_b32_e8m0_colt_lin.any"),
     ("stride-n-element", "scale-matrix-stride")),
    ("packed strips", BLK_STRIP, ("scale-row", "scale-matrix-stride", "one-block-less")),
    ("two generic parts", quantize("bf16_e4m3_b32_rceil_rowcolt_lin.any"),
     ("second-scale-row", "scale-row", "scale-matrix-stride", "stride-n")),
) for fault in faults]

MUTANTS = ORDER + SCALES + BITS + HOST
