# SPDX-License-Identifier: MIT
"""Faults of any.cu and any_row.cu, of the pieces that only generic kernels have, and of the plans for them."""
from edits import Template, change, cut, drop, generic, plan

ROW, COLT = generic("bf16_e4m3_b32_rceil_row"), generic("f32_e5m2_b32_floor_colt")
SQ, COL = generic("f16_e4m3_b16_ceil_sq"), generic("bf16_e4m3_b32_rceil_col")
TURNED, LONG = generic("bf16_e4m3_b16_rceil_colt"), generic("f16_e5m2_b64_pow2_colt")
PIECES, TWO = generic("bf16_e2m1_b16_floor_row"), generic("bf16_e4m3_b32_rceil_rowcol")
EACH = generic("f32_e2m3_b128_even_row", "bf16_e2m1_b16_even_sqt", "f16_e5m2_b64_pow2_col")
SHIFTED = ROW + ["dequantize_e4m3_bf16_b32_e8m0_row_lin.any", "dequantize_e4m3_f16_b32_e8m0_colt_lin.any"]
TURNED_CODES = ["dequantize_e4m3_f16_b32_e8m0_colt_lin.any"]
ODD = TURNED_CODES + ["dequantize_e5m2_f32_b16_f32_row_lin.any"]
STORED = ["dequantize_e4m3_bf16_b32_e8m0_row_lin.any"]
BLK = ["quantize_bf16_e4m3_b32_rceil_row_blk.any", "quantize_bf16_e4m3_b32_rceil_colt_blk.any"]
# Where all begins and ends at a multiple of 16 bytes, and where all does but one thing.
WHOLE = ["--shape", "1,70,304"]
BASE = ["--shape", "1,35,128", "--ahead", "1"]
ADDRESS = ["--shape", "2,35,128", "--strides", "4481,128"]
PITCH = ["--shape", "2,35,128", "--strides", "4760,131"]
END, EIGHTS = ["--shape", "2,35,130", "--strides", "9520,136"], ["--shape", "2,36,132"]

row = Template("any_row.cu", ROW)
any_ = Template("any.cu", COLT)
extent = Template("extent.cuh", ROW)
loads = Template("lines_in.cuh", SHIFTED)
stores = Template("lines_out.cuh", EACH)
held = Template("held_rows.cuh", COL)
columns = Template("columns.cuh", COL)
kept = Template("kept_scales.cuh", BLK)

