# SPDX-License-Identifier: MIT
"""A block size that nobody has is one line of include/mxq/axes.def: blocks of 8, in a copy of the
sources that is built anew. Every variant of theirs must be there, and their kernels must give what the
CPU path gives, in the emulator.
    another_block.py SOURCE CMAKE"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, CMAKE = os.path.abspath(sys.argv[1]), sys.argv[2]
LINE = re.compile(r"^MXQ_BLOCK\(B16, b16, 16\)\n", re.M)
ADDED = "MXQ_BLOCK(B8, b8, 8)\n"
SKIPPED = {".git", ".venv", "__pycache__"}
# Layouts, widths and scale layouts, so that each way to share out a block's elements is among them.
KERNELS = ["quantize_bf16_e4m3_b8_rceil_*_lin", "quantize_bf16_e5m2_b8_floor_*_blk",
           "quantize_f32_e2m1_b8_even_*_mn", "quantize_f16_e2m1_b8_ceil_rowcolt_lin",
           "quantize_f32_e4m3_b8_amax_sqsqt_lin", "dequantize_e4m3_bf16_b8_e8m0_*_mn"]


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def skip(folder, names):
    builds = {name for name in names if folder == SOURCE and name.startswith("build")}
    return builds | SKIPPED.intersection(names)


class AnotherBlock(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="mxq-another-block-")
        source = os.path.join(cls.root, "source")
        shutil.copytree(SOURCE, source, ignore=skip, symlinks=True)
        axes = os.path.join(source, "include", "mxq", "axes.def")
        with open(axes, encoding="utf-8") as file:
            text, count = LINE.subn(lambda match: ADDED + match[0], file.read())
        assert count == 1, f"{axes} has {count} lines of blocks of 16"
        with open(axes, "w", encoding="utf-8") as file:
            file.write(text)
        build = os.path.join(cls.root, "build")
        run(CMAKE, "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_C_FLAGS_RELEASE=-O0", "-DCMAKE_CXX_FLAGS_RELEASE=-O0")
        run(CMAKE, "--build", build, "--target", "mxq_cli", "mxq-emulate")
        cls.bin = os.path.join(build, "bin")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root, ignore_errors=True)

    def test_every_variant_is_there(self):
        names = run(os.path.join(self.bin, "mxq"), "list").split()
        new = {name for name in names if "_b8_" in name}
        self.assertEqual(new, {name.replace("_b16_", "_b8_") for name in names if "_b16_" in name})

    def test_kernels_give_what_the_cpu_path_gives(self):
        variants = run(os.path.join(self.bin, "mxq"), "list", *KERNELS).split()
        summary = run(os.path.join(self.bin, "mxq-emulate"), "--small", *KERNELS).splitlines()[-1]
        found = re.match(r"^(\d+) kernels, \d+ runs, 0 not clean, 0 not run", summary)
        self.assertTrue(found, summary)
        # A generic kernel of each, and a fast one of all but rows with packed scales.
        self.assertGreater(int(found[1]), 2 * len(variants) - 4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
