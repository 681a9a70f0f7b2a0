# SPDX-License-Identifier: MIT
"""Commands, options, names and exit codes of the program."""
import json
import os
import subprocess

from cli_support import MXQ, Case, main, run

NAME = "quantize_bf16_e4m3_b32_rceil_colt_lin"
COMMANDS = ["list", "why", "source", "plan", "compile", "quantize", "dequantize", "compare", "info"]


class Usage(Case):
    def test_without_a_command(self):
        result = run()
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("Usage:", result.stderr)

    def test_help(self):
        for arguments in [["--help"], ["help"], ["-h"]]:
            result = self.check(run(*arguments), 0)
            for command in COMMANDS:
                self.assertIn(f"\n  {command} ", result.stdout)
        for command in COMMANDS:
            result = self.check(run(command, "--help"), 0)
            self.assertIn(f"Examples:\n  mxq {command}", result.stdout)
            self.assertEqual(result.stdout, run("help", command).stdout)

    def test_examples_in_help_are_accepted(self):
        for command in ["list", "why", "plan"]:
            text = run(command, "--help").stdout
            lines = text.split("Examples:\n")[1].split("\n\n")[0].splitlines()
            self.assertTrue(lines)
            for line in lines:
                script = line.strip().replace("mxq", f'"{MXQ}"', 1)
                done = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, line + done.stderr)

    def test_version(self):
        self.assertRegex(run("--version").stdout, r"^mxq \d+\.\d+\.\d+\n$")

    def test_unknown_things_are_named(self):
        for arguments, pieces in [
            (["lst"], ['unknown command "lst"', "list, why", "did you mean list?"]),
            (["lsit"], ["did you mean list?"]),
            (["help", "plam"], ['unknown command "plam"', "did you mean plan?"]),
            (["zzzzzz"], ['unknown command "zzzzzz"', "list, why"]),
            (["list", "--inn", "f32"], ['unknown option "--inn"', "--in", "did you mean --in?"]),
            (["list", "-x"], ['unknown option "-x"']),
            (["why", NAME, "--arch", "90a"], ['unknown option "--arch"']),
            (["source", NAME, "--json"], ['unknown option "--json"']),
            (["list", "--out", "e4m4"], ['unknown output type "e4m4"', "e4m3, e5m2", "mean e4m3?"]),
            (["list", "--block=33"], ['"33"', "b32"]),
            (["list", "nothing*"], ['no variant matches "nothing*"']),
            (["list", NAME.replace("rceil", "rcel")], ["rcel", "floor", "rceil"]),
            (["why", "quantize_bf16"], ["quantize_bf16"]),
            (["source", NAME, "--arch", "91"], ['"91"', "90a"]),
            (["list", NAME, "--json", "--arch", "91"], ['"91"', "90a"]),
            (["list", NAME, "--arch", "90a"], ["--arch", "only --json"]),
            (["list", NAME, "--compile"], ["--compile", "only --json"]),
            (["source", NAME, "--kernel", "tma-1x1"], ["tma-1x1", "tma-128x128"]),
            (["source", NAME, "--kernel", "quantize_f32_e4m3_b32_rceil_colt_lin.tma-128x64"],
             ["not one of variant"]),
            (["compile", "nothing*"], ["nothing*"]),
            (["compile", NAME, "--arch", "12"], ['"12"', "90a"]),
            (["quantize", "x", "-o", "y", "--device", "gpu"], ['"gpu"', "auto, cpu, cuda:0"]),
            (["quantize", "x", "-o", "y", "--device", "cuda:"], ['"cuda:"']),
            (["quantize", "x", "-o", "y", "--device", "cuda:0x"], ['"cuda:0x"']),
            (["quantize", "x", "-o", "y", "--variant", "quantize_*"], ["quantize_*"]),
            (["quantize", "x", "-o", "y", "--variant", NAME.replace("b32", "b33")], ["b33"]),
            (["quantize", "x", "-o", "y", "--variant", "quantize_*_*_b32_rceil_colt_lin"],
             ["one * is allowed"]),
        ]:
            with self.subTest(arguments=arguments):
                result = self.check(run(*arguments), 2, *pieces)
                self.assertEqual(result.stdout, "")

    def test_wrong_counts_and_values(self):
        for arguments, piece in [
            (["why"], "nothing to work on"),
            (["why", NAME, NAME], "one operand too many"),
            (["info", "x"], "one operand too many"),
            (["plan", NAME, "1", "2"], "too few operands"),
            (["plan", NAME, "1", "2", "3.5"], 'K: "3.5" is not a length'),
            (["plan", NAME, "1", "2", "99999999999999999999"], "is not a length"),
            (["plan", NAME, "1", "2", ""], "is not a length"),
            (["plan", NAME, "-1", "2", "3"], "negative"),
            (["plan", NAME, "1", "2", "3", "--strides", "4"], "--strides"),
            (["plan", NAME, "1", "2", "3", "--strides", "4,5,6"], "--strides"),
            (["plan", NAME, "2", "2", "3", "--strides", "-4,3"], "-4"),
            (["plan", NAME, str(2**62), "4", "4"], "63"),
            (["plan", NAME, "1", str(2**62), "4"], "N*K does not fit in 63 bits"),
            (["plan", NAME, "3", str(2**62), "4"], "N*K does not fit in 63 bits"),
            (["list", "--in"], "--in needs a value"),
            (["list", "--json=1"], "--json takes no value"),
            (["source", NAME, "--arch", "90a", "--arch", "90a"], "--arch was given twice"),
            (["quantize", "x"], "-o OUT is needed"),
            (["compile"], "nothing to work on"),
        ]:
            with self.subTest(arguments=arguments):
                result = self.check(run(*arguments), 2, piece)
                self.assertEqual(result.stdout, "")

    def test_write_errors_are_failures(self):
        for arguments in [["list"], ["source", NAME], ["--help"], ["plan", NAME, 1, 32, 32]]:
            with open("/dev/full", "w") as full:
                self.check(run(*arguments, stdout=full), 1, "standard output")
            closed = subprocess.run(f'"{MXQ}" list >&-', shell=True, capture_output=True)
            self.assertEqual(closed.returncode, 1)