KERNEL = [
    row("barrier after the elements dropped", drop("    block_sync();   // orders all threads' copies")),
    row("wait for the elements dropped", drop("    copies_wait();")),
    row("wait for the elements behind the barrier",
        change("    copies_wait();  // orders this thread's copies before the barrier\n"
               "    block_sync();   // orders all threads' copies before the reads of others\n",
               "    block_sync();\n    copies_wait();\n")),
    row("shift of runs forgotten", change("load_run<true>(row, run", "load_run<false>(row, run")),
    row("shift of another row", change("ahead_of(shift, row), selector", "ahead_of(shift, row + 1), selector")),
    row("word behind a run forgotten", change("held[AHEAD + w + 1], selector", "held[AHEAD + w], selector")),
    row("words of a run from the wrong one on",
        change("case 2: return join_run<2>", "case 2: return join_run<1>")),
    row("elements ahead of the first ones read", change("at.k ? 16u : 0u", "16u")),
    row("elements behind the last ones read",
        change("at.columns_behind * (IN_BITS / 8)", "16u")),
    row("barrier after the codes dropped", drop("    block_sync();  // orders the stores of codes")),
    row("matrix of the input forgotten", cut("at.e * args.stride_e_bytes + ")),
    row("stride of the input ignored", change("args.stride_n_bytes, at.rows",
                                              "args.k * (IN_BITS / 8), at.rows")),
    row("input one element off", change("at.k * (IN_BITS / 8),\n", "(at.k + 1) * (IN_BITS / 8),\n")),
    row("matrix of the output forgotten", cut("at.e * args.n + ")),
    row("runs of the wrong lanes", change("lane / INTERLEAVED % WARP_RUNS", "lane % WARP_RUNS")),
    row("shuffle of neighbours, which hold other rows",
        change("scales_of_run(words, INTERLEAVED)", "scales_of_run(words, 1)")),
    row("scale of the first piece for all", cut(" + piece * BLOCK"), PIECES),
    row("words of a run exchanged", change("shared_load<words4>(from, w * 4)",
                                           "shared_load<words4>(from, (w ^ 4) * 4)")),
    any_("barrier after the elements dropped", drop("    block_sync();  // orders all threads' copies")),
    any_("barrier after the codes dropped", drop("      block_sync();  // orders the stores of codes")),
    any_("matrix of a row-major output forgotten", cut("at.e * args.n + "), COL),
    any_("matrix of a column-major output forgotten", cut("at.e * args.k + ")),
    any_("column-major lines as many as rows",
         change("TURNED ? at.columns : at.rows", "!TURNED ? at.columns : at.rows")),
    any_("column-major lines as long as rows",
         change("TURNED ? at.rows : at.columns", "!TURNED ? at.rows : at.columns")),
    any_("runs of the wrong lanes", change("lane / INTERLEAVED % WARP_RUNS", "lane % WARP_RUNS"), TWO),
    any_("rows of the wrong lanes", change(" * INTERLEAVED + lane % INTERLEAVED;",
                                           " + lane % INTERLEAVED;"),
         generic("bf16_e4m3_b32_rceil_rowcolt")),
    any_("shuffle of neighbours, which hold other rows",
         change("scales_of_run(words, INTERLEAVED)", "scales_of_run(words, 1)"), TWO),
    any_("scale of the first piece for all", cut(" + piece * BLOCK"),
         generic("bf16_e2m1_b16_floor_rowcol")),
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
    extent("every second tile left out", change("(pass) * grid_size()", "(pass) * 2 * grid_size()")),
    extent("the first tiles again", change("number_of(args, grid_size()))", "number_of(args, 0u))"), COLT),
    extent("a tile behind the last one", change("< args.tiles", "<= args.tiles")),
]

LOADS = [
    loads("all lines of the last tile read", change("if (from.lines == TILE::LINES && holds", "if (holds")),
    loads("pieces past a line's end read",
          change("(from, ahead, at) && is_whole(from, ahead, at)) {\n", "(from, ahead, at)) {\n")),
    loads("pieces past a short tile's end read", change("else if (is_whole(from, ahead, at))", "else")),
    loads("pieces ahead of a line's begin read", cut("at + from.before >= ahead && ")),
    loads("pieces that hold nothing of the tile read",
          change("return at < ahead + from.bytes;", "return at <= ahead + from.bytes + 16;")),
    loads("every line the next one",
          change("line += STEP * from.pitch)\n      copy", "line += from.pitch)\n      copy")),
    loads("pieces along a line the same", change("line = line - ahead + at;", "line = line - ahead;")),
    loads("pieces of shifted lines at their places", change("line = line - ahead + at;", "line = line + at;")),
    loads("pieces of a short tile at their places", change("begin - ahead + at);", "begin + at);")),
    loads("lines of a thread at one place", change("to + lines_apart<TILE>(i * STEP), line)", "to, line)")),
    loads("zeros behind the elements left out", change("shared_store(TILE::place(line, at), words4{});", ";")),
    loads("ends of lines left out", change(" load_ends<TILE>(from);", ";")),
    loads("ends of lines that begin a row left out", cut("from.before < 16 || ")),
    loads("ends of lines that end a row left out", cut(" || from.behind < 16")),
    loads("piece behind the last left out", change("load_piece<TILE>(from, line, TILE::LINE_BYTES);", ";")),
    loads("first piece of shifted lines left out", change("end == 0 ? 0 : last", "last")),
    loads("last piece of lines left out", change("end == 0 ? 0 : last", "0")),
    loads("elements past a line's end",
          change("if (byte < from.bytes) value", "if (byte < from.bytes + sizeof(element)) value")),
    loads("elements of ends one off",
          change("byte = at + part - ahead;", "byte = at + part - ahead + sizeof(element);")),
    loads("elements of ends at their places",
          change("place(line, at + part), value", "place(line, part), value")),
    loads("shift from line to line forgotten", cut(" + line * shift.pitch")),
    loads("shift of the first line forgotten",
          change("(shift.first + line * shift.pitch)", "(line * shift.pitch)"), ODD),
    loads("bytes of a word forgotten", change("byte % 4 * 0x1111", "0")),
    loads("no shift where only the pitch has one",
          change("(shift.first | shift.pitch) != 0", "shift.first != 0")),
    loads("address not asked", cut("reinterpret_cast<length>(from.first) | "), ROW + ADDRESS),
    loads("pitch not asked", cut(" | from.pitch"), ROW + PITCH),
    loads("end not asked", cut(" | from.bytes"), ROW + END),
]

