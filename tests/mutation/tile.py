# SPDX-License-Identifier: MIT
"""Faults of tile.tma.cu and of the plans for it."""
from edits import Template, change, cut, drop, fast, plan, swap

COLT, COL = fast("bf16_e4m3_b32_rceil_colt"), fast("bf16_e4m3_b32_rceil_col")
SQ, SQT = fast("bf16_e4m3_b32_rceil_sq"), fast("bf16_e4m3_b32_rceil_sqt")
COLT32 = fast("f32_e4m3_b32_floor_colt")
SIXTEENS = fast("bf16_e4m3_b16_rceil_colt")  # a block in sixteen rows
EVEN = fast("bf16_e4m3_b32_even_colt", "bf16_e5m2_b16_even_colt")
LOOPS = fast("f16_e4m3_b32_rceil_colt")  # not by sixteen rows
HALVES = fast("f16_e4m3_b16_rceil_colt")  # two blocks in a thread's rows
TALL = fast("bf16_e4m3_b64_rceil_colt")  # a block in two row groups
WIDE = fast("bf16_e4m3_b128_rceil_sqt")  # and in two warps
PACKED, PACKED_COL = fast("bf16_e2m1_b32_floor_colt"), fast("f16_e2m1_b32_floor_col")
SLABS = ["quantize_bf16_e4m3_b32_rceil_colt_lin.tma-256x64"]
PACKED32 = fast("f32_e2m1_b32_floor_col")
EACH = fast("f32_e4m3_b32_floor_colt", "f16_e5m2_b32_floor_col", "bf16_e2m1_b16_even_sqt",
            "bf16_e4m3_b16_ceil_sqt")

FENCE_CODES = "  fence_async_shared();  // orders this thread's codes"
SYNC_CODES = "  block_sync();  // orders all threads' fences"
FENCE_INIT = "    fence_async_shared();  // orders the barrier's initialization"
SYNC_INIT = "  block_sync();  // orders the barrier's initialization"
WAIT = "  barrier_wait(BARRIER, 0);"
STORE = "  if (thread_id() == 0) store_tile(args, at);\n"

tile = Template("tile.tma.cu", COLT)
stage = Template("tile_stage.cuh", COLT)
columns = Template("scale_columns.cuh", LOOPS)  # the columns of a word
loops = Template("tile.tma.cu", LOOPS)
sixteen = Template("tile_sixteen.cuh", COLT)
pair = Template("scale_pair.cuh", COLT)

ORDER = [
    tile("proxy fence of the codes dropped", drop(FENCE_CODES)),
    tile("proxy fence of the codes dropped, row-major", drop(FENCE_CODES), COL),
    tile("proxy fence of the codes after the barrier", swap(FENCE_CODES, SYNC_CODES)),
    tile("proxy fence by the issuing thread alone",
         change(FENCE_CODES, "  if (thread_id() == 0) fence_async_shared();  // ")),
    tile("proxy fence of the barrier dropped", drop(FENCE_INIT)),
    tile("barrier before the store dropped", drop(SYNC_CODES)),
    tile("barrier after the initialization dropped", drop(SYNC_INIT)),
    tile("barrier not reached by the last warp",
         change(SYNC_CODES, "  if (thread_id() < THREADS - 32) block_sync();  // ")),
    tile("barrier between maxima and their loads dropped",
         drop("    block_sync();  // orders the stores of all maxima"), TALL),
    tile("barrier between maxima not reached by all",
         change("    block_sync();  // orders the stores of all maxima",
                "    if (group == 0) block_sync();  // "), TALL),
    tile("wait for the load dropped", drop(WAIT)),
    tile("wait for the load by one thread",
         change(WAIT, "  if (thread_id() == 0) barrier_wait(BARRIER, 0);")),
    tile("wait for the second copy", change("barrier_wait(BARRIER, 0)", "barrier_wait(BARRIER, 1)")),
    tile("barrier expects two arrivals",
         change("barrier_init(BARRIER, 1)", "barrier_init(BARRIER, 2)")),
]

