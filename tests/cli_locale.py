# SPDX-License-Identifier: MIT
"""Every command where the locale writes numbers with a comma: what it prints is what it prints
elsewhere, and JSON stays JSON even in a process that takes the locale. Called with the program, the
fake NVRTC, and a library that makes a process take its locale."""
import json
import os
import re
import subprocess
import sys
import unittest

from cli_support import Case, floats, halves, run, write

FAKE_NVRTC, PRELOAD = sys.argv[2:4]
NAME = "quantize_bf16_e4m3_b32_rceil_colt_lin"
DEFINITION = """LC_NUMERIC
decimal_point "<U002C>"
thousands_sep "<U002E>"
grouping 3;3
END LC_NUMERIC
"""
# Times differ from run to run, and what follows from them.
TIMES = re.compile(r"\d+[.,]\d+(?= *(ms|s|GB/s)\b)")
TIMED = {"seconds", "kernel_seconds", "gb_per_s", "milliseconds", "last_used"}


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in TIMED}
    return [without_times(item) for item in value] if isinstance(value, list) else value


class Locale(Case):
    def setUp(self):
        super().setUp()
        with open(self.path("source"), "w", encoding="utf-8") as file:
            file.write(DEFINITION)
        subprocess.run(["localedef", "-c", "-i", self.path("source"), self.path("comma")],
                       capture_output=True, check=False)
        self.environment = {"PATH": os.environ["PATH"], "MXQ_NVRTC": FAKE_NVRTC,
                            "MXQ_CACHE_DIR": self.path("cache")}
        self.comma = dict(self.environment, LOCPATH=self.folder, LC_ALL="comma")
        # Where the program is built with AddressSanitizer, that wants to be loaded first.
        self.taken = dict(self.comma, LD_PRELOAD=PRELOAD, ASAN_OPTIONS="verify_asan_link_order=0")
        shown = subprocess.run(["printf", "%.1f", "1,5"], capture_output=True, text=True,
                               env=self.comma, check=False)
        if shown.stdout != "1,5":
            self.skipTest("localedef made no locale that is taken")
        write(self.path("in"), {"w": floats(32, 64), "h": halves(3, 32, 64), "n": floats(5)})
        with open(self.path("manifest"), "w", encoding="utf-8") as file:
            file.write(NAME + "\n")

    def commands(self):
        """Every command that has results, in an order in which each finds what it needs."""
        quantized, back = self.path("q"), self.path("back")
        return [
            ["list", "*_bf16_e4m3_b32_rceil_row_*"], ["why", NAME], ["source", NAME],
            ["plan", NAME, "8", "1000", "5120", "--strides", "5120000,5120"],
            ["compile", NAME], ["info"],
            ["quantize", self.path("in"), "-o", quantized, "--device", "cpu"],
            ["compare", self.path("in"), quantized],
            ["dequantize", quantized, "-o", back, "--device", "cpu"],
            ["compare", self.path("in"), back],
            ["prepare", self.path("manifest"), "--arch", "90a"],
            ["emit", self.path("manifest"), "--archs", "90a", "-o", self.path("set")],
            ["check", self.path("manifest"), "--archs", "90a",
             "--blob", self.path("set") + "/kernels.blob"],
            ["cache", "path"], ["cache", "list"], ["cache", "verify"], ["cache", "clear"],
        ]

    def outputs(self, environment, *options):
        results = []
        for command in self.commands():
            result = run(*command, *options, env=environment)
            results.append((command, result))
            self.assertEqual(result.returncode, 0, (command, result.stdout, result.stderr))
        return results

    def test_text_is_the_same(self):
        """The program does not take the locale: no number of a table has a comma."""
        for (command, here), (_, there) in zip(self.outputs(self.environment),
                                               self.outputs(self.comma)):
            here, there = (re.sub(" +", " ", TIMES.sub("#", result.stdout))
                           for result in (here, there))
            if command[0] not in ("quantize", "dequantize", "cache", "compile"):
                self.assertEqual(here, there, command)
            self.assertIsNone(re.search(r"\d,\d+ *(ms|s|dB|GB/s|%)", there), (command, there))

    def test_json_is_the_same(self):
        have_json = ("list", "why", "plan", "compile", "info", "quantize", "dequantize", "compare",
                     "prepare", "cache")
        every = self.commands()
        self.commands = lambda: [command for command in every if command[0] in have_json]
        here = self.outputs(self.environment, "--json")
        for environment in (self.comma, self.taken):
            there = self.outputs(environment, "--json")
            for (command, mine), (_, theirs) in zip(here, there):
                self.assertEqual(without_times(json.loads(mine.stdout)),
                                 without_times(json.loads(theirs.stdout)), command)
                self.assertIsNone(re.search(r": *-?\d+,\d+[^\d\]]", theirs.stdout), command)

    def test_files_are_the_same(self):
        """Also in a process that takes the locale: metadata, data, sets and cached kernels."""
        contents = []
        for environment in (self.environment, self.taken):
            self.outputs(environment)
            found = {}
            for name in ["q", "back", "set/kernels.blob", "set/kernels_registry.c"]:
                with open(self.path(name), "rb") as file:
                    found[name] = file.read()
            contents.append(found)
        self.assertEqual(contents[0], contents[1])


unittest.main(argv=sys.argv[:1], verbosity=2)
