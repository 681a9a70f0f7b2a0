# SPDX-License-Identifier: MIT
"""mxq emit and mxq check: sets of kernels from manifests.
    cli_emit.py MXQ cpu FAKE_DRIVER"""
import json
import os
import shutil
import sys

from cli_support import Case, floats, main, run, write

NAME = "quantize_bf16_e4m3_b32_rceil_colt_lin"
OTHER = "quantize_f32_e5m2_b32_floor_colt_lin"
FAKE = os.path.abspath(sys.argv[3])
SUFFIXES = ".blob", "_registry.c", ".h"


class Emit(Case):
    def mxq(self, *arguments, code=0, **variables):
        environment = dict(os.environ, MXQ_CACHE_DIR=self.path("cache"), **variables)
        return self.check(run(*arguments, env=environment), code)

    def manifest(self, text, name="m.txt"):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def read(self, folder, name="kernels"):
        files = []
        for suffix in SUFFIXES:
            with open(f"{self.path(folder)}/{name}{suffix}", "rb") as file:
                files.append(file.read())
        return files

    def test_same_bytes_anywhere(self):
        text = f"{OTHER} # comment\n{NAME}\n"
        first = self.manifest(text, "one/m.txt")
        second = self.manifest(text, "a folder/deep/m.txt")
        self.mxq("emit", first, "--archs", "90a,100a", "-o", self.path("1"))
        self.mxq("emit", second, "--archs", "90a,100a", "-o", self.path("2"))  # from the cache
        shutil.rmtree(self.path("cache"))
        self.mxq("emit", second, "--archs", "90a,100a", "-o", self.path("3"), LC_ALL="C")
        self.assertEqual(self.read("1"), self.read("2"))
        self.assertEqual(self.read("1"), self.read("3"))
        for content in self.read("1"):
            self.assertNotIn(os.path.dirname(self.path("1")).encode(), content)
        self.mxq("emit", first, "--archs", "90a", "-o", self.path("4"))
        self.assertLess(len(self.read("4")[0]), len(self.read("1")[0]))

    def test_json_manifest(self):
        path = self.manifest(json.dumps({"mxq_manifest": 1, "archs": ["90a"], "include": [NAME]}))
        self.mxq("emit", path, "-o", self.path("own"))
        self.mxq("emit", self.manifest(NAME), "--archs", "90a", "-o", self.path("given"))
        self.assertEqual(self.read("own")[0], self.read("given")[0])

    def test_check_lists_what_emit_holds(self):
        path = self.manifest(f"{NAME}\n{OTHER}\n")
        self.mxq("emit", path, "--archs", "90a,100a", "-o", self.path("out"), "--name", "set")
        result = self.mxq("check", path, "--archs", "90a,100a", "--blob", self.path("out/set.blob"))
        rows = [line.split() for line in result.stdout.splitlines()]
        self.assertEqual({arch for arch, _ in rows}, {"90a", "100a"})
        self.assertEqual({kernel.split(".")[0] for _, kernel in rows}, {NAME, OTHER})
        source = self.read("out", "set")[1].decode()
        for arch, kernel in rows:
            self.assertIn(f" *   {arch:5} {kernel}\n", source)
        self.assertEqual(source.count("\n *   "), len(rows) + 1)  # and the command
        rows = json.loads(self.mxq("check", path, "--archs", "90a", "--json").stdout)
        self.assertEqual({row["arch"] for row in rows}, {"90a"})

    def test_check_finds_what_a_set_lacks(self):
        small, large = self.manifest(NAME), self.manifest(f"{NAME}\n{OTHER}\n", "large.txt")
        self.mxq("emit", small, "--archs", "90a", "-o", self.path("out"))
        blob = self.path("out/kernels.blob")
        result = self.mxq("check", large, "--archs", "90a", "--blob", blob, code=4)
        self.assertIn(f"line to add: {OTHER}\n", result.stderr)
        self.assertNotIn(f"line to add: {NAME}\n", result.stderr)
        result = self.mxq("check", small, "--archs", "90a,120a", "--blob", blob, code=4)
        self.assertIn("for 120a", result.stderr)
        with open(blob, "r+b") as file:
            file.seek(100)
            file.write(b"\xff\xff\xff")
        self.assertIn("checksum", self.mxq("check", small, "--archs", "90a", "--blob", blob,
                                           code=2).stderr)

    def test_recorded_manifest(self):
        write(self.path("in.safetensors"), {"w": floats(64, 32)})
        record = self.path("record.txt")
        self.mxq("quantize", self.path("in.safetensors"), "-o", self.path("out.safetensors"),
                 "--device", "cuda:0", "--variant", OTHER, MXQ_RECORD=record, LD_LIBRARY_PATH=FAKE)
        self.mxq("emit", record, "--archs", "90a", "-o", self.path("out"))
        self.mxq("check", self.manifest(OTHER), "--archs", "90a", "--blob",
                 self.path("out/kernels.blob"))

    def test_depfile(self):
        path = self.manifest(NAME, "with space#/m$.txt")
        self.mxq("emit", path, "--archs", "90a", "-o", self.path("o"), "--depfile", self.path("d"))
        with open(self.path("d"), encoding="utf-8") as file:
            left, right = file.read().split(": ")
        self.assertEqual(left, " ".join(self.path("o/kernels") + suffix for suffix in SUFFIXES))
        self.assertTrue(right.startswith(
            path.replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$") + " /"), right)
        self.assertRegex(right, r"libnvrtc\S*\n$")

    def test_errors(self):
        path = self.manifest(NAME)
        out = "-o", self.path("out")
        for arguments, code, text in (
                ((path, "--archs", "90a"), 2, "-o DIR"),
                ((path, *out), 2, "no archs"),
                ((path, "--archs", "90a,", *out), 2, "unknown arch"),
                ((path, "--archs", "90a", "--name", "a-b", *out), 2, "identifier"),
                ((self.path("none"), "--archs", "90a", *out), 1, "none"),
                ((self.manifest("x\ny_*\n", "bad.txt"), "--archs", "90a", *out), 2, "bad.txt:1"),
                ((path, "--archs", "90a", "-o", path), 1, path)):
            self.assertIn(text, self.mxq("emit", *arguments, code=code).stderr)
            self.assertFalse(os.path.exists(self.path("out")))
        nothing = self.mxq("emit", path, "--archs", "90a", *out, code=3, MXQ_NVRTC="/none.so").stderr
        self.assertIn("/none.so", nothing)


if __name__ == "__main__":
    main()
