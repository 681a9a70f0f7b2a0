# SPDX-License-Identifier: MIT
"""Faults of any.cu, of the pieces that only generic kernels have, and of the plans for them."""
from edits import Template, change, cut, drop, generic, plan

ROW, COLT = generic("bf16_e4m3_b32_rceil_row"), generic("f32_e5m2_b32_floor_colt")
SQ, COL = generic("f16_e4m3_b16_ceil_sq"), generic("bf16_e4m3_b32_rceil_col")
TURNED, LONG = generic("bf16_e4m3_b16_rceil_colt"), generic("f16_e5m2_b64_pow2_col")
PACKED = generic("bf16_e2m1_b16_floor_row", "bf16_e2m1_b16_floor_colt")
PIECES = generic("bf16_e2m1_b16_floor_row")
EACH = generic("f32_e2m3_b128_even_row", "bf16_e2m1_b16_even_sqt", "f16_e5m2_b64_pow2_col")
SHIFTED = generic("bf16_e4m3_b32_rceil_row", "f16_e4m3_b16_ceil_sq") + [
    "dequantize_e4m3_bf16_b32_e8m0_row_lin.any", "dequantize_e4m3_f16_b32_e8m0_colt_lin.any"]
TURNED_CODES = ["dequantize_e4m3_f16_b32_e8m0_colt_lin.any"]
ODD = TURNED_CODES + ["dequantize_e5m2_f32_b16_f32_row_lin.any"]
HALVES = ["dequantize_e2m1_f32_b32_e8m0_sq_mn.any", "dequantize_e2m1_f32_b32_e8m0_colt_lin.any"]
BLK = ["quantize_bf16_e4m3_b32_rceil_row_blk.any", "quantize_bf16_e4m3_b32_rceil_colt_blk.any"]

any_ = Template("any.cu", ROW)
extent = Template("extent.cuh", ROW)
lines = Template("lines.cuh", ROW)
columns = Template("columns.cuh", COL)
kept = Template("kept_scales.cuh", BLK)

KERNEL = [
    any_("barrier after the elements dropped", drop("    block_sync();   // orders all threads' copies"), COLT),
    any_("wait for the elements dropped", drop("    copies_wait();"), COLT),
    any_("wait for the elements behind the barrier",
         change("    copies_wait();  // orders this thread's copies before the barrier\n"
                "    block_sync();   // orders all threads' copies before the reads of others\n",
                "    block_sync();\n    copies_wait();\n"), COLT),
    any_("shift of runs forgotten", change("load_run<true>(row, run", "load_run<false>(row, run")),
    any_("shift of another row", change("ahead_of(shift, row), selector", "ahead_of(shift, row + 1), selector")),
    any_("word behind a run forgotten", change("held[AHEAD + w + 1], selector", "held[AHEAD + w], selector")),
    any_("words of a run from the wrong one on", change("case 2: return join_run<2>", "case 2: return join_run<1>")),
    any_("elements ahead of the first ones read", change("at.k ? 16u : 0u", "16u")),
    any_("elements behind the last ones read",
         change("at.columns_behind * (IN_BITS / 8)", "16u")),
    any_("barrier after the codes dropped", drop("  block_sync();  // orders the stores of codes")),
    any_("matrix of the input forgotten", cut("at.e * args.stride_e_bytes + ")),
    any_("stride of the input ignored", change("args.stride_n_bytes, at.rows",
                                               "args.k * (IN_BITS / 8), at.rows")),
    any_("input one element off", change("at.k * (IN_BITS / 8),\n", "(at.k + 1) * (IN_BITS / 8),\n")),
    any_("matrix of a row-major output forgotten", cut("at.e * args.n + ")),
    any_("matrix of a column-major output forgotten", cut("at.e * args.k + "), COLT),
    any_("column-major lines as many as rows",
         change("TURNED ? at.columns : at.rows", "!TURNED ? at.columns : at.rows"), COLT),
    any_("runs of the wrong lanes", change("lane / INTERLEAVED % WARP_RUNS", "lane % WARP_RUNS")),
    any_("rows of the wrong lanes", change(" * INTERLEAVED + lane % INTERLEAVED;",
                                           " + lane % INTERLEAVED;"),
         generic("f32_e4m3_b32_rceil_rowcol")),
    any_("shuffle of neighbours, which hold other rows",
         change("scales_of_run(words, INTERLEAVED)", "scales_of_run(words, 1)")),
    any_("scale of the first piece for all", cut(" + piece * BLOCK"), PIECES),
    any_("words of a run exchanged", change("shared_load<words4>(from, w * 4)",
                                            "shared_load<words4>(from, (w ^ 4) * 4)")),
    any_("every second tile left out", change("tile += grid_size()", "tile += 2 * grid_size()")),
    any_("the first tiles again", change("number_behind(args, number, number_of(args, grid_size()))",
                                         "number_of(args, grid_size())")),
]

