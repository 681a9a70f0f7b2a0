# SPDX-License-Identifier: MIT
"""Every line of vectors/blocks.txt that a variant takes, through mxq quantize: the bytes of codes
and scales in the file are those that the vectors give."""
import json
import os
import struct

from cli_support import DEVICE, Case, main, quantize, read, run, write

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors", "blocks.txt")


def vectors():
    """(output, mode, input, length, input bits, scale bytes, codes) of each line."""
    with open(VECTORS, encoding="ascii") as file:
        for line in file:
            facts, inputs, scale, codes = (part.split() for part in line.split("|"))
            out, mode, kind, length = facts
            scale_bytes = bytes.fromhex(scale[0])[::-1]
            yield (out, mode, kind, int(length), [int(x, 16) for x in inputs], scale_bytes,
                   bytes.fromhex("".join(codes)))


def narrow(kind, bits):
    """The bytes of an input whose float32 bits are given and exact in its type."""
    if kind == "f32":
        return struct.pack("<I", bits)
    if kind == "bf16":
        assert bits & 0xFFFF == 0
        return struct.pack("<H", bits >> 16)
    if bits & 0x7F800000 == 0x7F800000 and bits & 0x7FFFFF:
        return struct.pack("<H", 0x7E00)
    return struct.pack("<e", struct.unpack("<f", struct.pack("<I", bits))[0])


# How the blocks of one length lie in tensors: matrices of values, and each block's scale and codes
# taken out of the output again. `codes` are the output's, one a byte.
def beside(blocks):
    """As columns of one matrix; repeated up to a multiple of eight columns."""
    more = blocks + blocks[:1] * (-len(blocks) % 8)
    return [[[block[n] for block in more] for n in range(len(blocks[0]))]]


def below(blocks):
    """As rows of one matrix; repeated as above."""
    return [list(map(list, blocks + blocks[:1] * (-len(blocks) % 8)))]


def squares(blocks):
    """A square for each; each row begins one element later."""
    return [[block[n:] + block[:n] for n in range(len(block))] for block in blocks]


def transposed(matrix):
    return [list(column) for column in zip(*matrix)]


PLACED = {"row": below, "col": beside, "colt": beside, "sq": squares, "sqt": squares}
# A layout's parts, as single layouts; each is tried on its own.
PARTS = {**{layout: [layout] for layout in PLACED}, "rowcol": ["row", "col"],
         "rowcolt": ["row", "colt"], "sqsqt": ["sq", "sqt"]}


class Vectors(Case):
    def tensors(self, row, length, blocks):
        """{name: tensor} of a variant's input."""
        matrices = PLACED[row["part"]]([[narrow(row["in"], x) for x in inputs]
                                          for inputs, _, _ in blocks])
        return {f"n{length}.{i}": (row["in"].upper(), [len(matrix), len(matrix[0])],
                                   b"".join(x for line in matrix for x in line))
                for i, matrix in enumerate(matrices)}

    def expected(self, row, blocks):
        """The bytes of codes and of scales that the tensors should give."""
        codes = PLACED[row["part"]]([list(codes) for _, _, codes in blocks])
        count = len(codes[0][0]) if PLACED[row["part"]] is beside else len(codes[0])
        count = count if len(codes) == 1 else len(blocks)
        scales = [scale for _, scale, _ in blocks]
        scales += scales[:1] * (count - len(blocks))
        for i, matrix in enumerate(codes):
            if row["part"] in ("colt", "sqt"):
                matrix = transposed(matrix)
            data = bytes(code for line in matrix for code in line)
            if row["out"] == "e2m1":
                data = bytes(low | high << 4 for low, high in zip(data[::2], data[1::2]))
            yield data, scales[i] if len(codes) > 1 else b"".join(scales)

    def compare(self, name, row, blocks_of_length):
        """All blocks of one variant: tensors for each length."""
        tensors = {}
        for length, blocks in blocks_of_length.items():
            tensors.update(self.tensors(row, length, blocks))
        write(self.path("in"), tensors)
        result = quantize(self.path("in"), self.path("out"), "--variant", name, "--json")
        self.check(result, 0)
        for tensor in json.loads(result.stdout)["tensors"]:
            self.assertEqual(tensor["device"], DEVICE, tensor["note"])
        _, out = read(self.path("out"))
        for length, blocks in blocks_of_length.items():
            for i, (codes, scales) in enumerate(self.expected(row, blocks)):
                tensor = f"n{length}.{i}"
                if row["layout"] != row["part"]:
                    tensor += "." + row["part"]
                self.assertEqual((out[tensor + ".scale"][2].hex(), out[tensor][2].hex()),
                                 (scales.hex(), codes.hex()),
                                 f"{name}, {tensor}: {[block[0] for block in blocks]}")
            self.checked += len(blocks)

    def test_every_line(self):
        """Of each pair of types and mode two parts of layouts with a block size, in turn (the C test
        of the vectors takes every variant)."""
        self.checked = compared = 0
        lines = list(vectors())
        rows = json.loads(run("list", "--op", "quantize", "--scales", "lin", "--json").stdout)
        shortest = min(length for _, _, _, length, *_ in lines)
        rows = [row for row in rows if row["block"] >= shortest]
        sizes = {row["block"] for row in rows}
        combinations = {}
        for row in rows:
            facts = (row["in"], row["out"], row["mode"])
            for part in PARTS[row["layout"]]:
                combinations.setdefault(facts, []).append({**row, "part": part})
        chosen_rows = [same[(7 * i + half * len(same) // 2) % len(same)]
                       for i, same in enumerate(combinations.values()) for half in (0, 1)]
        self.assertEqual({(row["layout"], row["part"]) for row in chosen_rows},
                         {(layout, part) for layout in PARTS for part in PARTS[layout]})
        self.assertEqual({row["block"] for row in chosen_rows}, sizes)
        for row in chosen_rows:
            chosen = {}
            for out, mode, kind, length, inputs, scale, codes in lines:
                # A shorter block is one that runs past the end of its axis.
                if (out, mode, kind) == (row["out"], row["mode"], row["in"]) and \
                        length <= row["block"]:
                    chosen.setdefault(length, []).append((inputs, scale, codes))
            self.assertTrue(chosen, f"no vector for {row['name']}")
            with self.subTest(variant=row["name"]):
                self.compare(row["name"], row, chosen)
                compared += 1
        print(f"{self.checked} blocks of {compared} variants on {DEVICE}")


main()
