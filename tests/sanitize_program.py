# SPDX-License-Identifier: MIT
"""script/sanitize_gpu with the fake driver and a stand-in for compute-sanitizer: what it hands over,
what it counts, and how it ends."""
import json
import os
import stat
import subprocess
import sys

from cli_support import MXQ, Case, main, run, skip

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "script", "sanitize_gpu")
PATTERNS = ["quantize_f16_e2m1_b32_floor_*_blk", "*_blk.relayout-*"]
STAND_IN = """#!{python}
import os, subprocess, sys
tool = sys.argv[sys.argv.index("--tool") + 1]
program = sys.argv[sys.argv.index("{mxq}"):]
fault = os.environ.get("STAND_IN", "")
kind, _, of = fault.partition(":")
mine = of in tool
with open(os.environ["STAND_IN_LOG"], "a") as log:
    log.write(" ".join([tool, os.environ.get("MXQ_JIT", ""), *program]) + "\\n")
print("========= COMPUTE-SANITIZER")
if kind == "unusable":
    print("========= Error: Device not supported. Please refer to the \\"Supported Devices\\" section")
    sys.exit(1)
if kind == "hang" and mine:
    import time
    time.sleep(60)
sys.stdout.flush()
code = subprocess.run(program).returncode
word = "RACECHECK" if tool == "racecheck" else "ERROR"
count = 3 if kind == "error" and mine else 0
if kind == "cut" and mine:
    print("========= Invalid __global__ read of size 1 bytes")
    print("=========     at a_kernel+0x10")
if kind == "error" and mine and tool != "racecheck":
    print("========= ERROR SUMMARY: 2 errors were not printed. Use --print-limit option")
if not (kind in ("silent", "cut") and mine):
    print("=========", word, "SUMMARY:", count, "hazards displayed (3 errors, 0 warnings)" if tool == "racecheck" else "errors")
sys.exit(code)
"""


class Sanitize(Case):
    def setUp(self):
        super().setUp()
        self.sanitizer = self.path("compute-sanitizer")
        with open(self.sanitizer, "w", encoding="utf-8") as file:
            file.write(STAND_IN.format(python=sys.executable, mxq=MXQ))
        os.chmod(self.sanitizer, stat.S_IRWXU)

    def sanitize(self, *arguments, **variables):
        command = [sys.executable, SCRIPT, "--mxq", MXQ, "--sanitizer", self.sanitizer, *arguments]
        return subprocess.run([*command, *PATTERNS], capture_output=True, text=True, timeout=300,
                              env=dict(os.environ, STAND_IN_LOG=self.path("log"), **variables))

    def rows(self, result):
        lines = [line.split() for line in result.stdout.splitlines()]
        return {line[0]: line[1:] for line in lines if line and line[0].endswith("check")}

    def test_all_tools(self):
        """Each kernel once a tool, in as many processes, without a compiler."""
        names = run("verify", "--pairwise", "1", "--list", *PATTERNS).stdout.split()
        result = self.sanitize("-j", "3", "--json", self.path("report"))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        rows = self.rows(result)
        self.assertEqual(list(rows), ["memcheck", "racecheck", "synccheck", "initcheck"])
        for row in rows.values():
            self.assertEqual(row[:6], [str(len(names)), str(len(names) + 7), "0", "0", "0", "3"])
        with open(self.path("log"), encoding="utf-8") as file:
            calls = [line.split() for line in file]
        self.assertEqual(len(calls), 12)
        for tool in rows:
            mine = [call for call in calls if call[0] == tool]
            self.assertEqual({call[1] for call in mine}, {"cache"})
            self.assertTrue(all("--light" in call for call in mine))
            self.assertEqual(sorted(name for call in mine for name in call if "." in name),
                             sorted(names))
        with open(self.path("report"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual([row["errors"] for row in report["tools"]], [0, 0, 0, 0])

    def test_errors_of_one_tool(self):
        result = self.sanitize("-j", "2", STAND_IN="error:racecheck")
        self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
        self.assertEqual([row[2] for row in self.rows(result).values()], ["0", "6", "0", "0"])
        self.assertIn("--- racecheck: errors: mxq verify --light ", result.stdout)

    def test_errors_are_counted_once(self):
        result = self.sanitize("-j", "2", "--tool", "memcheck", STAND_IN="error:memcheck")
        self.assertEqual(self.rows(result)["memcheck"][2], "6")
        result = self.sanitize("-j", "2", "--tool", "memcheck", STAND_IN="cut:memcheck")
        self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
        self.assertEqual(self.rows(result)["memcheck"][2:5], ["2", "0", "2"])

    def test_a_difference(self):
        """Only under the tool, or at once."""
        result = self.sanitize("--tool", "synccheck", FAKE_FAULT="code:")
        self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
        self.assertIn("without the sanitizer mxq verify does not pass", result.stderr)

    def test_no_summary_is_no_success(self):
        result = self.sanitize("-j", "2", "--tool", "initcheck", STAND_IN="silent:initcheck")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertEqual(self.rows(result)["initcheck"][4], "2")

    def test_a_process_that_does_not_end(self):
        result = self.sanitize("-j", "1", "--tool", "memcheck", "--seconds", "2",
                               STAND_IN="hang:memcheck")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("did not end within 2 s", result.stdout)

    def test_a_machine_where_it_does_not_work(self):
        result = self.sanitize("-j", "1", "--tool", "memcheck", STAND_IN="unusable")
        self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
        self.assertIn("Device not supported", result.stderr)

    def test_nothing_to_run_with(self):
        result = self.sanitize("--sanitizer", "/nowhere")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("CUDA Toolkit", result.stderr)
        result = self.sanitize("quantize_bf16_e9m9*")
        self.assertEqual(result.returncode, 1)
        self.assertIn("quantize_bf16_e9m9*", result.stderr)


if not json.loads(run("info", "--json").stdout)["nvrtc"]["found"]:
    skip("no NVRTC")
main()
