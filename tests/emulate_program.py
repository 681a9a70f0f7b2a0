# SPDX-License-Identifier: MIT
"""mxq-emulate as a program: what it takes, what it says, and how it ends.

usage: emulate_program.py MXQ MXQ_EMULATE TEMPLATES
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

MXQ, EMULATE, TEMPLATES = sys.argv[1:4]
NAME = "quantize_bf16_e4m3_b32_rceil_colt_lin"
FENCE = re.compile(r"^ *fence_async_shared\(\);  // orders this thread's codes.*$", re.M)

# What somebody might break, as sed would: calls of primitives are indented, definitions are not. The
# last is what the variant's name holds where the edited lines are in use.
EDITS = {
    "fences": (r"^ +fence_async_shared\(\);.*\n", "", ""),
    "fence by one thread": (r"^ +(fence_async_shared\(\);)", r"if (thread_id() == 0) \1", ""),
    "barriers": (r"^ +block_sync\(\);.*\n", "", "col|sq"),
    "wait for reading": (r"^ +bulk_wait_read\(\);.*\n", "", ""),
    "commit": (r"^ +bulk_commit\(\);.*\n", "", ""),
    "expected bytes": (r"\(BARRIER, IN_BYTES\);", "(BARRIER, IN_BYTES + 16);", ""),
    "wait for the load": (r"^ +barrier_wait\(.*\);.*\n", "", ""),
    "swizzle": (r"\bswizzle<[A-Z_0-9]+>\(", "(", "colt|sqt"),
    "matrix of the load": (r"\bat\.e, BARRIER", "0, BARRIER", ""),
    "bound of K": (r"k < args\.k", "true", "_lin"),
    "next tile": (r"\(args, block_id\(\)\)", "(args, block_id() + (block_id() == 0))", ""),
}
EDITED = ("quantize_bf16_e4m3_b32_rceil_colt_lin", "dequantize_e4m3_f32_b32_e8m0_colt_blk",
          "quantize_f16_e2m1_b64_even_rowcolt_blk", "quantize_f32_e5m2_b32_amax_row_lin")


def run(*arguments, cwd=None):
    return subprocess.run([EMULATE, *arguments], cwd=cwd, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=300, check=False)


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="mxq emulate é ")
        self.addCleanup(shutil.rmtree, self.folder)
        done = subprocess.run([MXQ, "source", NAME], stdout=subprocess.PIPE, text=True, check=True)
        self.source = done.stdout

    def write(self, text):
        path = os.path.join(self.folder, "edited.cu")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return path

    def test_usage(self):
        for arguments in ([], ["--shape", "1,2", NAME], ["--seeds", "0", NAME], ["--grid", "x", NAME],
                          ["--fault", "none such", NAME], ["--no-such-option"],
                          ["--strides", "1,1", NAME], ["--ahead", "1", NAME],
                          ["--ahead", "5", "--shape", "1,2,3", NAME], ["--seconds", "0", NAME],
                          ["--arch", "7", NAME], ["--narrow", NAME],
                          ["--narrow", "--arch", "90a", NAME]):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertTrue(done.stderr, arguments)
        self.assertEqual(run("--help").returncode, 0)

    def test_unknown_names(self):
        for name in ("quantize_bf16_e4m3_b33_*", "no such file.cu", self.write("int x;\n")):
            done = run(name)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(name, done.stderr)

    def test_runs_are_bounded(self):
        done = run(NAME, "--fault", "one-block-less", "--shape", "1,0,0")
        self.assertEqual(done.returncode, 0, done.stdout)  # nothing is launched
        done = run(NAME, "--fault", "one-block-less", "--shape", "1,16,16", "--jobs", "1")
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn("was never written", done.stdout)
        done = run(NAME, "--grid", "4000000000", "--shape", "1,16,16")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("--grid 4000000000: give a number of blocks from 0 to 1048576", done.stderr)
        for name, shape in ((NAME, "1,100000,100000"), (NAME + ".any", "4000000,1,1"),
                            ("quantize_*_b16_*_lin.relayout", "1,9000,9000")):
            done = run(name, "--shape", shape)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)

    def test_loop_without_primitives(self):
        """In both builds; the thread sanitizer's runs only this one."""
        edited = self.source.replace(
            "  const unsigned group = thread_id() / WORDS;",
            "  for (volatile int i = 0; thread_id() == 7 && block_id() == 1;) i = i;\n"
            "  const unsigned group = thread_id() / WORDS;")
        self.assertNotEqual(edited, self.source)
        done = run(self.write(edited), "--seconds", "2", "--shape", "2,144,80", "--grid", "2")
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertRegex(done.stdout, rf"^{NAME}\.tma-128x128: hazard\n")
        self.assertRegex(done.stdout, r"block 1, thread 7: .*does not end.* in 2 seconds of processor")
        self.assertIn("again: mxq-emulate ", done.stdout)

    def test_loop_with_primitives(self):
        edited = self.source.replace("  barrier_wait(BARRIER, 0);",
                                     "  shared_store(OUT_TILE + thread_id() * 4, 0u);\n  block_sync();\n"
                                     "  for (;;) shared_load<unsigned>(OUT_TILE);\n  ")
        self.assertNotEqual(edited, self.source)
        done = run(self.write(edited), "--seconds", "20", "--shape", "1,16,16")
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)

    def test_unedited_source_is_clean(self):
        done = run(self.write(self.source), "--seeds", "3", "--shape", "2,144,80")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("3 runs", done.stdout)

    def test_edited_source(self):
        edited, count = FENCE.subn("", self.source)
        self.assertEqual(count, 1)
        path = self.write(edited)
        done = run(path)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(done.stdout, r"tile\.tma\.cu:\d+: block \d+, thread 0: map_store")
        self.assertIn(NAME + ".tma", done.stdout)
        # The command that it gives says the same again.
        again = re.search(r"again: mxq-emulate (.*?\.cu) (.*)", done.stdout)
        self.assertEqual(again[1], path)
        second = run(path, *again[2].split())
        self.assertEqual(second.stdout, done.stdout)

    def test_each_kind_of_edit(self):
        found = 0
        for name in EDITED[:2] if os.environ.get("MXQ_SANITIZED") else EDITED:
            done = subprocess.run([MXQ, "source", name], stdout=subprocess.PIPE, text=True, check=True)
            clean = run(self.write(done.stdout), "--small", "--seeds", "2")
            self.assertEqual(clean.returncode, 0, clean.stdout + clean.stderr)
            for what, (old, new, where) in EDITS.items():
                edited, count = re.subn(old, new, done.stdout, flags=re.M)
                if not count or not re.search(where, name):
                    continue
                with self.subTest(kernel=name, edit=what):
                    found += 1
                    broken = run(self.write(edited), "--small")
                    self.assertEqual(broken.returncode, 4, broken.stdout + broken.stderr)
                    self.assertRegex(broken.stdout, r"[a-z_]+(\.tma)?\.cuh?:\d+|was never written")
        self.assertGreater(found, 12)

    def test_line_is_the_templates(self):
        folder = os.path.join(self.folder, "templates")
        shutil.copytree(TEMPLATES, folder)
        path = os.path.join(folder, "tile.tma.cu")
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        wanted = "  barrier_expect(BARRIER, IN_BYTES);"
        self.assertEqual(text.count(wanted), 1)
        line = text[:text.index(wanted)].count("\n") + 1
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text.replace(wanted, "  barrier_expect(BARRIER, IN_BYTES - 1);"))
        done = run("--templates", folder, NAME)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(done.stdout, rf"tile\.tma\.cu:{line}\)")
        self.assertIn("--templates", done.stdout)
        missing = run("--templates", folder + "x", NAME)
        self.assertEqual(missing.returncode, 1)
        self.assertEqual(missing.stderr.count("no folder of templates"), 1, missing.stderr)

    def test_compile_error(self):
        done = run(self.write(self.source.replace("bulk_commit();", "no_such_primitive();")))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stderr, r"tile\.tma\.cu:\d+:.*no_such_primitive")

    def test_crash(self):
        if os.environ.get("MXQ_SANITIZED"):
            self.skipTest("a sanitizer reports crashes itself")
        edited = self.source.replace("  bulk_wait_read();\n", "  *(volatile int *)8 = 1;\n")
        self.assertNotEqual(edited, self.source)
        done = run(self.write(edited))
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"signal \d+ in block \d+, thread 0, after bulk_commit")

    def test_archs_and_families(self):
        def kernels(*arguments):
            done = run(*arguments, "--small", "--jobs", "1")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return re.findall(r"^\S+_lin\.(\S+) (.*): clean", done.stdout, re.M)
        self.assertEqual(kernels(NAME), [("tma-128x128", "90a"), ("any-128x128", "90a")])
        self.assertEqual(kernels(NAME, "--arch", "80"), [("any-128x128", "80")])
        self.assertEqual(kernels(NAME + ".tma", "--narrow", "--arch", "100a"),
                         [("tma-128x128", "100a narrow")])
        self.assertGreater(len(kernels(NAME + ".*-*")), 2)
        self.assertEqual(run(NAME + ".tma", "--arch", "80").returncode, 2)

    def test_pairs_hold_every_arch_and_family(self):
        if os.environ.get("MXQ_SANITIZED"):
            self.skipTest("a sanitizer changes no list, and emulate_pairs compiles them")
        done = run("--pairs", "--shape", "1,0,0")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for part in (".tma-", ".any-", " 80:", " 120a narrow:", "_row_", "_sqt_", "_rowcolt_", "_blk.",
                     "_mn.", "dequantize_", ".relayout-"):
            self.assertIn(part, done.stdout)

    def test_diverged_warp(self):
        done = subprocess.run([MXQ, "source", NAME.replace("colt", "row")], stdout=subprocess.PIPE,
                              text=True, check=True)
        line = "  const run_scales scale = scales_of_run(words.word, 1, exists);"
        self.assertEqual(done.stdout.count(line), 1)
        edited = done.stdout.replace(line, "  if (!exists) return;\n" + line)
        done = run(self.write(edited), "--shape", "1,3,16")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("shuffle_xor is not reached by the whole warp", done.stdout)
        self.assertIn("run.cuh:", done.stdout)

    def test_shapes_without_elements_and_unfit_ones(self):
        for shape in ("0,64,64", "3,0,64", "3,64,0"):
            done = run("--shape", shape, NAME)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = run("--shape", "1,65,64", NAME)  # the generic kernel takes it
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn(f"not run: {NAME}.tma-128x128: ", done.stderr)
        self.assertIn("65 bytes; the tensor copy engine takes multiples of 16 bytes", done.stderr)
        self.assertIn("2 kernels, 1 runs, 0 not clean, 1 not run", done.stdout)
        self.assertEqual(run("--shape", "1,65,64", NAME + ".any").returncode, 0)
        done = run("--shape", "1,65,64", self.write(self.source))
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        done = run("--shape", "1,65,64", "--fault", "scale-row", NAME)
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)  # a hazard is worse

    def test_parts(self):
        found = []
        for part in ("1/3", "2/3", "3/3"):
            done = run("--part", part, "--shape", "1,0,0", "quantize_bf16_e4m3_b32_rceil_*_lin")
            self.assertEqual(done.returncode, 0, done.stderr)
            found += re.findall(r"^(\S+) 90a: clean", done.stdout, re.M)
        done = run("--shape", "1,0,0", "quantize_bf16_e4m3_b32_rceil_*_lin")
        self.assertEqual(sorted(found), sorted(re.findall(r"^(\S+) 90a: clean", done.stdout, re.M)))
        self.assertGreater(len(found), 8)
        for part in ("0/3", "4/3", "1", "1/", "a/b"):
            self.assertEqual(run("--part", part, NAME).returncode, 2, part)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