STORES = [
    stores("address not asked", cut("reinterpret_cast<length>(to.first) | "), STORED + ADDRESS),
    stores("address of the tensor not asked", cut("reinterpret_cast<length>(to.first) | "), COL + BASE),
    stores("pitch not asked", cut(" | to.pitch"), STORED + PITCH),
    stores("end not asked", cut(" | to.bytes"), STORED + END),
    stores("pieces of every line the next one's",
           change("at += STEP * to.pitch", "at += to.pitch"), COL + WHOLE),
    stores("pieces of a thread's first line for all",
           change("(from, i * TILE::PITCH)", "(from, 0)"), COL + WHOLE),
    stores("head as long as what lies ahead", cut("0u - ")),
    stores("head past a short line's end", change("ahead < to.bytes ? ahead : to.bytes", "ahead")),
    stores("sectors past a line's end",
           change("(to.bytes - head) / 32 * 32", "(to.bytes - head + 31) / 32 * 32")),
    stores("tail of another line", change("tail = to.bytes - head - whole", "tail = to.bytes % 32")),
    stores("tail past a line's end", cut("part < 32 && "), STORED),
    stores("elements of a tail from its begin", change("end_from = TILE::place(first, end)",
                                                       "end_from = TILE::place(first, part)")),
    stores("words from a line's begin on", change("head / 4 * 4 + lane * 4", "lane * 4")),
    stores("words to a line's begin on", change("line + head + lane * 4", "line + lane * 4")),
    stores("words not joined", cut(" + head % 4 * 0x1111")),
    stores("second word the first one", change("head % 4 ? 4 : 0", "0")),
    stores("lines that begin otherwise", change("TILE::LINES < 32 ? TILE::LINES : 32", "2")),
    stores("sectors past the last line", change("if (exists && lane * 4", "if (lane * 4")),
    stores("ends past the last line", change("if (exists && (in_head || in_tail))", "if (in_head || in_tail)")),
    stores("words behind the first 128 bytes left out",
           change("byte < TILE::LINE_BYTES; byte", "byte < 128; byte")),
    stores("high words of the first 128 bytes for all",
           change("(high, i * TILE::PITCH + byte)", "(high, i * TILE::PITCH)")),
    stores("words of the first line for all", change("(low, i * TILE::PITCH + byte)", "(low, byte)")),
    stores("ends of the first line for all", change("(end_from, i * TILE::PITCH)", "(end_from, 0)")),
    stores("words to the first line again", cut("      words_at += ALIKE * to.pitch;\n")),
    stores("ends to the first line again", cut("      end_at += ALIKE * to.pitch;\n")),
]

