# SPDX-License-Identifier: MIT
"""mxq cache and mxq prepare, and the cache's folders in homes of every kind. Called with the program,
the fake driver's folder and the fake NVRTC."""
import json
import os
import subprocess
import sys
import unittest

from cli_support import MXQ, Case, run

FAKE_DRIVER, FAKE_NVRTC = sys.argv[2:4]
NAME = "quantize_bf16_e4m3_b32_rceil_colt_lin"
KERNEL = NAME + ".tma-"


def environment(**changes):
    """Nothing of the caller's, but where things are found; NVRTC is the fake one."""
    kept = {key: os.environ[key] for key in ["PATH"] if key in os.environ}
    kept.update({"MXQ_NVRTC": FAKE_NVRTC}, **changes)
    return {key: value for key, value in kept.items() if value is not None}


class Cache(Case):
    def setUp(self):
        super().setUp()
        self.cache = self.path("cache")
        self.env = environment(MXQ_CACHE_DIR=self.cache)
        with open(self.path("file"), "w", encoding="utf-8"):
            self.impossible = self.path("file/cache")

    def mxq(self, *arguments, env=None):
        return run(*arguments, env=self.env if env is None else env)

    def entries(self):
        return sorted(name for name in os.listdir(self.cache) if name.endswith(".mxq"))

    def manifest(self, text, name="manifest"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def test_path(self):
        env = dict(self.env, MXQ_CACHE_DIR=f"{self.cache}:{self.impossible}")
        result = self.check(self.mxq("cache", "path", env=env), 0, self.impossible)
        self.assertEqual(result.stdout, f"{self.cache}\n{self.impossible}\n")
        rows = json.loads(self.mxq("cache", "path", "--json", env=env).stdout)
        self.assertEqual([row["path"] for row in rows], [self.cache, self.impossible])
        self.assertEqual([row["written"] for row in rows], [True, False])
        self.assertEqual(rows[0]["from"], "MXQ_CACHE_DIR")

    def test_prepare_list_verify_clear(self):
        text = self.manifest(f"# two\n{NAME}\n{NAME.replace('e4m3', 'e5m2')}\n")
        archs = ["--arch", "90a,100a"]
        result = self.check(self.mxq("prepare", text, *archs, "--json"), 0)
        made = json.loads(result.stdout)
        self.assertEqual(made["variants"], 2)
        self.assertEqual(made["cached"], 0)
        self.assertEqual(made["compiled"], len(self.entries()))
        again = json.loads(self.mxq("prepare", text, *archs, "--json").stdout)
        self.assertEqual((again["compiled"], again["cached"]), (0, made["compiled"]))
        listed = json.loads(self.check(self.mxq("cache", "list", "--json"), 0).stdout)
        self.assertEqual(listed["entries"], made["compiled"])
        self.assertEqual({row["arch"] for row in listed["files"]}, {"90a", "100a"})
        self.assertTrue(all(row["current"] and row["nvrtc"] == "13.0" for row in listed["files"]))
        self.assertTrue(any(row["kernel"].startswith(KERNEL) for row in listed["files"]))
        self.assertIn(KERNEL, self.mxq("cache", "list").stdout)
        self.check(self.mxq("cache", "verify"), 0)
        broken = os.path.join(self.cache, self.entries()[0])
        with open(broken, "r+b") as file:
            file.seek(900)
            file.write(b"x!")
        rows = json.loads(self.check(self.mxq("cache", "list", "--json"), 0).stdout)
        self.assertEqual(rows["damaged"], 1)
        self.assertEqual([row["file"] for row in rows["files"] if not row["current"]],
                         [os.path.basename(broken)])
        result = self.mxq("cache", "verify")
        self.assertEqual(result.returncode, 4)
        self.assertIn(os.path.basename(broken), result.stdout)
        self.assertEqual(json.loads(self.mxq("cache", "verify", "--json").stdout)["damaged"], 1)
        healed = self.check(self.mxq("prepare", text, *archs, "--json"), 0)
        self.assertEqual(json.loads(healed.stdout)["compiled"], 1)
        self.assertEqual(healed.stderr.count("wrong checksum"), 1, healed.stderr)
        self.check(self.mxq("cache", "verify"), 0)
        self.check(self.mxq("cache", "clear"), 0)
        self.assertEqual(self.entries(), [])
        self.assertTrue(any(name.startswith("lock-") for name in os.listdir(self.cache)))

    def test_trouble_is_told_once(self):
        """With the reason, and the folder's name once a line."""
        env = dict(self.env, MXQ_CACHE_DIR=self.path("file"))
        for arguments in [["compile", NAME], ["cache", "path"]]:
            result = self.check(self.mxq(*arguments, env=env), 0)
            self.assertEqual(result.stderr.count("Not a directory"), 1, result.stderr)
            self.assertEqual(result.stderr.count(self.path("file")), 1, result.stderr)
        text = self.mxq("info", env=env).stdout
        self.assertIn(f"{self.path('file')} (Not a directory; from MXQ_CACHE_DIR)", text)
        quiet = self.mxq("compile", NAME, env=dict(env, MXQ_LOG="none"))
        self.assertEqual(quiet.stderr, "")

    def test_a_record_that_cannot_be_written(self):
        env = dict(self.env, MXQ_RECORD=self.path("no/folder"), LD_LIBRARY_PATH=FAKE_DRIVER)
        text = self.mxq("info", env=env).stdout
        self.assertIn("MXQ_RECORD: No such file or directory", text)
        self.assertIn("variants are not recorded", text)
        good = dict(env, MXQ_RECORD=self.path("used"))
        self.assertNotIn("not recorded", self.mxq("info", env=good).stdout)
        self.assertFalse(os.path.exists(self.path("used")))

    def test_all_wrong_variables_are_told(self):
        """Each by its own text, and the rest as if they were not set."""
        env = dict(self.env, MXQ_JIT="bad", MXQ_LOG="loud", MXQ_CACHE_SIZE="-3")
        found = json.loads(self.check(self.mxq("info", "--json", env=env), 0).stdout)
        for piece in ['MXQ_JIT is "bad"', 'MXQ_LOG is "loud"', 'MXQ_CACHE_SIZE is "-3"']:
            self.assertIn(piece, found["settings_error"])
        self.assertEqual(found["variables"]["MXQ_JIT"], "bad")
        self.assertTrue(found["nvrtc"]["found"])
        self.assertEqual([row["path"] for row in found["cache"]], [self.cache])

    def test_a_folder_that_is_not_there(self):
        for action in ["list", "verify", "clear"]:
            self.check(self.mxq("cache", action), 0)
        self.assertFalse(os.path.exists(self.cache))

    def test_clear_leaves_other_folders_alone(self):
        self.check(self.mxq("compile", NAME), 0)
        both = dict(self.env, MXQ_CACHE_DIR=f"{self.path('mine')}:{self.cache}")
        self.check(self.mxq("cache", "clear", env=both), 0)
        self.assertEqual(len(self.entries()), 1)
        self.check(self.mxq("cache", "clear"), 0)
        self.assertEqual(self.entries(), [])

    def test_json_manifests_bring_their_archs(self):
        text = self.manifest(json.dumps({"mxq_manifest": 1, "archs": ["100a"], "include": [NAME]}))
        self.check(self.mxq("prepare", text), 0)
        listed = json.loads(self.mxq("cache", "list", "--json").stdout)
        self.assertEqual({row["arch"] for row in listed["files"]}, {"100a"})

    def test_prepare_in_copies(self):
        """Above 8 at a time copies of the program fill the cache with the same entries."""
        text = self.manifest("quantize_bf16_e4m3_b32_*_lin\n")
        archs = ["--arch", "90a,100a", "--json"]
        one = json.loads(self.check(self.mxq("prepare", text, *archs, "-j", "1"), 0).stdout)
        alone = self.entries()
        self.check(self.mxq("cache", "clear"), 0)
        several = json.loads(self.check(self.mxq("prepare", text, *archs, "-j", "20"), 0).stdout)
        self.assertEqual(several, one)
        self.assertEqual(self.entries(), alone)
        again = json.loads(self.mxq("prepare", text, *archs, "-j", "512").stdout)
        self.assertEqual((again["compiled"], again["variants"]), (0, one["variants"]))
        with open(text, encoding="utf-8") as file:
            piped = subprocess.run([MXQ, "prepare", "/dev/stdin", *archs, "-j", "20"], stdin=file,
                                   capture_output=True, text=True, env=self.env, check=False)
        self.assertEqual(json.loads(piped.stdout), again, piped.stderr)
        result = self.check(self.mxq("prepare", text, *archs, "-j", "20", env=environment(
            MXQ_CACHE_DIR=self.path("other"), MXQ_NVRTC="/no/nvrtc")), 3, "/no/nvrtc")
        self.assertEqual(result.stderr.count("could not be prepared"), 1, result.stderr)
        self.check(self.mxq("prepare", text, *archs, "-j", "0"), 2, "from 1 to")

    def test_prepare_refuses(self):
        self.check(self.mxq("prepare", self.manifest("quantize_nothing\n")), 2, "manifest:1: ")
        self.check(self.mxq("prepare", self.path("none")), 1, "none")
        text = self.manifest(NAME)
        self.check(self.mxq("prepare", text, "--arch", "12x"), 2, "12x")
        self.check(self.mxq("prepare", text), 3, "libcuda.so.1")  # which arch?
        self.check(self.mxq("prepare", text, "--arch", "90a", env=environment(
            MXQ_CACHE_DIR=self.cache, MXQ_NVRTC="/no/nvrtc")), 3, "/no/nvrtc")
        self.check(self.mxq("prepare", text, "--arch", "90a",
                            env=environment(MXQ_CACHE_DIR=self.impossible)), 1, "could not be kept")
        self.check(self.mxq("cache", "lst"), 2, "did you mean list?")

    def test_prepare_for_the_device_at_hand(self):
        env = dict(self.env, LD_LIBRARY_PATH=FAKE_DRIVER, FAKE_CUDA="devices=100")
        self.check(self.mxq("prepare", self.manifest(NAME), env=env), 0)
        listed = json.loads(self.mxq("cache", "list", "--json").stdout)
        self.assertEqual({row["arch"] for row in listed["files"]}, {"100a"})

    def test_modes(self):
        def compile_in(mode, code, *pieces):
            return self.check(self.mxq("compile", NAME, env=dict(self.env, MXQ_JIT=mode)), code,
                              *pieces)
        compile_in("cache", 3, "MXQ_JIT=cache", f"manifest line to add: {NAME}")
        compile_in("on", 0)
        self.assertIn(" disk ", compile_in("cache", 0).stdout)
        compile_in("off", 3, "MXQ_JIT=off", f"manifest line to add: {NAME}")
        compile_in("yes", 2, "on, cache, off")

    # ---- Homes ----

    def origin(self, **variables):
        """Where a compile says that its kernel came from."""
        result = self.check(run("compile", NAME, "--json", env=environment(**variables)), 0)
        return json.loads(result.stdout)[0]["origin"]

    def test_homes(self):
        for folder in ["plain", "with some spaces", "Caf\u00e9 \u4e2d\u6587"]:
            home = self.path(folder)
            os.mkdir(home)
            self.assertEqual(self.origin(HOME=home), "compiled")
            self.assertEqual(self.origin(HOME=home), "disk")
            made = os.path.join(home, ".cache", "mxq")
            self.assertEqual(os.stat(made).st_mode & 0o777, 0o700)
            self.assertEqual(self.origin(HOME=home, XDG_CACHE_HOME=self.path("xdg-" + folder)),
                             "compiled")
            self.assertTrue(os.path.isdir(os.path.join(self.path("xdg-" + folder), "mxq")))

    def test_homes_that_cannot_be_written(self):
        for home in ["/proc", self.impossible, "/dev/null", "relative/home", ""]:
            for _ in range(2):
                self.assertIn(self.origin(HOME=home), ["compiled", "disk"])

    def test_somebody_elses_home(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give a folder away")
        home = self.path("theirs")
        os.mkdir(home)
        os.chown(home, 12345, 12345)
        self.origin(HOME=home)
        self.assertEqual(os.listdir(home), [])
        # A folder of theirs in a home of ours is not believed, nor written.
        ours = self.path("ours")
        os.makedirs(os.path.join(ours, ".cache/mxq"))
        os.chown(os.path.join(ours, ".cache/mxq"), 12345, 12345)
        self.assertEqual(self.origin(HOME=ours), "compiled")
        self.assertEqual(self.origin(HOME=ours), "compiled")
        self.assertEqual(os.listdir(os.path.join(ours, ".cache/mxq")), [])

    def test_no_home_at_all(self):
        self.assertIn(self.origin(), ["compiled", "disk"])  # the password entry's, or memory

    def test_a_folder_that_everybody_may_write(self):
        os.mkdir(self.cache)
        os.chmod(self.cache, 0o777)
        self.assertEqual(self.origin(MXQ_CACHE_DIR=self.cache), "compiled")
        self.assertEqual(os.listdir(self.cache), [])

    def test_info_with_fakes(self):
        """Nothing, a compiler alone, a driver alone."""
        def missing(**variables):
            found = json.loads(run("info", "--json", env=environment(**variables)).stdout)
            return " ".join(found["missing"])
        none = missing(MXQ_NVRTC="/no/nvrtc", MXQ_CACHE_DIR=self.cache)
        self.assertTrue("no NVRTC" in none and "no driver" in none, none)
        compiler = missing(MXQ_CACHE_DIR=self.cache)
        self.assertTrue("no NVRTC" not in compiler and "no driver" in compiler, compiler)
        driver = missing(MXQ_CACHE_DIR=self.cache, LD_LIBRARY_PATH=FAKE_DRIVER)
        self.assertEqual(driver, "")
        device = missing(MXQ_CACHE_DIR=self.cache, LD_LIBRARY_PATH=FAKE_DRIVER, FAKE_CUDA="devices=")
        self.assertIn("no device", device)
        cache = missing(MXQ_CACHE_DIR=self.impossible, LD_LIBRARY_PATH=FAKE_DRIVER)
        self.assertIn("no cache folder", cache)


unittest.main(argv=sys.argv[:1], verbosity=2)
