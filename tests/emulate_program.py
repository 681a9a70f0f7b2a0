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
                          ["--strides", "1,1", NAME], ["--arch", "7", NAME], ["--narrow", NAME],
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
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn("4000000000 blocks", done.stdout)
        done = run(NAME, "--shape", "1,100000,100000")
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn("give a smaller shape", done.stdout)

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
        self.assertEqual(run("--templates", folder + "x", NAME).returncode, 1)

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
        done = run("--pairs", "--shape", "1,0,0")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for part in (".tma-", ".any-", " 80:", " 120a narrow:", "_row_", "_sqt_", "_rowcolt_", "_blk.",
                     "_mn.", "dequantize_", ".relayout-"):
            self.assertIn(part, done.stdout)

    def test_diverged_warp(self):
        done = subprocess.run([MXQ, "source", NAME.replace("colt", "row")], stdout=subprocess.PIPE,
                              text=True, check=True)
        edited = done.stdout.replace("  const run_scales scale = scales_of_run(words, 1);",
                                     "  if (!inside) return;\n"
                                     "  const run_scales scale = scales_of_run(words, 1);")
        self.assertNotEqual(edited, done.stdout)
        done = run(self.write(edited), "--shape", "1,3,16")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("shuffle_xor is not reached by the whole warp", done.stdout)
        self.assertIn("run.cuh:", done.stdout)

    def test_shapes_without_elements_and_unfit_ones(self):
        for shape in ("0,64,64", "3,0,64", "3,64,0"):
            done = run("--shape", shape, NAME)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = run("--shape", "1,65,64", NAME)
        self.assertEqual(done.returncode, 4)
        self.assertIn("takes", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