HELD = [
    held("wait for the pieces dropped", drop("    copies_wait();"), COLT),
    held("halves exchanged where threads share two blocks",
         cut(" &&\n                       !((MAIN & 3) == 3 && BLOCK < HELD_ROWS)"),
         generic("bf16_e4m3_b16_rceil_sqt")),
    held("halves exchanged by eight rows", change("% 2 * 16 : 0", "% 2 * 8 : 0"), TURNED),
    held("halves not exchanged where they are read",
         change("in_tile::place(tile_row(half)", "in_tile::place(held_group() * HELD_ROWS + half"), TURNED),
    held("address not asked", cut("reinterpret_cast<length>(args.in) | "), COL + BASE),
    held("matrix forgotten", cut("at.e * args.stride_e_bytes + ")),
    held("stride ignored", change("* args.stride_n_bytes +\n", "* (args.k * (IN_BITS / 8)) +\n")),
    held("rows behind the last one read",
         change("least(at.n + row, args.n - 1) * args", "least(at.n + row, args.n) * args")),
    held("last row read as the one before", change("least(at.n + row, args.n - 1) * args",
                                                   "least(at.n + row, args.n - 2) * args")),
    held("pieces behind the last one read", change("least(at.k + piece * ELEMENTS, args.k - ELEMENTS)",
                                                   "at.k + piece * ELEMENTS")),
    held("last piece read as the one before", change("args.k - ELEMENTS)", "args.k - 2 * ELEMENTS)")),
    held("pieces of the first columns for all",
         change("at.k + piece * ELEMENTS", "piece * ELEMENTS"), COL + WHOLE),
    held("pieces of a thread in one row", change("to + row * in_tile::PITCH", "to")),
    held("words from the last element's end on read", change("COLUMNS, args.k - 1)", "COLUMNS, args.k)")),
    held("words of the first columns for all", change("at.k + held_word() * COLUMNS", "held_word() * COLUMNS")),
    held("second element behind the last one read", change("k + 1 < args.k", "k < args.k")),
    held("second element of the last pair left out", change("k + 1 < args.k", "k + 2 < args.k"),
         COL + ["--shape", "1,35,130"]),
    held("words of the second half left out", change("half < HELD_ROWS; half += 16) {\n    const unsigned row",
                                                     "half < 16; half += 16) {\n    const unsigned row")),
    held("words of rows exchanged", change("(to, words[r], r * ", "(to, words[r ^ 1], r * ")),
    held("a row more behind the first", change("least(args.n - 1 - least(", "least(args.n - least(")),
    held("rows behind one that does not exist",
         change("least(at.n + row, args.n - 1), 15)", "(at.n + row), 15)")),
    held("a row less of sixteen", change("args.n - 1), 15)", "args.n - 1), 14)")),
    held("as many rows behind the first tile's",
         change("least(at.n + row, args.n - 1), 15)", "least(row, args.n - 1), 15)")),
    held("stride of the words ignored",
         change("from += args.stride_n_bytes", "from += args.k * (IN_BITS / 8)")),
    held("stride of matrices not asked", cut("args.stride_e_bytes | "), COL + ADDRESS),
    held("stride of rows not asked", cut("args.stride_n_bytes |\n       "), COL + PITCH),
    held("end not asked", cut(" |\n       args.k * (IN_BITS / 8)"), COL + END),
    held("pieces at eights", change(" % 16 == 0", " % 8 == 0"), COL + EIGHTS),
]

COLUMNS = [
    columns("a row left out of a maximum",
            change("r = 1; r < part::PIECE_ROWS", "r = 2; r < part::PIECE_ROWS")),
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
    columns("halves not exchanged where they are stored",
            change("row = tile_row(half)", "row = group * HELD_ROWS + half"),
            TURNED),
    columns("scales of exchanged halves", change("tile_row(piece * part::PIECE_ROWS)",
                                                 "group * HELD_ROWS + piece * part::PIECE_ROWS"), TURNED),
    columns("scale of the first column for both", change("word * COLUMNS + c, scale[piece][c].code",
                                                         "word * COLUMNS + c, scale[piece][0].code")),
    columns("both rows of four codes in one", change("(four >> 16), (row + 1) * tile::PITCH",
                                                     "(four >> 16), row * tile::PITCH")),
    columns("nibbles exchanged", change("(low >> 4 * r & 0xF) | (high >> 4 * r & 0xF) << 4",
                                        "(high >> 4 * r & 0xF) | (low >> 4 * r & 0xF) << 4"),
            generic("f32_e2m1_b32_floor_col")),
    columns("codes of the next column",
            change("place(word * COLUMNS + c, row", "place((word * COLUMNS + c) ^ 1, row"),
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

MUTANTS = KERNEL + EXTENT + LOADS + STORES + HELD + COLUMNS + KEPT + [
    plan(fault, COLT, fault + ", generic") for fault in (
        "stride-n", "stride-n-element", "stride-e", "scale-row", "scale-matrix-stride", "length-k",
        "one-tile-less")]
