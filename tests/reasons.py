# SPDX-License-Identifier: MIT
"""Why targets are missed: the rules of bench/reason_rules.py with numbers made up, what bench/ncu.py
reads of Nsight Compute, and bench/ncu_reasons.py with a fake ncu, up to the benchmark's own table.
Called with the source and mxq-bench."""
import importlib.machinery
import importlib.util
import json
import math
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
from types import SimpleNamespace

SOURCE, BENCH = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.path[:0] = [f"{SOURCE}/bench", f"{SOURCE}/script"]

import ncu
import reason_rules as rules

# A program, so it has no ending.
loader = importlib.machinery.SourceFileLoader("bench_tables", f"{SOURCE}/script/bench_tables")
tables = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_tables", loader))
loader.exec_module(tables)

RESULT = f"{SOURCE}/bench/results/h200-2026-12-02-code/main-before.json"  # many misses
# A kernel that does as its straight kernel does.
USUAL = {"us": 90, "straight_us": 83, "per_element": 5.07, "per_thread": 404, "issue": 23.1, "pipe": "alu",
         "pipe_busy": 30, "shared": 25, "conflicts": 3, "dram": 91, "straight_dram": 92, "dram_ratio": 1.0,
         "read_ratio": 1.0, "write_ratio": 1.0, "l2": 50, "straight_l2": 52, "l2_read_ratio": 1.0, "l2_write_ratio": 1.0,
         "per_store": 4, "per_load": 4, "occupancy": 60, "blocks": 7168, "multiprocessors": 132,
         "waves": 13.6, "filled": 97, "waits": "warps wait 58 % for global memory"}
# What makes each rule the first that holds, and what its line then says.
CASES = {
    "few tiles": ({"blocks": 8, "waves": 0.01, "filled": 6, "us": 2.09, "straight_us": 1.05},
                  "8 blocks on 132 SMs hide none of a block's own 404 instructions a thread; the straight "
                  "kernel's launch takes 1.05 of 2.09 us; warps wait 58 % for global memory"),
    "last wave": ({"blocks": 1200, "waves": 1.14, "filled": 57},
                  "1200 blocks, 1.1 waves, fill 57 % of 132 SMs"),
    "bound by instructions": ({"issue": 82, "per_element": 26, "dram": 61},
                              "issue slots 82 % used, 26.0 an element, DRAM 61 % busy"),
    "bound by a pipe": ({"pipe": "xu", "pipe_busy": 83}, "xu 83 % busy, 5.1 instructions an element"),
    "bound by shared memory": ({"shared": 77, "conflicts": 41}, "77 % busy, 41 % of it bank conflicts"),
    "partial sectors": ({"l2_write_ratio": 1.4, "per_store": 31.5, "write_ratio": 1.3},
                        "L2 takes 1.40x the straight kernel's writes, 31.5 sectors a store; DRAM writes "
                        "1.30x, reads 1.00x"),
    "unaligned reads": ({"l2_read_ratio": 1.25, "per_load": 5.2, "read_ratio": 1.01},
                        "L2 gives 1.25x the straight kernel's reads, 5.2 sectors a load"),
    "more traffic": ({"dram_ratio": 1.06, "read_ratio": 1.1}, "DRAM reads 1.10x, writes 1.00x"),
    "bound by the L2 cache": ({"l2": 88}, "88 % busy, DRAM 91 %"),
    "one wave": ({"blocks": 1024, "waves": 0.97}, "all 1024 blocks run at once"),
    "bound by DRAM": ({}, "91 % busy, by the straight kernel 92 %, at 1.00x its bytes"),
    "latency": ({"dram": 61}, "DRAM 61 % busy, L2 50 %, by the straight kernel 92 % and 52 %; issue slots "
                              "23 %, occupancy 60 %; warps wait 58 % for global memory"),
    "not known": ({"dram": math.nan}, "issue slots 23 % used, 5.1 an element"),
}
NOTHING = {key: value if isinstance(value, str) else math.nan for key, value in USUAL.items()}


