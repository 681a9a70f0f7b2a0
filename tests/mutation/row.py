# SPDX-License-Identifier: MIT
"""Faults of row.tma.cu and of the plans for it."""
from edits import Template, change, cut, fast, plan

PLAIN = fast("bf16_e4m3_b32_rceil_row")
LONG = fast("f32_e4m3_b128_floor_row")
PACKED = fast("bf16_e2m1_b16_floor_row")  # two blocks in a thread
EACH = fast("f32_e4m3_b32_floor_row", "f16_e5m2_b64_amax_row", "bf16_e2m1_b128_ceil_row",
            "f32_e2m3_b16_even_row")
INSIDE = "const bool inside = n < args.n && k < args.k;"

row = Template("row.tma.cu", PLAIN)

MUTANTS = [
    row("K bound dropped", change(INSIDE, "const bool inside = n < args.n;"), EACH),
    row("N bound dropped", change(INSIDE, "const bool inside = k < args.k;"), EACH),
    row("bound of the load dropped", change("  if (inside) {", "  {")),
    row("bound of the scale dropped",
        change("if (inside && k % BLOCK == 0)", "if (k % BLOCK == 0)"), EACH),
    row("bound of the store dropped", cut("  if (!inside) return;\n")),
    row("threads outside leave before the shuffles",
        change("  block_scale scale[PIECES]", "  if (!inside) return;\n  block_scale scale[PIECES]"),
        EACH),
    row("padding counted in a maximum",
        change("words[HELD_WORDS] = {};",
               "words[HELD_WORDS];\n  for (unsigned &word : words) word = 0x7E007E00;"), LONG),
    row("matrix of the input forgotten", change("at.e * args.stride_e_bytes", "0")),
    row("stride of the input ignored",
        change("n * args.stride_n_bytes", "n * (args.k * (IN_BITS / 8ull))")),
    row("stride of the matrices ignored",
        change("at.e * args.stride_e_bytes", "at.e * (args.n * args.stride_n_bytes)")),
    row("input four bytes off", change("from + w * 4)", "from + w * 4 + 4)")),
    row("input one access off", change("from + w * 4)", "from + w * 4 + 16)")),
    row("words of an access exchanged", change("= four.word[i];", "= four.word[i ^ 1];")),
    row("first word left out of a maximum",
        change("unsigned largest = words[piece * PIECE_WORDS];", "unsigned largest = 0;")),
    row("last word left out of a maximum",
        change("w < PIECE_WORDS; w++", "w < PIECE_WORDS - 1; w++")),
    row("maximum of the first piece for both",
        change("words[piece * PIECE_WORDS + w]", "words[w]"), PACKED),
    row("shuffle of every second lane", change("unsigned mask = 1;", "unsigned mask = 2;"), LONG),
    row("shuffle with half of the lanes", change("mask < LANES;", "mask < LANES / 2;")),
    row("shuffle with the next block too", change("mask < LANES;", "mask < LANES * 2;")),
    row("the other column of a word forgotten", cut("    largest = across_columns(largest);\n")),
    row("scale index one off", change("n, k + piece * BLOCK,", "n, k + BLOCK + piece * BLOCK,")),
    row("scales of two pieces in one place", change("n, k + piece * BLOCK,", "n, k,"), PACKED),
    row("scale written by each of a block's threads", cut(" && k % BLOCK == 0")),
    row("scale written by no thread", change("k % BLOCK == 0", "k % BLOCK == 1")),
    row("codes with the scale of the first piece",
        change("scale[word / PIECE_WORDS]", "scale[0]"), PACKED),
    row("codes of the next word", change("narrow_across(words + word,",
                                         "narrow_across(words + (word ^ 1),"), LONG),
    row("matrix of the output forgotten",
        change("static_cast<unsigned long long>(at.e) * args.n", "0ull * args.n")),
    row("row of the output one off", change("args.n + n) * args.k", "args.n + n + 1) * args.k")),
    row("codes counted where bytes are stored",
        change("args.out + code / (8 / OUT_BITS)", "args.out + code"), PACKED),
    row("stored words exchanged",
        change("codes[w / (OUT_BITS / 2)].word[w % (OUT_BITS / 2)]",
               "codes[w / (OUT_BITS / 2)].word[(w ^ 1) % (OUT_BITS / 2)]")),
] + [plan(fault, PLAIN, fault + ", rows") for fault in (
    "stride-n", "stride-n-element", "stride-e", "scale-row", "scale-matrix-stride", "length-k",
    "one-block-less")]
