# SPDX-License-Identifier: MIT
"""What the tests of the program share: running it, and reading and writing safetensors files with
nothing but the standard library."""
import array
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

MXQ = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "mxq"
DEVICE = sys.argv[2] if len(sys.argv) > 2 else "cpu"


def run(*arguments, **options):
    """Runs mxq; standard output and error as text."""
    return subprocess.run([MXQ, *map(str, arguments)], stdin=subprocess.DEVNULL,
                          stdout=options.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
                          text=True, errors="backslashreplace", timeout=120, **options)


def floats(*shape, start=1):
    """A float32 tensor of small whole numbers; exact in e4m3 within a block of equal values."""
    count = 1
    for length in shape:
        count *= length
    values = array.array("f", ((start + i * 7) % 13 - 6 for i in range(count)))
    return ("F32", list(shape), values.tobytes())


def halves(*shape):
    dtype, shape, data = floats(*shape)
    return ("BF16", shape, b"".join(data[i + 2:i + 4] for i in range(0, len(data), 4)))


def quantize(source, out, *arguments, **options):
    return run("quantize", source, "-o", out, "--device", DEVICE, *arguments, **options)


def without_duplicates(pairs):
    assert len(dict(pairs)) == len(pairs), f"a key stands there twice: {pairs}"
    return dict(pairs)


def header_of(path):
    """The header of a file, in its order, and the offset of the data."""
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        return json.loads(file.read(length), object_pairs_hook=without_duplicates), 8 + length


def read(path):
    """{name: (dtype, shape, bytes)} in the header's order; checks that the file has no gaps."""
    header, base = header_of(path)
    metadata = header.pop("__metadata__", {})
    with open(path, "rb") as file:
        data = file.read()[base:]
    at = 0
    tensors = {}
    for name, facts in header.items():
        begin, end = facts["data_offsets"]
        assert begin == at, f"{path}: a gap or an overlap before {name}"
        tensors[name] = (facts["dtype"], facts["shape"], data[begin:end])
        at = end
    assert at == len(data), f"{path}: {len(data)} bytes, its tensors have {at}"
    assert base % 8 == 0, f"{path}: the data is not aligned"
    return metadata, tensors


def write(path, tensors, metadata=None, pad=0):
    """The inverse; `pad` more spaces after the header make the data misaligned."""
    header = {"__metadata__": metadata} if metadata else {}
    at = 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8 + pad)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, data in tensors.values():
            file.write(data)


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def check(self, result, code, *pieces):
        """The exit code, and what standard error must say."""
        self.assertEqual(result.returncode, code, result.stderr + (result.stdout or ""))
        for piece in pieces:
            self.assertIn(piece, result.stderr)
        if code:
            self.assertTrue(result.stderr.startswith("mxq: "), result.stderr)
        return result


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def main():
    """Runs the tests of the program that was called."""
    if DEVICE != "cpu":
        driver = json.loads(run("info", "--json").stdout)["driver"]
        if not driver["devices"]:
            skip(f"no device: {driver['reason'] or 'the driver has none'}")
    unittest.main(argv=sys.argv[:1], verbosity=2)
