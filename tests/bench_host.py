# SPDX-License-Identifier: MIT
"""mxq-bench --host with the fake driver and NVRTC: every row is there, and what does not depend on the
machine's speed is met. Called with the program, the fake driver's folder and the fake NVRTC."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

BENCH, FAKE_DRIVER, FAKE_NVRTC = sys.argv[1:4]
LAUNCHES = {"plan_create", "bare_launch", "launch", "launch_at"}
ROWS = {"first_use_floor", "first_use", "first_use_large", "cold_64_compiles", "cold_64_cpu",
        "context_creation", "memory_hit", "kernel_get", "disk_hit", "growth_of_lookups",
        "growth_of_compiles", "growth_of_process", "expand_all"}


def rows(*arguments, **variables):
    with tempfile.TemporaryDirectory() as folder:
        env = {"PATH": os.environ["PATH"], "TMPDIR": folder, "MXQ_NVRTC": FAKE_NVRTC, **variables}
        result = subprocess.run([BENCH, "--host", "--json", *arguments], env=env, timeout=500,
                                stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        assert os.listdir(folder) == [], "something is left behind"
    return {row["name"]: row for row in json.loads(result.stdout)["rows"]}


class Host(unittest.TestCase):
    # A sanitizer makes a minute of it, most of which is the library's: contexts, store and image have that.
    @unittest.skipIf(os.environ.get("MXQ_SANITIZED"), "a sanitizer makes it too long")
    def test_with_a_device(self):
        found = rows(LD_LIBRARY_PATH=FAKE_DRIVER, FAKE_NVRTC="milliseconds=5")
        self.assertEqual(set(found), ROWS | LAUNCHES)
        self.assertFalse([name for name, row in found.items() if "skipped" in row])
        for name in ["cold_64_compiles", "growth_of_lookups", "growth_of_compiles"]:
            self.assertTrue(found[name]["met"], found[name])
        self.assertEqual(found["cold_64_compiles"]["value"], 1)
        for name in ["first_use_floor", "first_use", "first_use_large"]:  # by the clock of those processes
            self.assertGreaterEqual(found[name]["value"], 5, "what the fake compiler takes")
            self.assertIn("the fastest", found[name]["note"])

    def test_without_anything(self):
        found = rows(MXQ_NVRTC="/no/nvrtc")
        for name in ["first_use", "memory_hit", "disk_hit", "growth_of_compiles", "launch"]:
            self.assertTrue(found[name]["skipped"], name)
        self.assertNotIn("skipped", found["context_creation"])


unittest.main(argv=sys.argv[:1], verbosity=2)