EXTENT = [
    extent("carry to the slower axis forgotten", cut(" + (at.inner >= inner)")),
    extent("carry to the matrix forgotten", cut(" + (at.outer >= outer)")),
    extent("faster axis runs on", cut("  if (at.inner >= inner) at.inner -= inner;\n")),
    extent("axes exchanged", [change("(TILES_BY_K ? at.outer : at.inner) * TILE_N",
                                     "(TILES_BY_K ? at.inner : at.outer) * TILE_N"),
                              change("(TILES_BY_K ? at.inner : at.outer) * TILE_K",
                                     "(TILES_BY_K ? at.outer : at.inner) * TILE_K")], COLT),
    extent("tiles of padding as whole ones", cut("begin >= end ? 0 : "), BLK),
    extent("last tiles as whole ones",
           change("end - begin < most ? static_cast<unsigned>(end - begin) : most", "most"), EACH),
]

LINES = [
    lines("lines past the last one read", change("const bool exists = line < from.lines && holds", "const bool exists = holds"), EACH),
    lines("all lines of the last tile read", change("if (from.lines == TILE::LINES && holds", "if (holds"), EACH),
    lines("pieces past a line's end read", change("(from, ahead, at) && is_whole(from, ahead, at)) {\n", "(from, ahead, at)) {\n"), EACH),
    lines("pieces past a short tile's end read", change("else if (is_whole(from, ahead, at))", "else"), EACH),
    lines("pieces ahead of a line's begin read", cut("at + from.before >= ahead && "), SHIFTED),
    lines("pieces that hold nothing of the tile read", change("return at < ahead + from.bytes;", "return at <= ahead + from.bytes + 16;"), EACH),
    lines("every line the next one", change("line += STEP * from.pitch)\n      copy", "line += from.pitch)\n      copy"), SHIFTED),
    lines("pieces along a line the same", change("line = line - ahead + at;", "line = line - ahead;"), SHIFTED),
    lines("pieces of shifted lines at their places", change("line = line - ahead + at;", "line = line + at;"), SHIFTED),
    lines("pieces of a short tile at their places", change("begin - ahead + at);", "begin + at);"), SHIFTED),
    lines("lines of a thread at one place", change("to + lines_apart<TILE>(i * STEP), line)", "to, line)"), EACH),
    lines("zeros behind the elements left out", change("shared_store(TILE::place(line, at), words4{});", ";"), EACH),
    lines("ends of lines left out", change(" load_ends<TILE>(from);", ";"), SHIFTED),
    lines("ends of lines that begin a row left out", cut("from.before < 16 || "), SHIFTED),
    lines("ends of lines that end a row left out", cut(" || from.behind < 16"), SHIFTED),
    lines("piece behind the last left out", change("load_piece<TILE>(from, line, TILE::LINE_BYTES);", ";"), SHIFTED),
    lines("first piece of shifted lines left out", change("end == 0 ? 0 : last", "last"), SHIFTED),
    lines("last piece of lines left out", change("end == 0 ? 0 : last", "0"), SHIFTED),
    lines("elements past a line's end", change("if (byte < from.bytes) value", "if (byte < from.bytes + sizeof(element)) value"), SHIFTED),
    lines("elements of ends one off", change("byte = at + part - ahead;", "byte = at + part - ahead + sizeof(element);"), SHIFTED),
    lines("elements of ends at their places", change("place(line, at + part), value", "place(line, part), value"), SHIFTED),
    lines("shift from line to line forgotten", cut(" + line * shift.pitch"), SHIFTED),
    lines("shift of the first line forgotten", change("(shift.first + line * shift.pitch)", "(line * shift.pitch)"), ODD),
    lines("bytes of a word forgotten", change("byte % 4 * 0x1111", "0"), EACH),
    lines("no shift where only the pitch has one", change("(shift.first | shift.pitch) != 0", "shift.first != 0"), SHIFTED),
    lines("address not asked", change("reinterpret_cast<length>(of.first) | of.pitch", "of.pitch"),
          COL + ["--shape", "2,131,128", "--strides", "16769,128"]),
    lines("pitch not asked", cut(" | of.pitch"), EACH),
    lines("end not asked", cut(" | of.bytes"),
          ["dequantize_e4m3_bf16_b32_e8m0_row_lin.any", "--shape", "2,35,130", "--strides", "9520,136"]),
    lines("pieces of lines past the last one", change("to.lines)\n        global_store(reinterpret_cast<words4 *>(at), piece[i]);\n    from +=",
                                                      "TILE::LINES)\n        global_store(reinterpret_cast<words4 *>(at), piece[i]);\n    from +="),
          COL + ["--shape", "2,131,160"]),
    lines("pieces past a line's end", cut("byte >= to.bytes || "),
          COL + ["--shape", "2,131,160"]),
    lines("joined pieces past a line's end", change("to.bytes - byte < 16", "to.bytes - byte < 1"), EACH),
    lines("joined pieces ahead of a line's begin", cut("byte > to.bytes || "), EACH),
    lines("joined pieces of lines past the last one",
          change("to.lines)\n        global_store(reinterpret_cast<words4 *>(at), piece[i]);\n    for",
                 "TILE::LINES)\n        global_store(reinterpret_cast<words4 *>(at), piece[i]);\n    for"), EACH),
    lines("words not joined", change("permute_bytes(word[w], word[w + 1], joined)", "word[w]"), EACH),
    lines("pieces at no piece's address", change(" * 16 - bytes_ahead(at);", " * 16;"), EACH),
    lines("fifth word of a piece the fourth", change("byte + 15) & ~3u", "byte + 12) & ~3u"), EACH),
    lines("bytes before the first piece left out", change("pass != 0 || part >= head;", "true;"), EACH),
    lines("bytes behind the last piece left out", change("tail = (to.bytes - head) % 16", "tail = (to.bytes - head) % 8"), EACH),
    lines("bytes before the first piece past a short line's end",
          change("head = room < to.bytes ? room : to.bytes", "head = room"), EACH),
    lines("bytes behind the last piece twice", cut(" || (pass != 0 && part >= head)"), EACH),
    lines("ends past the last line", change("< left)", "<= left)"), EACH),
    lines("ends left out", cut("    store_ends<TILE>(to);\n"), EACH),
]

