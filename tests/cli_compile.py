# SPDX-License-Identifier: MIT
"""mxq compile: compiled once, found on disk by the next process, the same cubin."""
import json
import os

from cli_support import Case, main, run, skip

NAME = "quantize_bf16_e4m3_b32_rceil_colt_lin"


class Compile(Case):
    def compile(self, *arguments, code=0, **variables):
        environment = dict(os.environ, MXQ_CACHE_DIR=self.path("cache"), **variables)
        return self.check(run("compile", *arguments, env=environment), code)

    def test_twice(self):
        first = self.compile(NAME, "--arch", "90a").stdout
        second = self.compile(NAME, "--arch", "90a").stdout
        self.assertEqual(len(first.splitlines()), 1)
        self.assertRegex(first, rf"^{NAME}\.tma-\S+ +compiled +[\d.]+ ms +\d+ registers  "
                                r"0 spill bytes  [0-9a-f]{16}\n$")
        self.assertIn(" disk ", second)
        self.assertEqual(first.split()[-1], second.split()[-1])

    def test_globs_and_json(self):
        glob = "quantize_f16_*_b16_floor_sq*_lin"
        names = run("list", glob).stdout.split()
        self.assertTrue(names)
        rows = json.loads(self.compile(glob, "--json").stdout)
        self.assertEqual([row["variant"] for row in rows], names)
        self.assertEqual({row["origin"] for row in rows}, {"compiled"})
        self.assertEqual({row["arch"] for row in rows}, {"90a"})
        self.assertEqual(len({row["cubin_hash"] for row in rows}), len(rows))
        again = json.loads(self.compile(glob, names[0], "--json").stdout)
        self.assertEqual([row["origin"] for row in again], ["disk"] * len(names) + ["memory"])

    def test_list_knows_what_is_compiled(self):
        def kernels(*arguments, **variables):
            environment = dict(os.environ, MXQ_CACHE_DIR=self.path("cache"), **variables)
            result = self.check(run("list", NAME, "--json", *arguments, env=environment), 0)
            return json.loads(result.stdout)[0]["kernels"]
        self.assertEqual([row["registers"] for row in kernels()], [None] * 4)
        compiled = json.loads(self.compile(NAME, "--json").stdout)[0]
        fast, *others = kernels()
        for key in ["kernel", "registers", "spill_store_bytes", "spill_load_bytes", "stack_bytes"]:
            self.assertEqual(fast[key], compiled[key])
        self.assertEqual([row["registers"] for row in others], [None] * 3)
        everything = kernels("--arch", "90a", "--arch", "80", "--compile")
        self.assertEqual(len(everything), 5)
        for row in everything:
            self.assertGreater(row["registers"], 8)
            self.assertEqual(row["spill_store_bytes"] + row["spill_load_bytes"], 0)
        self.assertEqual(kernels("--arch", "90a", "--arch", "80"), everything)

    def test_list_without_nvrtc(self):
        environment = dict(os.environ, MXQ_CACHE_DIR=self.path("new"),
                           MXQ_NVRTC=self.path("none.so"))
        result = self.check(run("list", NAME, "--json", "--compile", env=environment), 3, "none.so")
        self.assertEqual(result.stdout, "")

    def test_keep(self):
        row = json.loads(self.compile(NAME, "--keep", self.path("kept"), "--json").stdout)[0]
        stem = self.path("kept/" + row["kernel"] + ".sm_90a")
        with open(stem + ".cu", encoding="utf-8") as file:
            self.assertEqual(file.read(), run("source", NAME).stdout)
        with open(stem + ".cubin", "rb") as file:
            cubin = file.read()
        self.assertEqual((cubin[:4], len(cubin)), (b"\x7fELF", row["cubin_bytes"]))
        self.assertEqual(len(os.listdir(self.path("kept"))), 2)

    def test_verbose(self):
        result = self.compile(NAME, "--verbose")
        self.assertIn(NAME, result.stderr)
        self.assertEqual(self.compile(NAME).stderr, "")

    def test_an_arch_without_the_copy_engine(self):
        row = json.loads(self.compile(NAME, "--arch", "80", "--json").stdout)[0]
        self.assertEqual((row["kernel"].split(".")[1][:4], row["arch"]), ("any-", "80"))
        fast = run("source", NAME).stdout.split()[1]
        result = self.compile(fast, "--arch", "80", code=1)
        self.assertEqual(result.stdout, "")
        self.assertIn("80", result.stderr)


if not json.loads(run("info", "--json").stdout)["nvrtc"]["found"]:
    skip("no NVRTC: " + json.loads(run("info", "--json").stdout)["nvrtc"]["reason"])
main()