COPIES = [
    tile("wait for reading dropped", drop("  bulk_wait_read();")),
    tile("commit dropped", drop("  bulk_commit();")),
    tile("wait for reading before the commit", swap("  bulk_commit();", "  bulk_wait_read();")),
    tile("wait for reading by another thread",
         [drop("  bulk_wait_read();"),
          change(STORE, STORE + "  if (thread_id() == 1) bulk_wait_read();\n")]),
    tile("store issued by two threads",
         change(STORE, STORE + "  if (thread_id() == 1) store_tile(args, at);\n")),
    tile("the next tile", change("(args, block_id())", "(args, block_id() + 1)")),
    tile("one expected byte less",
         change("barrier_expect(BARRIER, IN_BYTES)", "barrier_expect(BARRIER, IN_BYTES - 1)")),
    tile("one expected byte more",
         change("barrier_expect(BARRIER, IN_BYTES)", "barrier_expect(BARRIER, IN_BYTES + 1)")),
    tile("last slab not stored",
         change("slab < TILE_N / SLAB_ROWS; slab++", "slab + 1 < TILE_N / SLAB_ROWS; slab++"), SLABS),
    tile("slabs stored over each other",
         change("args.out, (at.n + slab * SLAB_ROWS)", "args.out, (at.n + slab * 0)"), SLABS),
    tile("slabs too close to each other",
         change("SLAB_BYTES = SLAB_ROW_BYTES * TILE_K", "SLAB_BYTES = SLAB_ROW_BYTES * (TILE_K / 2)"),
         SLABS),
    tile("codes of the second slab in the first",
         change("row / SLAB_ROWS * SLAB_BYTES", "0 * SLAB_BYTES"), SLABS),
    tile("output tile in the input tile",
         change("OUT_TILE = ${kernel.out_offset}", "OUT_TILE = ${kernel.in_offset}")),
    tile("output tile not aligned",
         change("OUT_TILE = ${kernel.out_offset}", "OUT_TILE = ${kernel.out_offset} - 64")),
    tile("barrier in the output tile",
         change("BARRIER = ${kernel.barrier_offset}", "BARRIER = ${kernel.out_offset} + 64")),
    tile("maxima in the input tile",
         change("MAXIMA = ${kernel.maxima_offset}", "MAXIMA = ${kernel.in_offset}"), TALL),
    tile("input tile one column off",
         change("map_load(IN_TILE, args.in, at.k,", "map_load(IN_TILE, args.in, at.k + 1,")),
    tile("matrix of the input tile forgotten",
         change("args.in, at.k, at.n, at.e, BARRIER", "args.in, at.k, at.n, 0, BARRIER")),
    tile("matrix of the output tile forgotten",
         change("PACKED, at.k, at.e,\n", "PACKED, at.k, 0,\n")),
    tile("matrix of the row-major output tile forgotten",
         change("PACKED, at.n, at.e, OUT_TILE", "PACKED, at.n, 0, OUT_TILE"), COL),
    tile("codes counted where the map counts bytes",
         change("(at.n + slab * SLAB_ROWS) / PACKED", "(at.n + slab * SLAB_ROWS)"), PACKED),
    tile("codes counted where the row-major map counts bytes",
         change("map_store(args.out, at.k / PACKED", "map_store(args.out, at.k"), PACKED_COL),
]