COLUMNS = [
    columns("a row left out of a maximum", change("r = 1; r < part::PIECE_ROWS", "r = 2; r < part::PIECE_ROWS")),
    columns("last row left out of a maximum",
            change("r < part::PIECE_ROWS; r++", "r + 1 < part::PIECE_ROWS; r++")),
    columns("barrier after the maxima dropped",
            drop("    block_sync();  // orders the stores of all maxima"), LONG),
    columns("maxima of the wrong group", change("group / part::GROUPS_N * part::GROUPS_N * PARTS",
                                                "group / part::GROUPS_N * PARTS"), LONG),
    columns("shuffle of every second lane", change("mask = 1; mask < part::LANES",
                                                   "mask = 2; mask < part::LANES"), SQ),
    columns("shuffle with half of the lanes", change("mask < part::LANES;", "mask < part::LANES / 2;"), SQ),
    columns("shuffle with the next block too", change("mask < part::LANES;", "mask < 32;"), SQ),
    columns("columns of a word by themselves", cut("    largest = across_columns(largest);\n"), SQ),
    columns("halves not exchanged where they are read",
            [change("load_rows<false>(first_row + (half ^ flip)", "load_rows<false>(first_row + half"),
             change("load_rows<true>(first_row + (half ^ flip)", "load_rows<true>(first_row + half")],
            TURNED),
    columns("shift of columns forgotten", change("load_rows<true>(first_row", "load_rows<false>(first_row")),
    columns("shift of the first row for all", change("ahead_of(shift, odd) % 4", "ahead_of(shift, 0) % 4")),
    columns("words of the first row's shift for all", change("ahead_of(shift, i) / 4", "ahead_of(shift, 0) / 4")),
    columns("second word the first one", change("lines_apart<in_tile>(r) + 4", "lines_apart<in_tile>(r)")),
    columns("scales of exchanged halves", change("piece * part::PIECE_ROWS ^ flip",
                                                 "piece * part::PIECE_ROWS"), TURNED),
    columns("scale of the first column for both", change("word * COLUMNS + c, scale[piece][c].code",
                                                         "word * COLUMNS + c, scale[piece][0].code")),
    columns("both rows of four codes in one", change("(four >> 16), lines_apart<tile>(row + 1)",
                                                     "(four >> 16), lines_apart<tile>(row)")),
    columns("nibbles exchanged", change("(low >> 4 * r & 0xF) | (high >> 4 * r & 0xF) << 4",
                                        "(high >> 4 * r & 0xF) | (low >> 4 * r & 0xF) << 4"),
            generic("f32_e2m1_b32_floor_col")),
    columns("codes of the next column", change("place(word * COLUMNS + c, row", "place((word * COLUMNS + c) ^ 1, row"),
            COLT),
]

