# SPDX-License-Identifier: MIT
"""Scale layouts and parts in files, and mxq dequantize, which inverts what mxq quantize wrote."""
import array
import json
import os
import struct

from cli_support import DEVICE, Case, floats, halves, main, quantize, read, run, write


def up(length, multiple):
    return -(-length // multiple) * multiple


def values(dtype, data):
    """The numbers of a tensor's bytes."""
    if dtype == "F32":
        return list(array.array("f", data))
    if dtype == "F16":
        return [x[0] for x in struct.iter_unpack("<e", data)]
    return [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0] for i in range(0, len(data), 2)]


def powers(*shape):
    """Signed powers of two, far apart from each other: exact at any scale that they do not leave."""
    count = 1
    for length in shape:
        count *= length
    return ("F32", list(shape), array.array("f", ((-1) ** (i % 3) * 2.0 ** (i * 5 % 3)
                                                  for i in range(count))).tobytes())


class Dequantize(Case):
    def quantized(self, tensors, variant, *arguments):
        write(self.path("in"), tensors, {"format": "pt"})
        self.check(quantize(self.path("in"), self.path("q"), "--variant", variant, *arguments), 0)
        return read(self.path("q"))

    def restored(self, code=0, *pieces):
        result = run("dequantize", self.path("q"), "-o", self.path("out"), "--device", DEVICE)
        self.check(result, code, *pieces)
        return read(self.path("out")) if code == 0 else (None, None)

    def test_scale_shapes(self):
        """Contract, section 6, for (E, N, K) = (3, 34, 70) and blocks of 32."""
        n, k, nb, kb = 34, 70, 2, 3
        rows = {  # layout: R, C, data
            "row": (n, kb, [n, k]), "col": (k, nb, [n, k]), "colt": (k, nb, [k, n]),
            "sq": (n, kb, [n, k]), "sqt": (k, nb, [k, n])}
        for layout, (r, c, data) in rows.items():
            squares = layout.startswith("sq")
            floats_mn = [up(r, 32) // 32, up(c, 4)] if squares else [c, up(r, 4)]
            for mode, scales, dtype, shape in [
                    ("rceil", "blk", "F8_E8M0", [up(r, 128), up(c, 4)]),
                    ("rceil", "mn", "I32", [up(c, 4) // 4, up(r, 4)]),
                    ("amax", "mn", "F32", floats_mn)]:
                name = f"quantize_*_e4m3_b32_{mode}_{layout}_{scales}"
                _, out = self.quantized({"a": floats(n, k), "b": halves(3, n, k)}, name)
                self.assertEqual([facts[:2] for facts in out.values()],
                                 [("F8_E4M3", data), (dtype, shape),
                                  ("F8_E4M3", [3, *data]), (dtype, [3, *shape])], name)

    def test_two_parts(self):
        """Both parts are those of the single layouts, name by name."""
        tensors = {"a": halves(2, 34, 70), "n": floats(3), "b": halves(66, 4)}
        for layout, parts in [("rowcol", ["row", "col"]), ("rowcolt", ["row", "colt"]),
                              ("sqsqt", ["sq", "sqt"])]:
            for out, mode, scales in [("e4m3", "rceil", "lin"), ("e2m1", "even", "blk"),
                                      ("e5m2", "amax", "mn")]:
                name = f"quantize_bf16_{out}_b32_{mode}_%s_{scales}"
                _, both = self.quantized(tensors, name % layout)
                self.assertEqual(list(both), [
                    f"a.{parts[0]}", f"a.{parts[0]}.scale", f"a.{parts[1]}", f"a.{parts[1]}.scale",
                    "n", f"b.{parts[0]}", f"b.{parts[0]}.scale", f"b.{parts[1]}",
                    f"b.{parts[1]}.scale"])
                for part in parts:
                    _, single = self.quantized(tensors, name % part)
                    for tensor in "ab":
                        for end in ("", ".scale"):
                            self.assertEqual(both[f"{tensor}.{part}{end}"], single[tensor + end],
                                             (layout, part, end))

    def test_names_that_parts_take(self):
        tensors = {"w": floats(32, 16), "w.colt": floats(3)}
        write(self.path("in"), tensors)
        result = quantize(self.path("in"), self.path("q"), "--variant",
                          "quantize_f32_e4m3_b32_rceil_rowcolt_lin")
        self.check(result, 1, '"w.colt"')
        self.assertFalse(os.path.exists(self.path("q")))

    def test_round_trip(self):
        """Powers of two come back exactly, in every layout and scale layout."""
        for i, (out, mode) in enumerate([("e4m3", "rceil"), ("e5m2", "floor"), ("e2m3", "even"),
                                         ("e3m2", "ceil"), ("e2m1", "rceil"), ("e4m3", "pow2"),
                                         ("e5m2", "pow2")]):
            for j, layout in enumerate(["row", "col", "colt", "sq", "sqt"]):
                scales = [["lin", "blk", "mn"], ["lin", "mn"]][mode == "pow2"]
                name = (f"quantize_*_{out}_b{[16, 32, 64, 128][(i + j) % 4]}_{mode}_{layout}_"
                        f"{scales[(i + j) % len(scales)]}")
                tensors = {"e": powers(2, 34, 70), "n": floats(7), "w": powers(132, 6),
                           "c": ("I64", [], b"12345678")}
                self.quantized(tensors, name)
                metadata, out_tensors = self.restored()
                self.assertEqual(metadata, {"format": "pt"})
                self.assertEqual(list(out_tensors), list(tensors))
                self.assertEqual(out_tensors, tensors, name)

    def test_every_type_comes_back(self):
        wide = [values("F32", powers(34, 70)[2])]
        tensors = {
            "f32": powers(34, 70), "f16": ("F16", [34, 70],
                                           b"".join(struct.pack("<e", x) for x in wide[0])),
            "bf16": ("BF16", [34, 70], b"".join(struct.pack("<f", x)[2:] for x in wide[0]))}
        self.quantized(tensors, "quantize_*_e4m3_b32_rceil_colt_blk")
        self.assertEqual(self.restored()[1], tensors)

    def test_rounding_and_special_values(self):
        data = array.array("f", [1.0] * 32 * 3)
        data[0], data[33], data[64] = float("nan"), float("-inf"), 1.1
        self.quantized({"w": ("F32", [3, 32], data.tobytes())},
                       "quantize_f32_e4m3_b32_rceil_row_mn")
        got = self.restored()[1]["w"][2]
        self.assertEqual(got[:256], struct.pack("<I", 0x7FFFFFFF) * 64)
        self.assertEqual(values("F32", got)[64:67], [1.125, 1.0, 1.0])

    def test_empty_tensors(self):
        tensors = {"a": ("F32", [5, 0], b""), "b": ("BF16", [0, 3, 4], b"")}
        self.quantized(tensors, "quantize_*_e4m3_b32_rceil_sq_blk")
        self.assertEqual(self.restored()[1], tensors)

    def test_misaligned_scales(self):
        """Float scales after an odd number of codes."""
        tensors = {"w": powers(3, 33), "v": powers(5, 7)}
        _, out = self.quantized(tensors, "quantize_f32_e4m3_b32_pow2_row_lin")
        self.assertEqual(len(out["w"][2]) % 4, 3)
        self.assertEqual(self.restored()[1], tensors)

    def test_some_tensors(self):
        tensors = {"a": powers(33, 32), "b": powers(33, 32)}
        self.quantized(tensors, "quantize_f32_e4m3_b32_pow2_row_lin", "--tensor", "b")
        self.assertEqual(self.restored()[1], tensors)

    def test_second_pass_leaves_scales_alone(self):
        """Scales of two axes and of the input's type are no weights."""
        name = "quantize_f32_e4m3_b32_pow2_row_lin"
        tensors = {"a": powers(33, 64), "b": powers(33, 64)}
        self.quantized(tensors, name, "--tensor", "b")
        os.rename(self.path("q"), self.path("half"))
        self.check(quantize(self.path("half"), self.path("q"), "--variant", name), 0)
        self.assertEqual(list(read(self.path("q"))[1]), ["a", "a.scale", "b", "b.scale"])
        self.assertEqual(self.restored()[1], tensors)

    def test_two_parts_are_refused(self):
        self.quantized({"w": floats(32, 16)}, "quantize_f32_e4m3_b32_rceil_rowcolt_lin")
        self.restored(1, '"w"', "rowcolt", "layouts of one part", "row")
        self.assertFalse(os.path.exists(self.path("out")))

    def test_files_that_are_not_quantized(self):
        write(self.path("q"), {"w": floats(32, 16)})
        self.restored(1, "no metadata")
        for text, piece in [("5", "no variant"), ("{}", "no variant"), ("", "no variant"),
                            ('{"variant":"x","tensors":{"w":{}}}', "no dtype"),
                            ('{"variant":"x","tensors":{"w":{"dtype":"F32"}}}', "no shape"),
                            ('{"variant":"x","tensors":{"w":{"dtype":"F32","shape":[32,-1]}}}',
                             "a length"),
                            ('{"variant":"x","tensors":{"w":{"dtype":"F32","shape":[32,16]}}}',
                             "the variant"),
                            ('{"variant":"quantize_bf16_e4m3_b32_rceil_row_lin","tensors":'
                             '{"w":{"dtype":"F32","shape":[32,16]}}}', "the variant"),
                            ('{"variant":"quantize_*_e4m3_b32_rceil_row_lin","tensors":'
                             '{"w":{"dtype":"F32","shape":[32,16]}}}', '"w" is F32 [32, 16]'),
                            ('{"variant":"quantize_*_e4m3_b32_rceil_row_lin","tensors":'
                             '{"v":{"dtype":"F32","shape":[32,16]}}}', '"v" is missing')]:
            write(self.path("q"), {"w": floats(32, 16)}, {"mxq": text})
            self.restored(1, piece)
            self.assertFalse(os.path.exists(self.path("out")))

    def test_a_file_in_which_nothing_was_quantized(self):
        tensors = {"n": floats(5), "x": ("I64", [1], b"12345678")}
        self.quantized(tensors, "quantize_f32_e4m3_b32_rceil_row_lin")
        metadata, back = self.restored()
        self.assertEqual((metadata, back), ({"format": "pt"}, tensors))

    def test_files_of_newer_versions(self):
        """Refused, whatever else they say; neither read nor added to."""
        self.quantized({"w": floats(32, 16)}, "quantize_f32_e4m3_b32_rceil_row_lin")
        metadata, tensors = read(self.path("q"))
        ours = run("--version").stdout.split()[1]
        major, minor, patch = map(int, ours.split("."))
        for version, code, piece in [
                ("99", 1, "mxq 99 wrote it, this is " + ours), (f"{major}.{minor + 1}.0", 1, "newer"),
                (f"{major + 1}", 1, "newer"), ("new", 1, '"new" is none of'), (7, 1, "is none of"),
                (f"{major}.{minor}.{patch + 1}", 0, ""), (f"{major}.0.3", 0, ""), (None, 0, "")]:
            entry = json.loads(metadata["mxq"])
            entry["version"] = version
            if version is None:
                del entry["version"]
            write(self.path("q"), {**tensors, "n": floats(32, 32)}, {"mxq": json.dumps(entry)})
            self.restored(code, *[piece] * bool(piece))
            again = run("quantize", self.path("q"), "-o", self.path("q2"), "--device", "cpu",
                        "--variant", "quantize_f32_e4m3_b32_rceil_row_lin")
            self.check(again, code, *[piece] * bool(piece))

    def test_json(self):
        self.quantized({"w": halves(2, 32, 16), "n": floats(3)},
                       "quantize_bf16_e4m3_b32_rceil_colt_mn")
        result = run("dequantize", self.path("q"), "-o", self.path("out"), "--device", DEVICE,
                     "--json")
        report = json.loads(self.check(result, 0).stdout)
        self.assertEqual(report["dequantized"], 1)
        w, n = report["tensors"]
        self.assertEqual((w["variant"], w["dtype"], w["shape"], w["device"]),
                         ("dequantize_e4m3_bf16_b32_e8m0_colt_mn", "BF16", [2, 32, 16], DEVICE))
        self.assertEqual((w["bytes_before"], w["bytes_after"]), (2 * 32 * 16 + 2 * 16 * 4, 2048))
        self.assertEqual(n["skipped"], "not quantized")

    def test_shards(self):
        os.mkdir(self.path("s"))
        index = self.path("s/m.safetensors.index.json")
        shards = {"a.safetensors": {"x": powers(33, 64), "n": floats(5)},
                  "b.safetensors": {"y": powers(2, 64, 40)}}
        for name, tensors in shards.items():
            write(self.path("s/" + name), tensors)
        with open(index, "w", encoding="utf-8") as file:
            json.dump({"metadata": {"total_size": 1}, "weight_map":
                       {t: name for name, tensors in shards.items() for t in tensors}}, file)
        variant = "quantize_f32_e4m3_b32_pow2_sqt_mn"
        self.check(quantize(index, self.path("t/"), "--variant", variant), 0)
        result = run("dequantize", self.path("t/m.safetensors.index.json"), "-o", self.path("u/"),
                     "--device", DEVICE)
        self.check(result, 0)
        for name, tensors in shards.items():
            self.assertEqual(read(self.path("u/" + name))[1], tensors)
        with open(self.path("u/m.safetensors.index.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["weight_map"],
                             {"x": "a.safetensors", "n": "a.safetensors", "y": "b.safetensors"})


main()