class Rules(unittest.TestCase):
    def test_each(self):
        self.assertEqual(list(CASES), [name for name, _, _ in rules.RULES])
        for name, (changed, text) in CASES.items():
            with self.subTest(name):
                reason = rules.reason_of({**USUAL, **changed})
                self.assertTrue(reason.startswith(f"{name}: {text}"), reason)

    def test_the_first_wins(self):
        changes = [changed for changed, _ in CASES.values()]
        merged = dict(USUAL)
        for changed in reversed(changes):
            merged.update(changed)
        self.assertTrue(rules.reason_of(merged).startswith("few tiles: "))

    def test_what_stays_in_the_cache(self):
        """A few bytes more or less from a DRAM that does nothing are no reason."""
        reason = rules.reason_of({**USUAL, "dram": 2, "straight_dram": 1, "dram_ratio": 2.5})
        self.assertTrue(reason.startswith("latency: DRAM 2 % busy"), reason)

    def test_what_was_not_counted(self):
        self.assertIsNone(rules.reason_of(NOTHING))
        reason = rules.reason_of({**NOTHING, "issue": 82, "per_element": 26})
        self.assertEqual(reason, "bound by instructions: issue slots 82 % used, 26.0 an element, DRAM n/a % "
                                 "busy")

    def test_stalls(self):
        counted = {"long_scoreboard": 5.0, "barrier": 3.0, "wait": 1.0}
        launch = SimpleNamespace(metrics={rules.STALL.format(name): value for name, value in counted.items()})
        self.assertEqual(rules.stalls_of(launch), [("long_scoreboard", 50), ("barrier", 30), ("wait", 10)])
        self.assertEqual(rules.waits_of(launch), "warps wait 50 % for global memory, 30 % at barriers")

    def test_filled(self):
        self.assertAlmostEqual(rules.filled(1200, 1.25, 132), 62.5)
        self.assertAlmostEqual(rules.filled(33, 0.1, 132), 25)
        self.assertTrue(math.isnan(rules.filled(math.nan, math.nan, 132)))

    def test_facts(self):
        measured = {"us": 10, "straight_times": {"median_us": 8}, "shape": [1, 64, 32], "bytes_read": 4096,
                    "bytes_written": 2048}
        launch = SimpleNamespace(blocks=64, threads=32, metrics={
            ncu.INSTRUCTIONS: 4096 * 3.0, ncu.READ: 4096.0, ncu.WRITTEN: 3072.0, rules.L2_WRITTEN: 96.0,
            rules.PIPES["xu"]: 40.0, rules.PIPES["alu"]: 20.0})
        straight = SimpleNamespace(blocks=16, threads=128, metrics={
            ncu.READ: 4096.0, ncu.WRITTEN: 2048.0, rules.L2_WRITTEN: 64.0})
        facts = rules.facts_of(measured, 132, launch, straight)
        wanted = {"per_element": 6, "per_thread": 6, "read_ratio": 1, "write_ratio": 1.5,
                  "dram_ratio": 7168 / 6144, "l2_write_ratio": 1.5, "written_of_needed": 1.5, "pipe": "xu",
                  "pipe_busy": 40}
        self.assertEqual({key: facts[key] for key in wanted}, wanted)
        self.assertTrue(math.isnan(facts["l2_read_ratio"]))
        self.assertLessEqual(set(USUAL), set(facts))


# As ncu 2025.3 prints it.
CSV = """==PROF== Profiling "straight" - 0: 0%....50%....100% - 4 passes
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"1","77","mxq-bench","127.0.0.1","quantize_x_tma_128x64(args)","1","7","(128, 1, 1)","(16, 112, 8)","0","9.0","Command line profiler metrics","dram__bytes_read.sum","byte","234,946,048"
"0","77","mxq-bench","127.0.0.1","straight","1","7","(256, 1, 1)","(57344, 1, 1)","0","9.0","Command line profiler metrics","dram__bytes_read.sum","byte","234881024"
"0","77","mxq-bench","127.0.0.1","straight","1","7","(256, 1, 1)","(57344, 1, 1)","0","9.0","Command line profiler metrics","l1tex__x.ratio","","n/a"
"""