KEPT = [
    kept("rows and columns of the tile exchanged", change("(ROWS_N ? row : column) / ROW",
                                                          "(ROWS_N ? column : row) / ROW")),
    kept("scale of what lies outside", change("static_cast<unsigned char>(inside ? code : 0)",
                                              "static_cast<unsigned char>(code | !inside)")),
    kept("scales past the ends", cut("    if (inside)\n"), ROW),
    kept("matrix of a scale forgotten", change("at.e * scales.stride_e + place_of", "place_of"), ROW),
    kept("scales of the first tile for all", cut("place_of_scale<PART>(scales, at.n, at.k) +\n"), ROW),
    kept("scale one off", change("(ROWS_N ? k : n) / BLOCK)", "(ROWS_N ? k : n) / BLOCK + 1)"), ROW),
    kept("words at any address", change("if (reinterpret_cast<length>(scales.to) % 4 == 0) {",
                                        "if (true) {")),
    kept("scales one by one in the wrong column", change("+ line / tile::ROW * tile::COLUMNS_HELD + first",
                                                         "+ line / tile::ROW * tile::COLUMNS_HELD + (first ^ 1)")),
    kept("scales one by one of half of the tile", change("i < tile::ROWS * tile::ROW * tile::COLUMNS_HELD",
                                                         "i < tile::ROWS * tile::ROW * tile::COLUMNS_HELD / 2")),
]

MUTANTS = KERNEL + EXTENT + LINES + COLUMNS + KEPT + [
    plan(fault, COLT, fault + ", generic") for fault in (
        "stride-n", "stride-n-element", "stride-e", "scale-row", "scale-matrix-stride", "length-k",
        "one-tile-less")]
