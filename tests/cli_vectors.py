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


class Vectors(Case):
    def tensor(self, kind, blocks):
        """A matrix whose columns are the blocks; zeros up to a multiple of eight columns."""
        length = len(blocks[0][0])
        columns = len(blocks) + -len(blocks) % 8
        zero = narrow(kind, 0)
        rows = [b"".join(narrow(kind, inputs[n]) for inputs, _, _ in blocks) +
                zero * (columns - len(blocks)) for n in range(length)]
        return (kind.upper(), [length, columns], b"".join(rows))

    def compare(self, name, row, blocks_of_length):
        """All blocks of one variant: a tensor for each length."""
        tensors = {f"n{length}": self.tensor(row["in"], blocks)
                   for length, blocks in blocks_of_length.items()}
        write(self.path("in"), tensors)
        result = quantize(self.path("in"), self.path("out"), "--variant", name, "--json")
        self.check(result, 0)
        for tensor in json.loads(result.stdout)["tensors"]:
            self.assertEqual(tensor["device"], DEVICE, tensor["note"])
        _, out = read(self.path("out"))
        for length, blocks in blocks_of_length.items():
            codes, scales = out[f"n{length}"][2], out[f"n{length}.scale"][2]
            for k, (inputs, scale, expected) in enumerate(blocks):
                self.assertEqual((scales[k * len(scale):][:len(scale)].hex(),
                                  codes[k * length:][:length].hex()),
                                 (scale.hex(), expected.hex()),
                                 f"{name}, block {k} of {length}: {inputs}")
            self.checked += len(blocks)

    def test_every_line(self):
        self.checked = 0
        rows = json.loads(run("list", "--op", "quantize", "--layout", "colt", "--scales", "lin",
                              "--json").stdout)
        for row in rows:
            chosen = {}
            for out, mode, kind, length, inputs, scale, codes in vectors():
                # A shorter block is one that runs past the end of its axis.
                if (out, mode, kind) == (row["out"], row["mode"], row["in"]) and \
                        length <= row["block"]:
                    chosen.setdefault(length, []).append((inputs, scale, codes))
            self.assertTrue(chosen, f"no vector for {row['name']}")
            with self.subTest(variant=row["name"]):
                self.compare(row["name"], row, chosen)
        print(f"{self.checked} blocks of {len(rows)} variants on {DEVICE}")


main()