BLOCKS = [
    loops("row of the input tile one off",
          change("(half ^ flip), r, word", "(half ^ flip), r + 1, word")),
    tile("halves flipped where threads share two blocks",
         cut(" && !(ALONG_K && PIECES > 1)"), fast("bf16_e4m3_b16_rceil_sqt")),
    loops("flip forgotten in the rows of a scale",
          change("piece * PIECE_ROWS ^ flip", "piece * PIECE_ROWS"), HALVES),
    loops("flip forgotten in the rows of codes",
          change("codes_place(first_row + flip, word)", "codes_place(first_row, word)")),
    loops("codes of both halves in one place",
          change("to ^ half * OUT_BITS / 8, word, rows + half,", "to, word, rows + half,")),
    tile("codes of both halves in one place, one after the other",
         change("to ^ half * OUT_BITS / 8, word, rows, scale", "to, word, rows, scale"),
         fast("bf16_e2m1_b32_floor_rowcolt")),
    loops("second column's codes as the first one's are swizzled",
          change("to ^ (c * SLAB_ROW_BYTES >> 3 & (SLAB_ROW_BYTES - 16))", "to")),
    loops("second column's codes in the first one's row",
          change("codes[c],\n                   c * SLAB_ROW_BYTES)", "codes[c])")),
    tile("flip forgotten in the rows of both parts",
         change("first_row + (half ^ flip), to ^ half * OUT_BITS / 8, word, rows + half,",
                "first_row + half, to ^ half * OUT_BITS / 8, word, rows + half,"),
         fast("bf16_e4m3_b32_floor_sqsqt")),
    loops("flip forgotten in the rows that are read",
          change("first_row + (half ^ flip), r", "first_row + half, r")),
    tile("rows of the next swizzle pattern in this one",
         change("r / ALIKE * ALIKE * PITCH", "r / ALIKE * PITCH"),
         fast("bf16_e4m3_b32_rceil_rowcol")),
    loops("second block with the scale of the first",
          change("scale + half / PIECE_ROWS", "scale"), HALVES),
    tile("second block with the scale of the first, one loop",
         change("scale[piece][c] = scale[PIECES / 2 + piece][c]", "scale[piece][c] = scale[piece][c]"),
         fast("bf16_e2m1_b16_rceil_rowcolt")),
    tile("second half converted from the first",
         change("rows[r] = rows[16 + r]", "rows[r] = rows[r]"), fast("bf16_e2m1_b32_rceil_rowcol")),
    loops("a row of the next block counted in a maximum",
          change("    largest = block_max(largest, word, group);",
                 "    if (first_row + BLOCK < TILE_N)\n"
                 "      largest = word_max(largest, shared_load<unsigned>(\n"
                 "          IN_TILE + (first_row + BLOCK) * ROW_BYTES + word * 4));\n"
                 "    largest = block_max(largest, word, group);")),
    loops("first row left out of a maximum",
          change("unsigned largest = rows[piece * PIECE_ROWS];", "unsigned largest = 0;")),
    loops("last row left out of a maximum",
          change("r < PIECE_ROWS; r++", "r < PIECE_ROWS - 1; r++")),
    tile("maximum of one row group only", change("g < GROUPS_N; g++", "g < 1; g++"), TALL),
    tile("maximum of one warp only", change("p < GROUPS_K; p++", "p < 1; p++"), WIDE),
    tile("maxima of the next block",
         change("group / GROUPS_N * GROUPS_N * PARTS", "group * PARTS"), TALL),
    tile("maxima of the wrong warps", change("part / GROUPS_K * GROUPS_K", "part"), WIDE),
    tile("shuffles without end", change("mask < LANES; mask *= 2", "mask < LANES; mask *= 1"), SQ),
    tile("shuffle of every second lane", change("unsigned mask = 1; mask", "unsigned mask = 2; mask"),
         SQ),
    tile("shuffle with half of the lanes", change("mask < LANES;", "mask < LANES / 2;"), SQT),
    tile("shuffle with a whole warp for less",
         change("mask < LANES;", "mask < 32;"), SQ),
    tile("shuffle by some lanes", change("largest = word_max(largest, shuffle_xor(largest, mask));",
                                         "if (word % 4) largest = word_max(largest, "
                                         "shuffle_xor(largest, mask));"), SQ),
    tile("the other column of a word forgotten",
         cut("    largest = across_columns(largest);\n"), SQ),
    columns("scale of the wrong column", change("column_magnitude(largest, 0)",
                                                "column_magnitude(largest, LAST)")),
    columns("one scale for columns with their own", change("= SHARE ?", "= true ?")),
    tile("scales past K written", change("n < args.n && k < args.k", "n < args.n"), EACH),
    tile("scales past N written", change("n < args.n && k < args.k", "k < args.k"), EACH),
    tile("scale written by each of a block's threads",
         cut(" && word % BLOCK_WORDS == 0"), SQ),
    loops("scale written by each row group", cut("group % GROUPS_N == 0 && "),
           fast("f16_e4m3_b64_rceil_colt")),
    stage("rows exchanged in a row-major tile",
         change("static_cast<unsigned short>(four), apart", "static_cast<unsigned short>(four >> 16), apart"),
         COL),
    stage("bytes of rows exchanged in a packed row-major tile",
         change("static_cast<unsigned char>(four), apart", "static_cast<unsigned char>(four >> 8), apart"),
         PACKED_COL),
    stage("rows of four-byte inputs reversed",
         change("static_cast<unsigned char>(four >> 8 * r),",
                "static_cast<unsigned char>(four >> 8 * (3 - r)),"),
         fast("f32_e5m2_b32_floor_col")),
    stage("nibbles of neighbours exchanged",
         change("odd ? 0x3276 : 0x5410", "odd ? 0x7632 : 0x1054"), PACKED32),
    stage("nibbles of the neighbour's rows", change("odd ? 0x3276 : 0x5410", "odd ? 0x1054 : 0x7632"), PACKED32),
    stage("nibbles of the wrong neighbour",
         change("shuffle_xor(eight, 1)", "shuffle_xor(eight, 2)"), PACKED32),
    stage("rows of a byte's column exchanged",
         change("static_cast<unsigned char>(one_three), apart + OUT_ROW_BYTES",
                "static_cast<unsigned char>(zero_two), apart + OUT_ROW_BYTES"), PACKED32),
    stage("eight rows in the place of the next", change("quad * 4 - 4, word,", "quad * 4, word,"), PACKED32),
    loops("codes of one column in both",
          change("place_four(codes[c], quad, four[c])", "place_four(codes[c], quad, four[0])")),
]

