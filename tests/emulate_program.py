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
                          ["--strides", "1,1", NAME]):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertTrue(done.stderr, arguments)
        self.assertEqual(run("--help").returncode, 0)

    def test_unknown_names(self):
        for name in ("quantize_bf16_e4m3_b33_*", "no such file.cu", self.write("int x;\n")):
            done = run(name)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(name, done.stderr)

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
        self.assertRegex(done.stdout, r"colt\.tma\.cu:\d+: block \d+, thread 0: map_store")
        self.assertIn(NAME + ".tma", done.stdout)
        # The command that it gives says the same again.
        again = re.search(r"again: mxq-emulate (.*?\.cu) (.*)", done.stdout)
        self.assertEqual(again[1], path)
        second = run(path, *again[2].split())
        self.assertEqual(second.stdout, done.stdout)

    def test_line_is_the_templates(self):
        folder = os.path.join(self.folder, "templates")
        shutil.copytree(TEMPLATES, folder)
        path = os.path.join(folder, "colt.tma.cu")
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        wanted = "  barrier_expect(BARRIER, IN_BYTES);"
        self.assertEqual(text.count(wanted), 1)
        line = text[:text.index(wanted)].count("\n") + 1
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text.replace(wanted, "  barrier_expect(BARRIER, IN_BYTES - 1);"))
        done = run("--templates", folder, NAME)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(done.stdout, rf"colt\.tma\.cu:{line}\)")
        self.assertIn("--templates", done.stdout)
        self.assertEqual(run("--templates", folder + "x", NAME).returncode, 1)

    def test_compile_error(self):
        done = run(self.write(self.source.replace("bulk_commit();", "no_such_primitive();")))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stderr, r"colt\.tma\.cu:\d+:.*no_such_primitive")

    def test_crash(self):
        if os.environ.get("MXQ_SANITIZED"):
            self.skipTest("a sanitizer reports crashes itself")
        edited = self.source.replace("  bulk_wait_read();\n", "  *(volatile int *)8 = 1;\n")
        self.assertNotEqual(edited, self.source)
        done = run(self.write(edited))
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"signal \d+ in block \d+, thread 0, after bulk_commit")

    def test_shapes_without_elements_and_unfit_ones(self):
        for shape in ("0,64,64", "3,0,64", "3,64,0"):
            done = run("--shape", shape, NAME)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = run("--shape", "1,65,64", NAME)
        self.assertEqual(done.returncode, 4)
        self.assertIn("takes", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
