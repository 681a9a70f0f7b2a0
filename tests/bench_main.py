# SPDX-License-Identifier: MIT
"""The main set of mxq-bench: what it lists, that its sample is pairwise, and the targets beside rows.
Called with the programs mxq-bench and mxq; with a third argument, `run`, measures on the device (of the
fake driver) instead."""
import itertools
import json
import os
import subprocess
import sys
import tempfile
import unittest

BENCH, MXQ = sys.argv[1:3]
RUN = sys.argv[3:] == ["run"]
RESULT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench", "results",
                      "h200-2026-12-02-code", "main-before.json")


def run(program, *arguments):
    return subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def listed(*patterns):
    result = run(BENCH, "--main", "--list", *patterns)
    assert result.returncode == 0, result.stderr
    return [line.split(maxsplit=2) for line in result.stdout.splitlines()]


def pairs_of(variant):
    return set(itertools.combinations(enumerate(variant.split("_")), 2))


@unittest.skipIf(RUN, "no list is asked for")
class List(unittest.TestCase):
    def test_main_combinations(self):
        found = [kernel.split(".")[0] for kernel, _, which in listed() if which == "main"]
        wanted = [f"quantize_{source}_{code}_{block}_rceil_{layout}_{scales}"
                  for source in ["bf16", "f32"] for code in ["e4m3", "e2m1"] for block in ["b32", "b128"]
                  for layout in ["row", "col", "colt", "sq", "sqt", "rowcol", "rowcolt", "sqsqt"]
                  for scales in ["lin", "blk", "mn"]]
        self.assertCountEqual(found, wanted)

    def test_sample_is_pairwise(self):
        sample = [kernel.split(".")[0] for kernel, _, which in listed() if which == "sample"]
        covered = set().union(*map(pairs_of, sample))
        for variant in run(MXQ, "list").stdout.split():
            self.assertLessEqual(pairs_of(variant), covered, variant)
        self.assertEqual(len(sample), len(set(sample)))
        self.assertLess(len(sample), 120)

    def test_same_each_time(self):
        self.assertEqual(listed(), listed())

    def test_generic_kernels_are_generic(self):
        generic = [kernel for kernel, _, which in listed() if which == "generic"]
        self.assertEqual(len(generic), 26)
        for kernel in generic:
            self.assertIn(".any-", kernel)

    def test_patterns(self):
        for kernel, _, _ in listed("quantize_f32_*_lin"):
            self.assertRegex(kernel, r"^quantize_f32_.*_lin\.")
        self.assertEqual(run(BENCH, "--main", "--list", "nosuch*").returncode, 2)