class Answers(Case):
    def test_list_filters(self):
        names = run("list").stdout.split()
        self.assertIn(NAME, names)
        self.assertEqual(len(names), len(set(names)))
        for arguments, keep in [
            (["--in", "bf16"], lambda n: n.split("_")[1] == "bf16"),
            (["--in", "bf16", "--in=f32"], lambda n: n.split("_")[1] in ("bf16", "f32")),
            (["--out", "e5m2", "--mode", "floor"], lambda n: "_e5m2_" in n and "_floor_" in n),
            (["--op", "quantize", "--block", "32", "--layout", "colt", "--scales", "lin"],
             lambda n: n.startswith("quantize_") and "_b32_" in n and n.endswith("_colt_lin")),
            (["quantize_f16_*", "*_f32_e5m2_*"],
             lambda n: "quantize_f16_" in n or "_f32_e5m2_" in n),
        ]:
            wanted = [name for name in names if keep(name)]
            self.assertEqual(run("list", *arguments).stdout.split(), wanted)
            rows = json.loads(run("list", "--json", *arguments).stdout)
            self.assertEqual([row["name"] for row in rows], wanted)

    def test_list_tells_of_kernels(self):
        environment = dict(os.environ, MXQ_CACHE_DIR=self.path("cache"), MXQ_JIT="off")
        rows = json.loads(run("list", NAME, "--json", env=environment).stdout)
        self.assertEqual((rows[0]["block"], rows[0]["layout"]), (32, "colt"))
        fast, *smaller, generic = rows[0]["kernels"]
        for row, lengths, size in [(fast, (8, 8192, 5120), "large"),
                                   (smaller[0], (1, 2048, 2048), "cached"),
                                   (smaller[1], (1, 128, 256), "tiny")]:
            plan = json.loads(run("plan", NAME, *lengths, "--json").stdout)
            self.assertEqual(plan["size"], size)
            for key in ["kernel", "tile_n", "tile_k", "threads", "shared_bytes", "shared_allowed"]:
                self.assertEqual(row[key], plan[key])
        self.assertEqual(len(smaller), 2)
        self.assertEqual((fast["family"], generic["family"]), ("tma", "any"))
        self.assertEqual(generic["kernel"], NAME + ".any-128x128")
        for key in ["registers", "spill_store_bytes", "spill_load_bytes", "stack_bytes"]:
            self.assertIsNone(fast[key])
        rows = json.loads(run("list", NAME, "--json", "--arch", "120a", "--arch=80", "--arch",
                              "120", env=environment).stdout)
        self.assertEqual([(row["arch"], row["family"]) for row in rows[0]["kernels"]],
                         [("120a", "tma")] * 3 + [("120a", "any"), ("80", "any")])
        self.assertFalse(os.path.exists(self.path("cache")))

    def test_why(self):
        self.assertEqual(run("why", NAME).stdout, "legal\n")
        self.assertEqual(json.loads(run("why", NAME, "--json").stdout),
                         {"name": NAME, "legal": True, "reason": None})

    def test_source(self):
        source = self.check(run("source", NAME), 0).stdout
        self.assertEqual(source, run("source", NAME, "--arch", "90a").stdout)
        kernel = source.split()[1]
        self.assertEqual(source, run("source", kernel).stdout)
        self.assertEqual(source, run("source", NAME, "--kernel", kernel).stdout)
        self.assertEqual(source, run("source", NAME, "--kernel", kernel.split(".")[1]).stdout)
        self.assertNotIn("#include", source)

    def test_plan_of_an_empty_tensor(self):
        """Its strides do not matter, and may be none."""
        self.assertIn("strides (any, 4, 1)", run("plan", NAME, 0, 2**62, 4).stdout)
        self.assertEqual(json.loads(run("plan", NAME, 0, 2**62, 4, "--json").stdout)["strides"],
                         [None, 4])
        self.assertEqual(json.loads(run("plan", NAME, 0, 3, 4, "--json").stdout)["strides"], [12, 4])

    def test_plan(self):
        text = run("plan", NAME, 8, 8192, 5120).stdout
        self.assertIn(NAME + ".tma-", text)
        self.assertIn("dims [8192, 5120, 8], byte strides [8192, 41943040]", text)
        plan = json.loads(run("plan", NAME, 8, 8192, 5120, "--json").stdout)
        self.assertEqual(plan["in_map"]["dims"], [5120, 8192, 8])
        self.assertEqual(plan["out_map"]["strides_bytes"], [8192, 41943040])
        self.assertEqual(plan["grid"], plan["tiles"])
        wide = json.loads(run("plan", NAME, 8, 64, 64, "--strides", "0,72", "--json").stdout)
        self.assertEqual(wide["strides"], [0, 72])

    def test_plan_of_each_form(self):
        for name, arguments, form, pieces in [
            (NAME, (8, 8192, 5120), "tile", ["copy engine", "output map", "128B"]),
            (NAME.replace("e4m3", "e2m1"), (1, 4096, 512), "tile",
             ["dims [2048, 512, 1]", "cached: the L2 cache"]),
            (NAME, (1, 128, 256), "strip", ["strips of columns", "tiny: ", "tma-32x64-direct"]),
            (NAME.replace("colt", "row"), (2, 64, 64), "row", ["16 bytes", "tensor maps    none"]),
            (NAME, (1, 64, 63), "any", ["no fast kernel", "multiples of 16 bytes"]),
            (NAME, (1, 63, 64), "any", ["no fast kernel", "multiples of 16 bytes"]),
            (NAME, (2, 64, 64, "--strides", "4100,64"), "any", ["multiples of 16 bytes"]),
            (NAME.replace("colt", "row"), (1, 64, 24), "any-row", ["K is 24", "multiples of 16"]),
            (NAME, (8, 8192, 5120, "--arch", "80"), "any", ["80 has no tensor copy engine"]),
            (NAME, (1, 1, 1, "--arch", "120a"), "any", ["120a allows 101376"]),
        ]:
            with self.subTest(name=name, arguments=arguments):
                text = self.check(run("plan", name, *arguments), 0).stdout
                plan = json.loads(run("plan", name, *arguments, "--json").stdout)
                self.assertEqual(plan["form"], form)
                self.assertIn(plan["kernel"], text)
                family = "any" if form.startswith("any") else "tma"
                self.assertTrue(plan["kernel"].startswith(f"{name}.{family}-"), plan["kernel"])
                for piece in pieces:
                    self.assertIn(piece, text)
                self.assertEqual(plan["in_map"] is None, form != "tile")
                self.assertEqual(plan["out_map"] is None, form != "tile")
                self.assertEqual(plan["refused"] is None, family == "tma")
                self.assertLessEqual(plan["shared_bytes"], plan["shared_allowed"])

    def test_plan_of_more_tiles_than_blocks(self):
        plan = json.loads(run("plan", NAME, 2**31, 3, 5, "--json").stdout)
        self.assertEqual((plan["tiles"], plan["grid"]), (2**31, 2**31 - 1))

    def test_plan_of_every_kind(self):
        """Two parts, scales that are read, and kernels without tensor maps."""
        for name, parts in [("quantize_bf16_e4m3_b32_rceil_rowcolt_blk", 2),
                            ("quantize_f32_e2m1_b16_even_sqsqt_mn", 2),
                            ("quantize_bf16_e4m3_b128_amax_row_mn", 1),
                            ("dequantize_e4m3_bf16_b32_e8m0_row_blk", 0),
                            ("dequantize_e2m1_f32_b16_e8m0_sqt_mn", 0)]:
            for lengths in [(2, 128, 256), (2, 66, 34)]:
                text = self.check(run("plan", name, *lengths), 0).stdout
                self.assertIn(name + ".", text)
                plan = json.loads(self.check(run("plan", name, *lengths, "--json"), 0).stdout)
                self.assertEqual(sum(count > 0 for count in plan["scale_bytes"]), parts)
                self.assertEqual(plan["in_scale_bytes"] > 0, parts == 0)
                self.assertEqual("its scales" in text, parts == 0)

    def test_plan_of_an_empty_tensor(self):
        plan = json.loads(run("plan", NAME, 0, 64, 64, "--json").stdout)
        self.assertEqual(plan["grid"], 0)

    def test_info(self):
        text = self.check(run("info"), 0).stdout
        for variable in ["NVRTC", "CACHE_DIR", "CACHE_SIZE", "JIT", "RECORD", "LOG"]:
            self.assertIn("MXQ_" + variable, text)
        environment = dict(os.environ, MXQ_NVRTC=self.path("none.so"),
                           MXQ_CACHE_DIR=self.path("new/cache"))
        info = json.loads(run("info", "--json", env=environment).stdout)
        self.assertFalse(info["nvrtc"]["found"])
        self.assertIn("none.so", info["nvrtc"]["reason"])
        self.assertEqual(info["cache"][0]["path"], self.path("new/cache"))
        self.assertTrue(info["cache"][0]["writable"])
        self.assertFalse(info["cache"][0]["exists"])
        self.assertFalse(os.path.exists(self.path("new")))
        self.assertTrue(any("NVRTC" in advice for advice in info["missing"]))

    def test_info_says_why_a_cache_folder_is_not_used(self):
        os.mkdir(self.path("open"))
        os.chmod(self.path("open"), 0o777)
        environment = dict(os.environ, MXQ_CACHE_DIR=self.path("open"))
        info = json.loads(run("info", "--json", env=environment).stdout)
        self.assertFalse(info["cache"][0]["writable"])
        self.assertIn("777", info["cache"][0]["reason"])
        self.assertTrue(any("MXQ_CACHE_DIR" in advice for advice in info["missing"]))

    def test_compile_without_nvrtc(self):
        environment = dict(os.environ, MXQ_NVRTC=self.path("none.so"),
                           MXQ_CACHE_DIR=self.path("cache"))
        result = self.check(run("compile", NAME, env=environment), 3, "none.so")
        self.assertEqual(result.stdout, "")


main()
