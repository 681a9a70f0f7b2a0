# SPDX-License-Identifier: MIT
"""Faults of row.tma.cu and of the plans for it."""
from edits import Template, change, cut, fast, plan

PLAIN = fast("bf16_e4m3_b32_rceil_row")
LONG = fast("f32_e4m3_b128_floor_row")
PACKED = fast("bf16_e2m1_b16_floor_row")  # two blocks in a thread
EACH = fast("f32_e4m3_b32_floor_row", "f16_e5m2_b64_amax_row", "bf16_e2m1_b128_ceil_row",
            "f32_e2m3_b16_even_row")

row = Template("row.tma.cu", PLAIN)
run = Template("run.cuh", PLAIN)  # a thread's part of a row

MUTANTS = [
    row("threads outside leave before the shuffles",
        change("  const run_scales scale = scales_of_run(",
               "  if (!exists) return;\n"
               "  const run_scales scale = scales_of_run("), EACH),
    run("words that do not exist in a maximum", cut("    if (!exists) largest = 0;\n"), EACH),
    run("words that do not exist in a maximum after the shuffles",
        change("    if (!exists) largest = 0;\n    for (unsigned lanes = 1; lanes < RUN_LANES; lanes *= 2)\n"
               "      largest = word_max(largest, shuffle_xor(largest, lanes * lane_step));\n",
               "    for (unsigned lanes = 1; lanes < RUN_LANES; lanes *= 2)\n"
               "      largest = word_max(largest, shuffle_xor(largest, lanes * lane_step));\n"
               "    if (!exists) largest = 0;\n"), EACH),
    row("scale index one off", change("pitch, run.n, run.k / BLOCK)",
                                      "pitch, run.n, run.k / BLOCK + 1)")),
    row("scales of two pieces in one place",
        change("(step * (STEP / BLOCK) + piece), code", "step * (STEP / BLOCK), code"), PACKED),
    row("scale written by each of a block's threads",
        cut("  if (run.column % BLOCK != 0) return;\n"), LONG),
    row("scale written by no thread", change("run.column % BLOCK != 0", "run.column % BLOCK != 1")),
    row("stored words exchanged", change("+ chunk, codes_chunk(codes, chunk)",
                                         "+ chunk, codes_chunk(codes, chunk ^ 1)")),
    run("first word left out of a maximum",
        change("unsigned largest = words[piece * PIECE_WORDS];", "unsigned largest = 0;")),
    run("last word left out of a maximum",
        change("w < PIECE_WORDS; w++", "w < PIECE_WORDS - 1; w++")),
    run("maximum of the first piece for both",
        change("words[piece * PIECE_WORDS + w]", "words[w]"), PACKED),
    run("shuffle of every second lane", change("unsigned lanes = 1;", "unsigned lanes = 2;"), LONG),
    run("shuffle with half of the lanes", change("lanes < RUN_LANES;", "lanes < RUN_LANES / 2;"),
        LONG),
    run("shuffle with the next block too", change("lanes < RUN_LANES;", "lanes < RUN_LANES * 2;"),
        LONG),
    run("the other column of a word forgotten",
        change("<true>(across_columns(largest),", "<true>(largest,")),
    run("codes with the scale of the first piece",
        change("scale.piece[word / PIECE_WORDS]", "scale.piece[0]"), PACKED),
    run("codes of the next word", change("narrow_across(words + word,",
                                         "narrow_across(words + (word ^ 1),"), LONG),
    run("words of a chunk exchanged", change("bytes.word[w] =", "bytes.word[w ^ 1] =")),
    row("K bound of runs dropped",
        change("run.n < args.n && run.k + step * STEP < args.k;", "run.n < args.n;"), EACH),
    row("K bound of the load dropped",
        change("global_load_if(exists,", "global_load_if(run.n < args.n,"), EACH),
    row("K bound of the load from the first run",
        change("global_load_if(exists,", "global_load_if(run_exists(args, run, 0),"), EACH),
    row("K bound of the store dropped",
        change("global_store_if(exists,", "global_store_if(run.n < args.n,"), EACH),
    row("K bound of the store of half an access dropped",
        change("if (exists) global_store(", "if (run.n < args.n) global_store("),
        fast("f32_e2m1_b16_floor_row")),
    row("N bound of runs dropped",
        change("run.n < args.n && run.k + step * STEP < args.k;", "run.k + step * STEP < args.k;"),
        EACH),
    row("N bound of the load dropped",
        change("global_load_if(exists,", "global_load_if(run.k + step * STEP < args.k,"), EACH),
    row("N bound of the store dropped",
        change("global_store_if(exists,", "global_store_if(run.k + step * STEP < args.k,"), EACH),
    row("linear scales past the rows", change("inside = run.n < args.n && k < args.k",
                                               "inside = k < args.k"), EACH),
    row("linear scales past the columns",
        change("inside = run.n < args.n && k < args.k", "inside = run.n < args.n"), PACKED),
    row("scales of the next run in this one's places",
        change("(step * (STEP / BLOCK) + piece), code", "piece, code")),
    row("scales of the next run in this one's places, by tiles",
        change("run.column / BLOCK + step * (STEP / BLOCK) + piece", "run.column / BLOCK + piece"),
        ["quantize_bf16_e4m3_b32_rceil_row_blk.tma"]),
    row("matrix of the input forgotten", change("at.e * args.stride_e_bytes", "0")),
    row("stride of the input ignored",
        change("run.n * args.stride_n_bytes", "run.n * (args.k * (IN_BITS / 8ull))")),
    row("input of the next run in this one's place", change("step * (STEP * IN_BITS / 8)", "step * STEP")),
    row("codes of the next run counted where bytes are",
        change("step * (STEP * OUT_BITS / 8)", "step * STEP"), PACKED),
    row("stride of the matrices ignored",
        change("at.e * args.stride_e_bytes", "at.e * (args.n * args.stride_n_bytes)")),
    row("input four bytes off", change("from + w * 4)", "from + w * 4 + 4)")),
    row("input one access off", change("from + w * 4)", "from + w * 4 + 16)")),
    row("words of an access exchanged", change("= four.word[i];", "= four.word[i ^ 1];")),
    row("matrix of the output forgotten",
        change("static_cast<unsigned long long>(at.e) * args.n", "0ull * args.n")),
    row("row of the output one off", change("args.n + run.n) * args.k", "args.n + run.n + 1) * args.k")),
    row("codes counted where bytes are stored",
        change("args.out + code / (8 / OUT_BITS)", "args.out + code"), PACKED),
] + [plan(fault, PLAIN, fault + ", rows") for fault in (
    "stride-n", "stride-n-element", "stride-e", "scale-row", "scale-matrix-stride", "length-k",
    "one-block-less")]