SIXTEEN = [
    sixteen("rows of a half one off",
            change("rows, word_place(row, word)", "rows, word_place(row + 1, word)")),
    sixteen("one half for both", change("word_place(row ^ 16, word)", "word_place(row, word)")),
    sixteen("flip forgotten in the codes' places",
            change("codes_place(row, word)", "codes_place(group * HELD_ROWS, word)")),
    sixteen("maximum of one half", change("word_max(largest, others)", "largest")),
    sixteen("maximum of the other half", change("word_max(largest, others)", "others")),
    sixteen("maximum of one row group",
            change("block_max(word_max(largest, others), word, group)", "word_max(largest, others)"), TALL),
    sixteen("scale written by each row group", cut("  if (group % GROUPS_N == 0)\n"), TALL),
    sixteen("scales of the flipped rows",
            change("put_scales(args, at, group * HELD_ROWS, word", "put_scales(args, at, row, word")),
    sixteen("one code for two columns",
            change("group * HELD_ROWS, word, scale.codes & 0xFF, scale.codes >> 8",
                   "group * HELD_ROWS, word, scale.codes & 0xFF, scale.codes & 0xFF")),
    sixteen("second block with the scale of the first",
            change('"scale_beside" or "scale"', '"scale" or "scale"'), SIXTEENS),
    sixteen("code of the other block's scale",
            change("row, word, scale.codes & 0xFF", "row, word, scale_beside.codes & 0xFF"), SIXTEENS),
    sixteen("second block's scale in the place of the first",
            change("put_scales(args, at, row ^ 16,", "put_scales(args, at, row,"), SIXTEENS),
    sixteen("columns of codes exchanged", [change("shared_store(to, codes[0])", "shared_store(to, codes[1])"),
                                           change("codes[1], SLAB_ROW_BYTES)", "codes[0], SLAB_ROW_BYTES)")]),
    sixteen("second column as the first one is swizzled",
            change("shared_store(to ^ NEXT,", "shared_store(to,")),
    sixteen("codes of both halves in one place", change("shared_store(to ^ 16, ", "shared_store(to, ")),
    sixteen("second column of the second half as the first one is swizzled",
            change("to ^ 16 ^ NEXT", "to ^ 16")),
    pair("magnitudes with their signs", change("largest & both(0x7FFF)", "largest")),
    pair("multiplier of the next code", change("both(254 << 7) - (above", "both(253 << 7) - (above")),
    pair("columns exchanged", change("above >> 7 | nan, 0, 0x4420", "above >> 7 | nan, 0, 0x4402")),
    pair("code of NaN forgotten", change("above >> 7 | nan,", "above >> 7,")),
    pair("multiplier of NaN forgotten", cut(" | (nan & both(0x7FC0))")),
    pair("infinite blocks: > for >=", change("both(0x0080)", "both(0x007F)")),
    pair("NaN of the other column", change("0x3311", "0x1133")),
    pair("no scale below 2^-127", change("max_pair_u16(rounded, both(OUT_EMAX << 7))", "rounded")),
    pair("smallest scale 2^-126", change("max_pair_u16(rounded, both(OUT_EMAX << 7))",
                                         "max_pair_u16(rounded, both((OUT_EMAX + 1) << 7))")),
    pair("rceil: >= for >", change("255 - static_cast<unsigned>", "256 - static_cast<unsigned>")),
    pair("rceil: one above the largest code as that",
         change("255 - static_cast<unsigned>", "254 - static_cast<unsigned>")),
    pair("floor: rounded up", change("ROUND_UP = 0;", "ROUND_UP = 64;"), fast("bf16_e4m3_b32_floor_colt")),
    pair("ceil: > 1 for != 0", change("ROUND_UP = 127;", "ROUND_UP = 126;"), fast("bf16_e4m3_b32_ceil_colt")),
    pair("ceil: >= for !=", change("ROUND_UP = 127;", "ROUND_UP = 128;"), fast("bf16_e4m3_b32_ceil_colt")),
    pair("even: > for >= of the tie",
         change("1u << (6 - OUT_MANTISSA_BITS);", "(1u << (6 - OUT_MANTISSA_BITS)) - 1;"), EVEN),
    pair("even: a tie too early",
         change("1u << (6 - OUT_MANTISSA_BITS);", "(1u << (6 - OUT_MANTISSA_BITS)) + 1;"), EVEN),
    pair("even: exponent 255 kept", change("both(254 << 7 | 0x7F)", "both(255 << 7 | 0x7F)"), EVEN),
]