class Parser(unittest.TestCase):
    def test_launches(self):
        straight, kernel = ncu.read_launches(CSV)
        self.assertEqual((straight.name, straight.blocks, straight.threads), ("straight", 57344, 256))
        self.assertTrue(math.isnan(straight.metrics["l1tex__x.ratio"]))
        self.assertEqual((kernel.name, kernel.blocks), ("quantize_x_tma_128x64", 16 * 112 * 8))
        self.assertEqual(kernel.metrics, {ncu.READ: 234946048})

    def test_match(self):
        launches = ncu.read_launches(CSV)
        found = ncu.match([("quantize_x.tma-128x64", (8, 7168, 2048)), ("quantize_y.any-8x8", (1, 1, 1))],
                          launches)
        self.assertEqual(found, [("quantize_x.tma-128x64", (8, 7168, 2048), launches[1], launches[0])])


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.values = {metric: "10" for metric in rules.METRICS}
        self.values.update({ncu.ISSUED: "81.6", ncu.INSTRUCTIONS: "3,000,000,000", ncu.READ: "234881024"})

    def run_with(self, name, unknown=(), **variables):
        """The program `name` of bench/ with an ncu that does not know the metrics `unknown`."""
        arguments = [BENCH, RESULT] if name == "ncu_reasons" else [BENCH]
        return self.run_command([sys.executable, f"{SOURCE}/bench/{name}.py", *arguments], unknown,
                                **variables)

    def run_command(self, command, unknown=(), **variables):
        fake = f"{self.folder.name}/ncu"
        with open(fake, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {sys.executable} {SOURCE}/tests/fake_ncu.py "$@"\n')
        os.chmod(fake, os.stat(fake).st_mode | stat.S_IXUSR)
        known = {metric: value for metric, value in self.values.items() if metric not in unknown}
        with open(f"{self.folder.name}/values.json", "w", encoding="utf-8") as file:
            json.dump(known, file)
        env = {**os.environ, "PATH": f"{self.folder.name}:{os.environ['PATH']}",
               "FAKE_NCU_METRICS": file.name, **variables}
        return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def test_each_miss_has_a_reason(self):
        result = self.run_with("ncu_reasons")
        self.assertEqual(result.returncode, 0, result.stderr)
        reasons = json.loads(result.stdout)
        with open(RESULT, encoding="utf-8") as file:
            missed = {(row["kernel"], *row["shape"]) for row in json.load(file)["rows"]
                      if not row.get("target", {}).get("met", True)}
        self.assertEqual({(row["kernel"], *row["shape"]) for row in reasons["rows"]}, missed)
        self.assertEqual(len(reasons["rows"]), len(missed))
        self.assertEqual(reasons["unknown_metrics"], [])
        path = f"{self.folder.name}/reasons.json"
        with open(path, "w", encoding="utf-8") as file:
            file.write(result.stdout)
        shown = subprocess.run([BENCH, "--from", RESULT, "--show", "--missed", "--reasons", path],
                               capture_output=True, text=True, check=True).stdout
        lines = [line for line in shown.splitlines() if "MISSED" in line]
        self.assertGreaterEqual(len(lines), len(missed))
        for line in lines:
            self.assertRegex(line, r"MISSED: .*issue slots 82 % used|MISSED: few tiles")

    def test_unknown_metrics(self):
        unknown = [rules.DRAM, rules.STALL.format("sleeping")]
        result = self.run_with("ncu_reasons", unknown)
        self.assertEqual(result.returncode, 0, result.stderr)
        reasons = json.loads(result.stdout)
        self.assertCountEqual(reasons["unknown_metrics"], unknown)
        self.assertIn("DRAM n/a % busy", reasons["rows"][0]["reason"])

    def test_counters_denied(self):
        for name in ["ncu_reasons", "ncu_counts"]:
            result = self.run_with(name, FAKE_NCU_DENY="1")
            self.assertEqual((result.returncode, result.stdout), (3, ""))
            self.assertIn("ERR_NVGPUCTRPERM", result.stderr)

    def test_counts(self):
        result = self.run_with("ncu_counts")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = json.loads(result.stdout)["rows"]
        self.assertEqual(len(rows), 8)
        self.assertEqual(rows[0]["per_element"], round(3e9 / (8 * 7168 * 2048), 2))
        self.assertEqual(rows[0]["dram_bytes_read"], 234881024)
        rows = json.loads(self.run_with("ncu_counts", ["dram__bytes_write.sum"]).stdout)["rows"]
        self.assertEqual((rows[0]["dram_bytes_read"], rows[0]["dram_bytes_written"]), (234881024, None))

    def measure(self, folder):
        """script/measure where there is nothing but the program, and a result of it."""
        programs = f"{self.folder.name}/programs"
        os.mkdir(programs)
        os.symlink(BENCH, f"{programs}/mxq-bench")
        os.mkdir(folder)
        shutil.copy(RESULT, f"{folder}/main.json")
        return self.run_command([f"{SOURCE}/script/measure", folder, "--bin", programs, "--only",
                                 "reasons,profile"])

    def test_measure(self):
        folder = f"{self.folder.name}/measured"
        result = self.measure(folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertCountEqual(os.listdir(folder), ["main.json", "reasons.json", "reasons.txt", "profile.json"])
        self.assertIn("MISSED: bound by instructions: issue slots 82 % used", result.stdout)

    def test_read(self):
        """What ncu printed gives the same reasons without ncu."""
        folder = f"{self.folder.name}/measured"
        self.measure(folder)
        result = subprocess.run([sys.executable, f"{SOURCE}/bench/ncu_reasons.py", BENCH, RESULT, "--read",
                                 f"{folder}/reasons.txt"], env={"PATH": "/nowhere"}, capture_output=True,
                                text=True, check=True)
        with open(f"{folder}/reasons.json", encoding="utf-8") as file:
            self.assertEqual(result.stdout, file.read())

    def test_tables(self):
        folder = f"{self.folder.name}/measured"
        self.measure(folder)
        text = f"<!-- table missed of {folder} -->\n<!-- end -->"
        self.assertEqual(tables.without_reason(text), [])
        shown = tables.MARKED.sub(tables.fill, text)
        self.assertEqual(shown.count("| bound by instructions: issue slots 82 % used, "), shown.count(" % used"))
        self.assertGreater(shown.count(" % used"), 30)
        with open(f"{folder}/reasons.json", encoding="utf-8") as file:
            reasons = json.load(file)
        left_out = reasons["rows"].pop()
        with open(f"{folder}/reasons.json", "w", encoding="utf-8") as file:
            json.dump(reasons, file)
        unknown = tables.without_reason(text)
        self.assertEqual(len(unknown), 1)
        self.assertIn(left_out["kernel"], unknown[0])

    @unittest.skipIf(os.path.exists("/usr/local/cuda/bin/ncu"), "there is an ncu")
    def test_no_ncu(self):
        result = subprocess.run([sys.executable, f"{SOURCE}/bench/ncu_reasons.py", BENCH, RESULT],
                                env={"PATH": "/nowhere"}, capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (3, "ncu_reasons.py: no ncu\n"))


unittest.main(argv=sys.argv[:1], verbosity=2)
