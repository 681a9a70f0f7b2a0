# SPDX-License-Identifier: MIT
"""mxq verify on the fake driver: equal kernels pass, each kind of fault is found and told."""
import json
import os
import re
import signal
import subprocess
import time

from cli_support import MXQ, Case, main, run, skip

# Every form of kernel, one and two parts, each scale layout.
SAMPLE = ["quantize_f16_e2m1_b32_floor_*", "dequantize_e4m3_bf16_b128_*"]
KERNEL = "quantize_f16_e2m1_b32_floor_rowcolt_blk.any-128x128"
VARIANT = KERNEL.split(".")[0]
SYMBOL = re.sub("[.-]", "_", KERNEL)


def verify(*arguments, **variables):
    return run("verify", *arguments, env=dict(os.environ, **variables))


def lines_of(result):
    return result.stdout.splitlines()


class Verify(Case):
    def test_a_sample_passes(self):
        names = run("list", *SAMPLE).stdout.split()
        result = self.check(verify(*SAMPLE, "--json", "-j", "2"), 0)
        report = json.loads(result.stdout)
        self.assertEqual(result.stderr, "")
        self.assertEqual(report["passed"], self.count_of(*SAMPLE))
        self.assertGreaterEqual(report["passed"], 2 * len(names))
        self.assertEqual((report["failed"], report["skipped"], report["not_run"]), (0, 0, 0))
        self.assertEqual(report["failures"], [])
        self.assertEqual({(row["op"], row["in"], row["out"]) for row in report["types"]},
                         {("quantize", "f16", "e2m1"), ("dequantize", "e4m3", "bf16")})
        self.assertEqual(sum(row["passed"] for row in report["types"]), report["passed"])

    def test_the_summary_comes_last(self):
        patterns = [KERNEL, "quantize_f16_e2m1_b32_floor_row_mn"]
        count = self.count_of(*patterns)
        result = self.check(verify(*patterns), 0)
        self.assertRegex(lines_of(result)[0], r"^operation +from +to +check +passed +failed")
        self.assertRegex(lines_of(result)[1], rf"^quantize +f16 +e2m1 +shapes +{count} +0 +0 +0$")
        self.assertRegex(lines_of(result)[-1],
                         rf"^cuda:0 .*: {count} passed, 0 failed, 0 skipped, 0 not run, in [\d.]+ s$")

    def count_of(self, *patterns, **variables):
        """Kernels that are checked: of each family those that some size of tensor gets."""
        return len(json.loads(self.check(verify("--list", "--json", *patterns, **variables), 0).stdout))

    def found(self, fault, code, pattern=VARIANT + "*"):
        """One kernel of several is wrong: it alone fails, and its command repeats that."""
        patterns = [pattern, VARIANT.replace("blk", "mn")]
        result = self.check_found(verify(*patterns, FAKE_FAULT=f"{fault}:{SYMBOL}"), code)
        passed = self.count_of(*patterns) - 1
        self.assertIn(f"{passed} passed, 1 failed, 0 skipped", lines_of(result)[-1])
        repeat = [line for line in lines_of(result) if line.startswith("  repeat: mxq ")]
        self.assertEqual(len(repeat), 1)
        again = run(*repeat[0].split()[2:], env=dict(os.environ, FAKE_FAULT=f"{fault}:{SYMBOL}"))
        self.check_found(again, code)
        self.check(run(*repeat[0].split()[2:]), 0)
        return result.stdout

    def check_found(self, result, code):
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertEqual(lines_of(result)[0], f"FAILED {KERNEL}: shapes")
        return result

    def test_a_wrong_code(self):
        text = self.found("code", 4)
        self.assertRegex(text, r'case "odd lengths", shape \[3,38,72\], strides \[2736,72\]: 1 diff')
        self.assertRegex(text, r"out\[1\] at \(e, n, k\) = \(2, 36, 71\): expected 0x\w, got 0x\w")

    def test_wrong_padding(self):
        self.assertRegex(self.found("scale", 4), r"scale\[1\], byte \d+, beside its elements")

    def test_a_byte_beyond(self):
        self.assertRegex(self.found("beyond", 4), r"out\[1\], byte \d+, not to be written")

    def test_a_changed_input(self):
        self.assertRegex(self.found("input", 4), r" in, byte \d+, not to be written")

    def test_nothing_written(self):
        self.assertIn("got 0xFF", self.found("nothing", 4))

    def test_a_crash(self):
        self.assertIn("the process that ran it ended: signal 6", self.found("crash", 1))

    def test_a_context_that_is_gone(self):
        """Every later call on that device fails: only the kernel whose fault it is may."""
        self.assertIn("(700)", self.found("illegal", 1))

    def test_failures_in_json(self):
        result = verify(KERNEL, "--json", FAKE_FAULT="code:")
        report = json.loads(result.stdout)
        self.assertEqual(result.returncode, 4)
        failure = report["failures"][0]
        self.assertEqual((failure["kernel"], failure["variant"], failure["check"]),
                         (KERNEL, VARIANT, "shapes"))
        case = failure["cases"][0]
        self.assertEqual((case["case"], case["differences"], len(case["first"])),
                         ("one element", 1, 1))
        self.assertEqual([row for row in report["names"] if row["value"] == "any"][0]["failed"], 1)

    def test_scales_that_are_moved(self):
        """Members of the table like any other; every layout is a task."""
        rows = [["relayout", "e8m0", "blk"], ["relayout", "e8m0", "mn"], ["relayout", "f32", "mn"]]
        result = self.check(verify("*.relayout-*"), 0)
        self.assertEqual([line.split() for line in lines_of(result)[1:4]],
                         [row + ["scales", "8", "0", "0", "0"] for row in rows])
        for fault, text in [("scale", r"scale\[0\] at \(e, n, k\) = "),
                            ("beyond", r" result, byte \d+, not to be written"),
                            ("input", r" source, byte 0, not to be written"),
                            ("nothing", "got 0xFF")]:
            result = verify("*.relayout-*", FAKE_FAULT=f"{fault}:_f32_row_mn_relayout")
            self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
            self.assertIn("16 passed, 8 failed, 0 skipped", lines_of(result)[-1])
            self.assertRegex(result.stdout, text)

    def values_of(self, kernel):
        """What a kernel's name says: seven axes, then family and schedule."""
        variant, schedule = kernel.split(".")
        return variant.split("_") + [schedule]

    def test_a_pairwise_set(self):
        """Every pair that occurs at all, with few kernels; another seed gives another set."""
        def tensors(*arguments):
            names = json.loads(self.check(verify("--list", "--json", *arguments), 0).stdout)
            self.assertEqual(len(set(names)), len(names))
            self.assertEqual(len([name for name in names if ".relayout-" in name]), 3)
            return [self.values_of(name) for name in names if ".relayout-" not in name]

        def pairs(kernels):
            return {(a, row[a], b, row[b]) for row in kernels for a in range(8) for b in range(a)}
        every, first, second = tensors(), tensors("--pairwise", "1"), tensors("--pairwise", "2")
        self.assertNotEqual(first, second)
        for chosen in [first, second]:
            self.assertEqual(pairs(chosen), pairs(every))
            self.assertLess(len(chosen), 250)
        self.assertEqual(tensors("--pairwise", "1"), first)

    def test_light_shapes(self):
        """Fewer, and whole tiles are among them."""
        result = verify(KERNEL, "--light", "--json", FAKE_FAULT="code:")
        cases = json.loads(result.stdout)["failures"][0]["cases"]
        result = verify("*_f32_row_mn.relayout-*", "--light", FAKE_FAULT="scale:")
        self.assertIn("0 passed, 8 failed", lines_of(result)[-1])
        every = json.loads(verify(KERNEL, "--json", FAKE_FAULT="code:").stdout)
        self.assertLess(len(cases), len(every["failures"][0]["cases"]))
        self.check(verify(*SAMPLE, "--light", "--pairwise", "7", "-j", "2"), 0)

    def test_single_checks(self):
        kernel = "quantize_f32_e2m1_b32_floor_row_lin.any-64x128"
        result = self.check(verify("--check", "maxima,shapes", kernel), 0)
        self.assertEqual([line.split()[3:5] for line in lines_of(result)[1:3]],
                         [["shapes", "1"], ["maxima", "1"]])
        result = verify("--check", "maxima", kernel, FAKE_FAULT="code:")
        self.assertRegex(result.stdout, r"  repeat: mxq verify \S+ --device cuda:0 --check maxima\n")
        self.check(verify("--check", "maxim", kernel), 2, '"maxim"', "scales")
        self.check(verify("--check", "", kernel), 2, "shapes, scales")
        self.check(verify("--pairwise", "-1"), 2, "from 0 on")

    def test_other_schedules_and_archs(self):
        """A full name is enough; what the arch lacks is not selected, or skipped if it was named."""
        other = "quantize_bf16_e4m3_b32_rceil_colt_lin.tma-128x64"
        self.assertIn("1 passed", lines_of(self.check(verify(other), 0))[-1])
        result = self.check(verify(other, VARIANT, FAKE_CUDA="devices=80,80"), 0)
        self.assertIn("1 passed, 0 failed, 1 skipped", lines_of(result)[-1])
        self.assertIn("arch 80 has no tensor copy engine", result.stdout)

    def test_exhaustive(self):
        patterns = ["quantize_f16_e4m3_b32_even_colt_lin", "dequantize_e2m1_f16_b32_e8m0_sq_lin"]
        result = self.check(verify("--exhaustive", *patterns), 0)
        quantize, dequantize = (self.count_of(pattern) for pattern in patterns)
        for check in ["shapes", "maxima"]:
            self.assertRegex(result.stdout,
                             rf"\nquantize +f16 +e4m3 +{check} +{quantize} +0 +0 +0\n")
        self.assertRegex(result.stdout, rf"\ndequantize +e2m1 +f16 +codes +{dequantize} +0 +0 +0\n")
        self.assertIn("none to turn on", lines_of(result)[-2])

    def test_exhaustive_finds_a_fault(self):
        result = verify("--exhaustive", "quantize_f32_e2m1_b32_floor_row_lin.tma-*", "--json",
                        FAKE_FAULT="code:_tma_")
        report = json.loads(result.stdout)
        self.assertEqual(result.returncode, 4)
        failed = {row["check"]: row["failed"] for row in report["types"]}
        fast = self.count_of("quantize_f32_e2m1_b32_floor_row_lin.tma-*")
        self.assertEqual(failed, {"shapes": fast, "maxima": fast, "casts": 64 * fast})

    def test_conversions_that_are_not_turned_on(self):
        patterns = ["quantize_f16_e2m1_b16_even_row_lin", "dequantize_e2m1_f16_b32_e8m0_row_lin"]
        variables = {"FAKE_CUDA": "devices=100,100"}
        result = self.check(verify("--exhaustive", *patterns, **variables), 0)
        self.assertRegex(result.stdout,
                         r"\ndequantize +e2m1 +f16 +codes, hardware conversions +2 +0 +0 +0\n")
        # Shapes of all kernels, and codes of those that dequantize.
        checks = self.count_of(*patterns, **variables) + self.count_of(patterns[1], **variables)
        self.assertRegex(lines_of(result)[-2],
                         rf"passed {checks} checks; to turn them on, all must pass")
        result = verify("--exhaustive", *patterns, FAKE_FAULT="code:", **variables)
        self.assertEqual(result.returncode, 4)
        self.assertRegex(lines_of(result)[-2], rf"{checks} checks fail .*: use_narrow must stay 0$")

    def test_usage(self):
        self.check(verify("--device", "cpu"), 2, "compare it with itself")
        self.check(verify("--device", "tpu"), 2, "cuda:0")
        self.check(verify("-j", "0"), 2, "from 1 to")
        self.check(verify("quantize_bf16_e9m9*"), 2, "quantize_bf16_e9m9*")
        self.check(verify("*.tpu-*"), 2, "*.tpu-*")
        self.check(verify(VARIANT + ".any-1x1"), 2, "any-128x128")
        self.assertNotIn("worker", verify("--help").stdout)

    def test_something_is_missing(self):
        self.check(verify(VARIANT, "--device", "cuda:9"), 3, "2 devices")
        self.check(verify(VARIANT, FAKE_CUDA="devices=75,75"), 3, "7.5", "90a")
        empty = {"MXQ_CACHE_DIR": self.path("cache")}
        result = self.check(verify(VARIANT, MXQ_JIT="cache", **empty), 3, "every kernel was skipped")
        self.assertIn(f"skipped {self.count_of(VARIANT)}, MXQ_NOT_PREBUILT, such as: " + VARIANT, result.stdout)
        result = self.check(verify(VARIANT, MXQ_NVRTC="/nowhere", **empty), 3, "/nowhere")
        self.assertIn(f"0 passed, 0 failed, 0 skipped, {self.count_of(VARIANT)} not run", lines_of(result)[-1])
        self.check(verify(VARIANT, MXQ_JIT="sometimes"), 2, "sometimes")

    def test_an_interrupt(self):
        """Ctrl-C reaches the whole group of a terminal; what was done is printed."""
        process = subprocess.Popen([MXQ, "verify", "-j", "2"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        time.sleep(2)
        os.killpg(process.pid, signal.SIGINT)
        out, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, out + error)
        self.assertRegex(out.splitlines()[-1], r" 0 failed, 0 skipped, \d+ not run, .*interrupted$")


if not json.loads(run("info", "--json").stdout)["nvrtc"]["found"]:
    skip("no NVRTC")
main()