HOST = [plan(fault, COLT) for fault in (
    "in-box-rows", "in-box-inner", "out-box-rows", "out-box-inner", "in-stride",
    "in-stride-element", "out-stride", "in-matrix-stride", "out-matrix-stride",
    "scale-matrix-stride", "scale-row", "in-swizzle", "out-swizzle", "out-swizzle-span",
    "in-padding", "out-padding", "one-block-less")] + [
        plan(fault, kernels, f"{fault}, {what}") for fault, kernels, what in (
            ("out-swizzle", fast("bf16_e2m1_b32_floor_colt"), "packed pairs"),
            ("out-swizzle", fast("f32_e2m1_b16_floor_sqt"), "packed squares"),
            ("out-swizzle", COL, "row-major"),
            ("out-swizzle-span", COL, "row-major"),
            ("out-box-rows", COL, "row-major"),
            ("out-stride", COL, "row-major"),
            ("out-matrix-stride", SQ, "row-major"),
            ("in-stride-element", COLT32, "float32"),
            ("in-box-rows", COLT32, "float32"),
            ("length-k", COLT32, "float32"))]

SMALL = ["quantize_bf16_e4m3_b32_rceil_rowcolt_lin.tma-64x64"]
runs = Template("tile_runs.cuh", SMALL)
SPLIT = [
    tile("main part by the first part's threads too",
         change("if (!SPLITS || thread_id() < PART_THREADS)", "if (true)"), SMALL),
    tile("first part by no thread", change("thread_id() >= PART_THREADS", "thread_id() > THREADS"), SMALL),
    runs("runs of the first part's own threads", change("thread_id() % PART_THREADS / 32", "thread_id() / 32")),
]

MUTANTS = ORDER + COPIES + BLOCKS + SIXTEEN + SPLIT + HOST
