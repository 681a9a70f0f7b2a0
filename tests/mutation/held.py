# SPDX-License-Identifier: MIT
"""Faults of held_odd.cuh, and of the tile that becomes one of smaller elements."""
from edits import Template, change, cut, drop, fast

ROWCOLT = fast("f32_e2m1_b32_rceil_rowcolt")
LARGE = fast("f32_e2m1_b128_even_rowcol")
EACH = ROWCOLT + LARGE

held = Template("held_odd.cuh", ROWCOLT)
tile = Template("tile.tma.cu", EACH)

MUTANTS = [
    held("truncated, not rounded to odd", change(" |\n         min_pair_u16(permute_bytes(low, high, 0x5410), 0x00010001)", ""),
         EACH),
    held("what is cut off of one column", change("0x5410), 0x00010001)", "0x5410), 0x00000001)"), EACH),
    held("columns exchanged", change("(low, high, 0x7632)", "(low, high, 0x3276)"), EACH),
    held("columns exchanged in what is cut off", change("(low, high, 0x5410)", "(low, high, 0x1054)"), EACH),
    held("maximum between scales one place lower",
         change("BETWEEN_SCALES = 0x01400001", "BETWEEN_SCALES = 0x01400000")),
    held("maximum between scales one place higher",
         change("BETWEEN_SCALES = 0x01400001", "BETWEEN_SCALES = 0x01400002")),
    held("negative maximum between scales forgotten",
         change("magnitude(bits_float(word)) ==", "bits_float(word) ==")),
    held("maximum between scales of the second column forgotten",
         change("is_between(two.word[0]) | is_between(two.word[1])", "is_between(two.word[0])")),
    held("maximum between scales of the second column kept",
         change("two.word[1] - is_between(two.word[1])", "two.word[1]")),
    held("first column kept where the second is between scales",
         change("two.word[0] - is_between(two.word[0])", "two.word[0]")),
    held("rows packed again without the last", change("r < HELD_ROWS; r++) {\n    const words2 two = shared_load<words2>(from + r",
         "r < HELD_ROWS - 1; r++) {\n    const words2 two = shared_load<words2>(from + r")),
    held("rows of the next group", change("first_row * ROW_BYTES + word * 8", "(first_row ^ 32) * ROW_BYTES + word * 8"),
         EACH),
    held("barrier between float32 and what is put over it dropped",
         drop("  block_sync();  // orders the loads of all float32"), EACH),
    held("packed words in the place of the next pattern", change("rows[r + below], r * 128", "rows[r + below], r * 64"),
         EACH),
    held("packed words not turned as their rows", change("word_place(first_row + below, word)",
                                                         "word_place(first_row, word) + below * 128"), EACH),
    tile("barrier before runs of packed words dropped",
         cut("  block_sync();  // orders the stores of all packed words before their loads\n")),
    tile("input tile by slabs where it is one", change("if constexpr (READS_ROWS && !PACKS)", "if constexpr (READS_ROWS)")),
]
