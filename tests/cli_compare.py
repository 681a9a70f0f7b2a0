# SPDX-License-Identifier: MIT
"""mxq compare: figures by hand, quantized and sharded checkpoints, and what is a mismatch."""
import array
import json
import math
import os
import struct

from cli_support import Case, floats, halves, main, quantize, run, write


def f32(*values, shape=None):
    return ("F32", shape or [len(values)], array.array("f", values).tobytes())


class Compare(Case):
    def compared(self, a, b, code=0):
        """Rows by name."""
        for name, tensors in (("a", a), ("b", b)):
            if isinstance(tensors, dict):
                write(self.path(name), tensors)
        result = run("compare", self.path("a"), self.path("b"), "--json")
        report = json.loads(self.check_code(result, code).stdout)
        self.assertEqual(report["mismatches"] > 0, code == 4)
        self.assertEqual(len({row["name"] for row in report["tensors"]}), len(report["tensors"]))
        return {row["name"]: row for row in report["tensors"]}

    def check_code(self, result, code):
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        return result

    def test_figures(self):
        rows = self.compared({"w": f32(1, 2, -4, 0)}, {"w": f32(1, 2.5, -4, 0.25)})
        w = rows["w"]
        self.assertAlmostEqual(w["snr_db"], 10 * math.log10(21 / (0.25 + 0.0625)))
        self.assertEqual((w["largest_error"], w["largest_relative_error"], w["largest_input"],
                          w["elements"], w["exact"]), (0.5, 0.25, 4, 4, False))

    def test_types(self):
        half = ("F16", [3], struct.pack("<3e", 1, 2, 3))
        double = ("F64", [3], struct.pack("<3d", 1, 2, 3.25))
        brain = ("BF16", [3], b"\x80\x3f\x00\x40\x40\x40")
        rows = self.compared({"a": half, "b": half, "c": half, "d": half},
                             {"a": f32(1, 2, 3), "b": double, "c": brain, "d": half})
        self.assertEqual([rows[n]["exact"] for n in "abcd"], [True, False, True, True])
        self.assertEqual(rows["b"]["largest_error"], 0.25)
        self.assertIsNone(rows["a"]["snr_db"])

    def test_special_values(self):
        nan, inf = float("nan"), float("inf")
        rows = self.compared({"w": f32(nan, inf, -inf, inf, 1, nan)},
                             {"w": f32(nan, inf, -inf, -inf, inf, 1)})
        self.assertEqual((rows["w"]["elements"], rows["w"]["excluded_elements"]), (3, 3))
        self.assertFalse(rows["w"]["exact"])
        write(self.path("b"), {"w": f32(nan, 1, -inf, inf, 1, nan)})
        text = self.check_code(run("compare", self.path("a"), self.path("b")), 0).stdout
        self.assertIn("w: 1 elements are not finite", text)

    def test_mismatches(self):
        a = {"same": ("I64", [1], b"12345678"), "bytes": ("U8", [2], b"ab"),
             "type": ("U8", [2], b"ab"), "kind": f32(1, 2), "shape": f32(1, 2), "only": f32(1)}
        b = {"new": f32(1), "same": ("I64", [1], b"12345678"), "bytes": ("U8", [2], b"ac"),
             "type": ("I8", [2], b"ab"), "kind": ("I32", [2], b"12345678"),
             "shape": f32(1, 2, shape=[2, 1])}
        rows = self.compared(a, b, 4)
        self.assertEqual({name: row["result"] for name, row in rows.items()},
                         {"same": "equal bytes", "bytes": "other bytes", "type": "other bytes",
                          "kind": "other bytes", "shape": "other shape", "only": "not in B",
                          "new": "not in A"})
        self.assertEqual(list(rows)[-1], "new")
        self.assertFalse(rows["same"]["mismatch"])
        text = self.check_code(run("compare", self.path("a"), self.path("b")), 4).stdout
        self.assertIn("7 tensors, 6 of them a mismatch", text)

    def test_each_mismatch_alone(self):
        for a, b in [({"x": f32(1)}, {}), ({}, {"x": f32(1)}), ({"x": f32(1)}, {"x": f32(1, 2)}),
                     ({"x": ("U8", [1], b"a")}, {"x": ("U8", [1], b"b")})]:
            self.compared(a, b, 4)

    def test_quantized(self):
        """The figures of mxq quantize, and exactness of what mxq dequantize writes."""
        write(self.path("a"), {"w": floats(2, 34, 70), "v": halves(33, 6), "n": floats(3)})
        for name in ["e4m3_b32_rceil_row_blk", "e2m1_b16_even_colt_mn", "e4m3_b128_amax_sq_mn",
                     "e5m2_b64_pow2_sqt_lin", "e3m2_b32_floor_rowcol_lin"]:
            done = quantize(self.path("a"), self.path("b"), "--variant", f"quantize_*_{name}",
                            "--json")
            told = {row["name"]: row for row in json.loads(self.check(done, 0).stdout)["tensors"]}
            rows = self.compared(None, None)
            self.assertEqual(list(rows), ["w", "v", "n"])
            for tensor in "wv":
                if told[tensor]["skipped"]:
                    continue
                self.assertIn(name, rows[tensor]["b"])
                self.assertEqual(rows[tensor]["largest_error"], told[tensor]["largest_error"])
                if told[tensor]["snr_db"] is not None:
                    self.assertAlmostEqual(rows[tensor]["snr_db"], told[tensor]["snr_db"])
            if "rowcol" in name:
                continue
            self.check(run("dequantize", self.path("b"), "-o", self.path("c"), "--device", "cpu"),
                       0)
            result = run("compare", self.path("b"), self.path("c"), "--json")
            compared = json.loads(self.check(result, 0).stdout)["tensors"]
            self.assertEqual([row["name"] for row in compared], ["w", "v", "n"])
            for row in compared:
                # BF16 rounds what a float scale gives.
                self.assertTrue(row["exact"] or (row["name"] == "v" and "amax" in name), row)

    def test_shards(self):
        write(self.path("a"), {"x": floats(4), "y": floats(5)})
        os.mkdir(self.path("s"))
        write(self.path("s/1"), {"y": floats(5)})
        write(self.path("s/2"), {"x": floats(4)})
        with open(self.path("s/i.json"), "w", encoding="utf-8") as file:
            json.dump({"weight_map": {"x": "2", "y": "1"}}, file)
        result = run("compare", self.path("a"), self.path("s/i.json"), "--json")
        rows = json.loads(self.check(result, 0).stdout)["tensors"]
        self.assertEqual([(row["name"], row["exact"]) for row in rows], [("x", True), ("y", True)])

    def test_large_tensors(self):
        """More elements than are read at once: the last of them count."""
        values = [float(i % 97) for i in range(10001)]
        other = values[:-1] + [values[-1] + 64]
        rows = self.compared({"w": f32(*values)}, {"w": f32(*other)})
        self.assertEqual((rows["w"]["largest_error"], rows["w"]["elements"]), (64, 10001))

    def test_failures(self):
        write(self.path("a"), {"x": floats(4)})
        self.check(run("compare", self.path("a"), self.path("gone")), 1, "No such file")
        self.check(run("compare", self.path("a")), 2, "too few operands")


main()
