# SPDX-License-Identifier: MIT
"""mxq quantize on single files: names, types, shapes, order, metadata, values, the report."""
import array
import json
import os

from cli_support import DEVICE, Case, floats, halves, main, quantize, read, run, write

DEFAULT = "quantize_*_e4m3_b32_rceil_row_lin"
BF16 = "quantize_bf16_e4m3_b32_rceil_colt_lin"


class Files(Case):
    def quantized(self, tensors, *arguments, metadata=None, pad=0):
        write(self.path("in.safetensors"), tensors, metadata, pad)
        result = quantize(self.path("in.safetensors"), self.path("out.safetensors"), *arguments)
        self.check(result, 0)
        return (*read(self.path("out.safetensors")), result.stdout)

    def test_order_names_types_and_shapes(self):
        tensors = {
            "bias": floats(33), "w": halves(16, 40), "x.scale.y": ("I64", [], b"12345678"),
            "experts": floats(3, 8, 33), "four": floats(1, 2, 2, 2),
            "empty": ("BF16", [5, 0], b""), "codes": ("F4", [3, 2], b"abc"), "half": ("F16", [1, 1],
                                                                                   b"\0<"),
            "new": ("F9_NEW", [7], b"xyz"),
        }
        metadata, out, report = self.quantized(tensors, metadata={"format": "pt", "é\n": '"\\'})
        self.assertEqual(
            [(name, dtype, shape) for name, (dtype, shape, _) in out.items()],
            [("bias", "F32", [33]), ("w", "F8_E4M3", [16, 40]), ("w.scale", "F8_E8M0", [16, 2]),
             ("x.scale.y", "I64", []), ("experts", "F8_E4M3", [3, 8, 33]),
             ("experts.scale", "F8_E8M0", [3, 8, 2]), ("four", "F32", [1, 2, 2, 2]),
             ("empty", "F8_E4M3", [5, 0]), ("empty.scale", "F8_E8M0", [5, 0]),
             ("codes", "F4", [3, 2]), ("half", "F8_E4M3", [1, 1]),
             ("half.scale", "F8_E8M0", [1, 1]), ("new", "F9_NEW", [7])])
        for name in ["bias", "x.scale.y", "four", "codes", "new"]:
            self.assertEqual(out[name], tensors[name])
        self.assertEqual((metadata["format"], metadata["é\n"]), ("pt", '"\\'))
        mxq = json.loads(metadata["mxq"])
        self.assertEqual(mxq["variant"], DEFAULT)
        self.assertEqual("mxq " + mxq["version"] + "\n", run("--version").stdout)
        self.assertEqual(mxq["tensors"]["experts"], {"dtype": "F32", "shape": [3, 8, 33]})
        self.assertEqual(list(mxq["tensors"]), ["w", "experts", "empty", "half"])
        self.assertIn("4 of 9 tensors quantized, 5 copied", report)
        self.assertIn("1 axis, not 2 or 3", report)
        self.assertIn("type F4, not F32 or BF16 or F16", report)

    def test_shapes_of_layouts(self):
        """(E, N, K) = (3, 34, 70) in every layout, of two and of three axes: contract, 3, 4, 6."""
        n, k, n_blocks, k_blocks = 34, 70, 2, 3
        layouts = {"row": ([n, k], [n, k_blocks]), "col": ([n, k], [n_blocks, k]),
                   "colt": ([k, n], [n_blocks, k]), "sq": ([n, k], [n_blocks, k_blocks]),
                   "sqt": ([k, n], [n_blocks, k_blocks])}
        for layout, (data, scale) in layouts.items():
            name = f"quantize_*_e4m3_b32_rceil_{layout}_lin"
            _, out, _ = self.quantized({"a": floats(n, k), "b": halves(3, n, k)},
                                       "--variant", name)
            self.assertEqual([(dtype, shape) for dtype, shape, _ in out.values()],
                             [("F8_E4M3", data), ("F8_E8M0", scale),
                              ("F8_E4M3", [3, *data]), ("F8_E8M0", [3, *scale])], layout)

    def test_types_of_outputs(self):
        """The dtype of each output type and scale, and the bytes of codes that share one."""
        rows = [("e4m3", "rceil", "F8_E4M3", "F8_E8M0", 1), ("e5m2", "even", "F8_E5M2", "F8_E8M0", 1),
                ("e2m3", "ceil", "U8", "F8_E8M0", 1), ("e3m2", "floor", "U8", "F8_E8M0", 1),
                ("e2m1", "floor", "F4", "F8_E8M0", 2), ("e4m3", "amax", "F8_E4M3", "F32", 1),
                ("e5m2", "pow2", "F8_E5M2", "F32", 1)]
        for out_type, mode, dtype, scale_dtype, together in rows:
            for layout, block in (("row", 64), ("colt", 128), ("sq", 16)):
                name = f"quantize_*_{out_type}_b{block}_{mode}_{layout}_lin"
                _, out, text = self.quantized({"w": floats(2, 40, 24)}, "--json", "--variant", name)
                self.assertEqual(out["w"][:2], (dtype, [2, 24, 40] if layout == "colt" else
                                                [2, 40, 24]), name)
                self.assertEqual(len(out["w"][2]), 2 * 40 * 24 // together, name)
                self.assertEqual(out["w.scale"][0], scale_dtype, name)
                row = json.loads(text)["tensors"][0]
                self.assertEqual((row["excluded_elements"], row["largest_input"]), (0, 6))
                self.assertLess(row["largest_error"], 1.01, name)

    def test_packing(self):
        """Codes of two rows, by hand: at the scale 1 they are those of the values themselves."""
        rows = [[6, 0.5, -1, 1.5], [-4, 3, 2, -0.0]]
        data = array.array("f", [x for row in rows for x in row])
        tensors = {"w": ("F32", [2, 4], data.tobytes())}
        by_hand = {"row": "17 3a 5e 84", "sq": "17 3a 5e 84", "sqt": "e7 51 4a 83"}
        for layout in ("row", "col", "colt", "sq", "sqt"):
            name = f"quantize_f32_e2m1_b16_floor_{layout}_lin"
            _, out, text = self.quantized(tensors, "--variant", name, "--json")
            self.assertEqual(out["w"][0], "F4")
            if layout in by_hand:  # columns have other maxima, hence other scales
                self.assertEqual(set(out["w.scale"][2]), {127}, layout)
                self.assertEqual(out["w"][2].hex(" "), by_hand[layout], layout)
            self.assertEqual(json.loads(text)["tensors"][0]["largest_error"], 0, layout)

    def test_odd_lengths_are_skipped(self):
        tensors = {"odd": floats(4, 7), "even": floats(7, 4)}
        _, out, report = self.quantized(tensors, "--variant", "quantize_*_e2m1_b32_ceil_row_lin")
        self.assertEqual(list(out), ["odd", "even", "even.scale"])
        self.assertEqual(out["odd"], tensors["odd"])
        self.assertIn("packed along K", report)
        _, out, report = self.quantized(tensors, "--variant", "quantize_*_e2m1_b32_ceil_sqt_lin")
        self.assertEqual(list(out), ["odd", "odd.scale", "even"])
        self.assertIn("packed along N", report)

    def test_why_nothing_was_quantized(self):
        """The reason is that of the tensor that came furthest."""
        def note(tensors, variant):
            write(self.path("in"), tensors)
            result = quantize(self.path("in"), self.path("out"), "--variant", variant)
            return self.check(result, 0).stderr
        text = note({"odd": floats(4, 7)}, "quantize_f32_e2m1_b32_ceil_row_lin")
        self.assertIn('nothing was quantized: "odd": ', text)
        self.assertIn("packed along K", text)
        self.assertNotIn("type", text)
        text = note({"a": halves(4, 8), "bias": floats(7), "b": floats(4, 7)},
                    "quantize_f32_e2m1_b32_ceil_row_lin")
        self.assertIn('"b": ', text)
        self.assertIn("packed along K", text)
        self.assertIn("2 others", text)
        text = note({"a": halves(4, 8)}, "quantize_f32_e2m1_b32_ceil_row_lin")
        self.assertIn('"a": type BF16, not F32', text)
        self.assertIn("no tensor", note({}, "quantize_f32_e2m1_b32_ceil_row_lin"))

    def test_variants_are_recorded(self):
        """Each once, also by the CPU path; a file that cannot be written is told of once."""
        write(self.path("in"), {"a": floats(4, 32), "b": floats(4, 32), "c": halves(4, 32)})
        def quantize_with(record):
            return self.check(quantize(self.path("in"), self.path("out"),
                                       env=dict(os.environ, MXQ_RECORD=record)), 0)
        self.assertEqual(quantize_with(self.path("used")).stderr, "")
        with open(self.path("used"), encoding="utf-8") as file:
            self.assertEqual(file.read().split(), [DEFAULT.replace("*", "f32"),
                                                   DEFAULT.replace("*", "bf16")])
        result = quantize_with(self.path("no/folder"))
        self.assertEqual(result.stderr, f"mxq: MXQ_RECORD: {self.path('no/folder')}: "
                                        "No such file or directory\n")

    def test_float_scales(self):
        """Maxima of 1.0 and of 31: amax stores the quotient by 448, pow2 the power of two above."""
        data = array.array("f", [1.0] * 32 + list(range(32)))
        tensors = {"w": ("F32", [2, 32], data.tobytes())}
        for mode, scales in (("amax", [1 / 448, 31 / 448]), ("pow2", [2 ** -8, 2 ** -3])):
            _, out, _ = self.quantized(tensors, "--variant", f"quantize_f32_e4m3_b32_{mode}_row_lin")
            self.assertEqual(out["w.scale"][2], array.array("f", scales).tobytes())
            self.assertEqual(out["w"][2][31:33] + out["w"][2][63:],
                             b"\x7e\x00\x7e" if mode == "amax" else b"\x78\x00\x78")

    def test_values(self):
        """1.0 and powers of two: scale and codes by hand."""
        data = array.array("f", [0.0] * 16 * 32)
        for k in range(32):
            data[k] = 1.0             # row 0: all ones, amax 1: 1/448 rounds up to 2^-8
            data[32 + k] = k          # row 1: 0 to 31: 31/448 rounds up to 2^-3
        _, out, _ = self.quantized({"w": ("F32", [16, 32], data.tobytes())})
        codes, scales = out["w"][2], out["w.scale"][2]
        self.assertEqual(scales[:3], bytes([127 - 8, 127 - 3, 0]))
        self.assertEqual(codes[:32], bytes([0x78]) * 32)  # 256 = 2^8
        self.assertEqual(codes[32:36], bytes([0x00, 0x50, 0x58, 0x5C]))  # 0, 8, 16, 24
        self.assertEqual(codes[64:], bytes(len(codes) - 64))

    def test_misaligned_input(self):
        tensors = {"odd": ("U8", [3], b"abc"), "w": floats(32, 16), "v": halves(32, 16)}
        _, straight, _ = self.quantized(tensors)
        for pad in range(1, 8):
            _, out, _ = self.quantized(tensors, pad=pad)
            self.assertEqual(out, straight)

    def test_fixed_type_and_globs(self):
        tensors = {"a.w": floats(32, 16), "b.w": halves(32, 16), "c.w": halves(32, 16)}
        _, out, report = self.quantized(tensors, "--variant", BF16, "--tensor", "[ab].*")
        self.assertEqual(list(out), ["a.w", "b.w", "b.w.scale", "c.w"])
        self.assertIn("type F32, not BF16", report)
        self.assertIn("not asked for by --tensor", report)
        _, out, _ = self.quantized(tensors, "--tensor", "a.w", "--tensor", "c.*")
        self.assertEqual(list(out), ["a.w", "a.w.scale", "b.w", "c.w", "c.w.scale"])

    def test_second_pass_keeps_the_first(self):
        self.quantized({"a": floats(32, 16), "b": floats(32, 16)}, "--tensor", "a")
        os.rename(self.path("out.safetensors"), self.path("half.safetensors"))
        self.check(quantize(self.path("half.safetensors"), self.path("q"), "--tensor", "b"), 0)
        metadata, out = read(self.path("q"))
        self.assertEqual(list(out), ["a", "a.scale", "b", "b.scale"])
        self.assertEqual(list(json.loads(metadata["mxq"])["tensors"]), ["a", "b"])
        self.check(quantize(self.path("half.safetensors"), self.path("q"), "--variant",
                            DEFAULT.replace("rceil", "floor")), 1, "was quantized before")

    def test_json(self):
        _, _, text = self.quantized({"a": floats(32, 16), "b": floats(3)}, "--json")
        report = json.loads(text)
        self.assertEqual((report["quantized"], report["skipped"]), (1, 1))
        a, b = report["tensors"]
        self.assertEqual((a["bytes_before"], a["bytes_after"]), (2048, 544))
        self.assertEqual(a["outputs"][1],
                         {"name": "a.scale", "dtype": "F8_E8M0", "shape": [32, 1], "bytes": 32})
        self.assertIsNone(a["snr_db"])  # small whole numbers are exact
        self.assertEqual(a["largest_error"], 0)
        self.assertEqual(a["device"], DEVICE)
        self.assertEqual(b["skipped"], "1 axis, not 2 or 3")

    def test_special_values_are_counted(self):
        data = array.array("f", [1.0] * 16 * 64)
        data[0] = float("nan")
        data[64 + 32] = float("inf")
        _, _, text = self.quantized({"w": ("F32", [16, 64], data.tobytes())}, "--json")
        self.assertEqual(json.loads(text)["tensors"][0]["excluded_elements"], 64)

    def test_signal_to_noise(self):
        """1.0625 between the codes 1.0 and 1.125 (at the scale 2^-8 both are exact)."""
        data = array.array("f", [1.0625] * 32 * 16)
        _, _, text = self.quantized({"w": ("F32", [32, 16], data.tobytes())}, "--json")
        row = json.loads(text)["tensors"][0]
        self.assertAlmostEqual(row["largest_relative_error"], 0.0625 / 1.0625)
        self.assertAlmostEqual(row["snr_db"], 24.6090, places=3)  # 20 log10(17)


main()