@unittest.skipIf(RUN, "needs no device")
class Saved(unittest.TestCase):
    def rows_of(self, *arguments):
        result = run(BENCH, "--from", RESULT, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.splitlines()

    def setUp(self):
        with open(RESULT, encoding="utf-8") as file:
            self.saved = json.load(file)["rows"]

    def test_items(self):
        wanted = dict.fromkeys((row["kernel"], ",".join(map(str, row["shape"]))) for row in self.saved)
        self.assertEqual([tuple(line.split()[:2]) for line in self.rows_of("--list")], list(wanted))

    def test_missed(self):
        wanted = [row for row in self.saved if not row.get("target", {}).get("met", True)]
        lines = self.rows_of("--show", "--missed")[3:-1]
        self.assertEqual([line.split()[0] for line in lines], [row["kernel"] for row in wanted])
        for line, row in zip(lines, wanted):
            self.assertEqual(line.split()[2], f"{row['us']:.2f}")
            self.assertIn("MISSED", line)

    def test_reasons(self):
        kernel = "quantize_bf16_e4m3_b32_rceil_colt_lin.tma-64x64"
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"mxq_reasons": 1, "rows": [
                {"kernel": kernel, "shape": [1, 2048, 4096], "reason": "of another shape"},
                {"kernel": kernel, "shape": [1, 2048, 2048], "reason": "as a profiler said"}]}, file)
            file.flush()
            lines = self.rows_of("--show", "--missed", "--reasons", file.name)
        self.assertEqual([line.split()[0] for line in lines if line.endswith("MISSED: as a profiler said")],
                         [kernel])

    def test_patterns(self):
        wanted = {row["kernel"] for row in self.saved if "quantize_f32" in row["kernel"]
                  and not row.get("target", {}).get("met", True)}
        lines = self.rows_of("--list", "--missed", "quantize_f32*")
        self.assertEqual({line.split()[0] for line in lines}, wanted)
        self.assertTrue(wanted)
        # Nothing of that name is a mistake, nothing missed is not.
        for arguments, code in ((["nosuch*"], 2), (["--show", "nosuch*"], 2),
                                (["--list", "--missed", "*_row_blk.tma-*"], 0)):
            result = run(BENCH, "--from", RESULT, *arguments)
            self.assertEqual(result.returncode, code, result.stdout + result.stderr)

    def test_total_is_of_what_is_shown(self):
        lines = self.rows_of("--show", "*_colt_lin.tma-*")
        shown = [line for line in lines if "_colt_lin.tma-" in line]
        met = sum(line.split()[-1] == "met" for line in shown)
        missed = sum("MISSED" in line for line in shown)
        self.assertEqual(lines[-1].split(" targets")[0], f"{met} of {met + missed}")

    def test_damaged(self):
        with open(RESULT, encoding="utf-8") as file:
            whole = json.load(file)
        row = whole["rows"][0]
        for rows, device in (([{**row, "kernel_times": {"us": []}}], whole["device"]),
                             ([{**row, "shape": [1e300, 64, 64]}], whole["device"]),
                             ([{**row, "shape": [-1, 64, 64]}], whole["device"]), ([], {})):
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                json.dump({**whole, "rows": rows, "device": device}, file)
                file.flush()
                result = run(BENCH, "--from", file.name, "--show")
            self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)


@unittest.skipUnless(RUN, "needs a device")
class Measure(unittest.TestCase):
    def test_once(self):
        arguments = ["dequantize_e4m3_bf16_b32_e8m0_colt_lin", "--shape", "1,64,64"]
        result = run(BENCH, "--once", *arguments)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)

    def test_saved_once(self):
        with open(RESULT, encoding="utf-8") as file:
            saved = json.load(file)
        rows = [row for row in saved["rows"] if row["kernel"].endswith(".any-128x128")][:1]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({**saved, "rows": [{**row, "shape": [1, 141, 125]} for row in rows]}, file)
            file.flush()
            result = run(BENCH, "--once", "--from", file.name)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)

    def test_targets(self):
        names = ["quantize_bf16_e4m3_b32_rceil_*_lin", "dequantize_e4m3_bf16_b32_e8m0_colt_lin"]
        result = run(BENCH, *names, "--shape", "2,144,144", "--reps", "2", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = json.loads(result.stdout)["rows"]
        self.assertEqual(len(rows), 8 + 1)
        for row in rows:
            self.assertEqual((row["status"], row["class"]), ("MXQ_OK", "tiny"), row["kernel"])
            straight = row["straight_kernel"]
            self.assertIn(row["bytes_read"] - straight["bytes_read"], range(16))
            self.assertIn(row["bytes_written"] - straight["bytes_written"], range(31))
            over = row["us"] - row["straight_times"]["median_us"]
            layout = row["kernel"].split("_")[5]
            # Copies of some 60 KB, where none at all would take some nanoseconds.
            self.assertGreater(row["memcpy_times"]["median_us"], 0.5, row["kernel"])
            if row["kernel"].startswith("dequantize"):
                self.assertNotIn("target", row)
                continue
            most = {"row": 0.2, "colt": 0.5}.get(layout, 0.8)
            self.assertEqual(row["target"]["us_over_straight_at_most"], most)
            if abs(over - most) > 1e-3:
                self.assertEqual(row["target"]["met"], over <= most, row)


unittest.main(argv=sys.argv[:1], verbosity=2)
